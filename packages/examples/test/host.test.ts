import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { parse } from "yaml"
import { type PostgresServer, startPostgres } from "../../../test/support/postgres.ts"
import { program, runProgram } from "./run.ts"

const belay = fileURLToPath(new URL("../../cli/src/bin/belay.ts", import.meta.url))

describe("the example of a host", () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server.dispose())

  it("a killed runner is replaced by the other one in the middle of a turn, and the client sees all of it", async () => {
    const env = { ...process.env, DATABASE_URL: server.url, VISIT_MS: "1000", NO_COLOR: "1" }
    const start = (...args: ReadonlyArray<string>) => {
      const child = spawn(process.execPath, ["--conditions=@belay/source", ...args], { env })
      const started = { child, stdout: "", said: "", ended: once(child, "close") }
      child.stdout.setEncoding("utf8").on("data", (text: string) => started.stdout += text)
      child.stderr.setEncoding("utf8").on("data", (text: string) => started.said += text)
      return started
    }
    const runners = [1, 2].map(() => start(belay, "host", program("host/belay.config.ts"), "--every", "1"))
    const args = ["ada", "Paris, Rome, Oslo, Lima", "trip"]
    const client = start(program("host/client.ts"), ...args)
    const traveller = () => runners.find(({ said }) => said.includes("visits Rome"))
    while (traveller() === undefined || !client.stdout.includes("Paris")) {
      await new Promise((resolve) => void setTimeout(resolve, 10))
    }
    const killed = traveller()!
    killed.child.kill("SIGKILL")
    assert.deepStrictEqual(await client.ended, [0, null], client.said)
    const { stdout } = client
    const lines = stdout.trim().split("\n")
    assert.deepStrictEqual(lines.filter((line) => /^Paris is|^Rome is|^Oslo is|^Lima is/.test(line)), [
      "Paris is beautiful",
      "Rome is beautiful",
      "Oslo is beautiful",
      "Lima is beautiful"
    ])
    assert.include(lines, "another process continues")
    assert.deepStrictEqual([lines[0], lines.at(-1)], ["added trip", "completed"])
    assert.include(stdout, "I have seen Paris, Rome, Oslo, Lima.")

    const again = await runProgram("host/client.ts", { args, env })
    assert.match(again.stdout, /^known trip\n[^]*completed\n$/)
    const other = runners.find((one) => one !== killed)!
    assert.notInclude(other.said, "visits Paris")
    other.child.kill("SIGTERM")
    assert.deepStrictEqual(await other.ended, [0, null], other.said)
    assert.match(other.said, /belay: stopped: everything is handed over\n$/)
  })

  it("its compose file is well formed, pins its images, and names programs that are there", () => {
    const file = program("host/compose.yaml")
    const { services } = parse(readFileSync(file, "utf8"), { merge: true }) as {
      readonly services: {
        readonly [name: string]: { readonly image: string; readonly command?: ReadonlyArray<string> }
      }
    }
    assert.deepStrictEqual(Object.keys(services), ["database", "install", "runner", "client"])
    for (const { command = [], image } of Object.values(services)) {
      assert.match(image, /^[a-z]+:\d+\.\d+[\w.-]*$/)
      for (const path of command.filter((word) => word.startsWith("packages/"))) {
        assert.isTrue(existsSync(fileURLToPath(new URL(`../../../${path}`, import.meta.url))), path)
      }
    }
    assert.deepStrictEqual(services["runner"]?.command?.slice(0, 3), ["npx", "belay", "host"])
  })
})
