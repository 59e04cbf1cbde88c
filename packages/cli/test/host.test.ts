/** `belay host` as a process: it runs sessions, and hands them over when it is asked to end. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "vitest"
import { run, runHere } from "./belay.ts"

const main = fileURLToPath(new URL("../src/bin/belay.ts", import.meta.url))
const config = fileURLToPath(new URL("./support/host.config.ts", import.meta.url))
const node = ["--conditions=@belay/source", main]

/** A store, and runners and commands on it. */
const place = () => {
  const folder = mkdtempSync(join(tmpdir(), "belay-cli-host-"))
  const env = { BELAY_TEST_STORE: join(folder, "store.db"), BELAY_TEST_LOG: join(folder, "log") }
  const log = () => existsSync(env.BELAY_TEST_LOG) ? readFileSync(env.BELAY_TEST_LOG, "utf8").trim().split("\n") : []
  const sessions = (...args: ReadonlyArray<string>) =>
    run(process.execPath, [...node, "sessions", ...args, "--config", config], "", env)
  const start = (...args: ReadonlyArray<string>) => {
    const child = spawn(process.execPath, [...node, "host", config, ...args], { env: { ...process.env, ...env } })
    let [stdout, stderr] = ["", ""]
    child.stdout.on("data", (data) => void (stdout += String(data)))
    child.stderr.on("data", (data) => void (stderr += String(data)))
    const ended = once(child, "close") as Promise<[number | null, string | null]>
    return { child, ended, stdout: () => stdout, stderr: () => stderr }
  }
  /** Ends the tools that wait for it. */
  const tell = () => writeFileSync(`${env.BELAY_TEST_LOG}.told`, "")
  return { log, sessions, start, tell }
}

const until = async (fact: () => boolean): Promise<void> => {
  while (!fact()) await new Promise((resolve) => void setTimeout(resolve, 10))
}

describe("belay host", () => {
  it("hands a turn over on SIGTERM after its running tool has ended, and another runner finishes it", async () => {
    const { log, sessions, start, tell } = place()
    const one = start("--json")
    const sent = await sessions("send", "s", "work told", "--key", "m")
    assert.deepStrictEqual([sent.code, sent.stdout], [0, "m\n"])
    await until(() => log().includes("work begins"))
    one.child.kill("SIGTERM")
    await until(() => one.stdout().includes("draining"))
    tell()
    assert.deepStrictEqual(await one.ended, [0, null], one.stderr())
    assert.deepStrictEqual(log(), ["work begins", "work ends"])
    const facts = one.stdout().trim().split("\n").map((line) => JSON.parse(line))
    assert.deepStrictEqual(facts[0], { type: "started" })
    assert.deepInclude(facts.at(-2), { type: "draining", running: 1, withinMs: 20_000 })
    assert.deepStrictEqual(facts.at(-1), { type: "stopped", inTime: true })

    const two = start()
    const outcome = await sessions("send", "s", "work told", "--key", "m", "--wait", "--json")
    assert.deepInclude(JSON.parse(outcome.stdout).outcome, { status: "completed", text: "finished: work told" })
    assert.deepStrictEqual(log(), ["work begins", "work ends"])
    two.child.kill("SIGINT")
    assert.deepStrictEqual(await two.ended, [0, null])
    assert.match(two.stderr(), /^belay: started\n/)
    assert.match(two.stderr(), /belay: stopped: everything is handed over\n$/)
  })

  it("serves its health and its metrics to this machine", async () => {
    const { sessions, start } = place()
    const one = start("--json", "--health", "0")
    await until(() => one.stdout().includes("\"started\""))
    const { port } = JSON.parse(one.stdout().split("\n")[0]!)
    await sessions("send", "s", "hello", "--key", "m", "--wait")
    const read = async (path: string) => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`)
      return [response.status, await response.text()] as const
    }
    assert.deepStrictEqual(await read("/healthz"), [200, "ok\n"])
    assert.deepStrictEqual(await read("/readyz"), [200, "ready\n"])
    assert.match((await read("/metrics"))[1], /^belay_outcomes_total\{status="completed"\} 1$/m)
    const other = await sessions("list", "--health", "1")
    assert.strictEqual(other.code, 2)
    one.child.kill("SIGTERM")
    assert.deepStrictEqual(await one.ended, [0, null], one.stderr())
  })

  it("interrupts a model call that takes longer than its deadline, and ends", async () => {
    const { log, sessions, start } = place()
    const one = start("--drain", "0")
    await sessions("send", "s", "slow 60000", "--key", "m")
    await until(() => log().includes("model begins"))
    const begun = performance.now()
    one.child.kill("SIGTERM")
    assert.deepStrictEqual(await one.ended, [0, null], one.stderr())
    assert.isBelow(performance.now() - begun, 5_000)
    const shown = await sessions("show", "s", "--json")
    assert.deepInclude(JSON.parse(shown.stdout).open[0], { key: "m", status: "begun" })
  })

  it("ends at once with the second signal", async () => {
    const { log, sessions, start } = place()
    const one = start()
    await sessions("send", "s", "slow 60000")
    await until(() => log().includes("model begins"))
    one.child.kill("SIGTERM")
    await until(() => one.stderr().includes("stopping"))
    await new Promise((resolve) => void setTimeout(resolve, 300))
    one.child.kill("SIGTERM")
    assert.deepStrictEqual(await one.ended, [143, null])
  })

  it("says in one line what is wrong with a config file", async () => {
    for (
      const [args, message] of [
        [["no-such-file.ts"], /belay: there is no file no-such-file\.ts\n/],
        [[main.replace("belay.ts", "../internal/usage.ts")], /has no default export that can be served/],
        [[config, "--every", "0"], /--every at least 1/],
        [[config, "--unknown"], /unknown/i]
      ] as const
    ) {
      const { code, stderr } = await runHere(["host", ...args])
      assert.strictEqual(code, 2, stderr)
      assert.match(stderr, message)
    }
    const nothing = await runHere(["host"])
    assert.match(nothing.stderr, /there is no belay\.config\.ts here: name a module whose default export is a host/)
  })
})
