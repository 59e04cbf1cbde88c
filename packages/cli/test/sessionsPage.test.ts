/** `belay sessions page`, as a process. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "vitest"
import { runHere } from "./belay.ts"

const config = fileURLToPath(new URL("./support/host.config.ts", import.meta.url))
const program = fileURLToPath(new URL("../src/bin/belay.ts", import.meta.url))

describe("belay sessions page", () => {
  it("serves the page on this machine, for who has the token that it prints, until it is stopped", async () => {
    const folder = mkdtempSync(join(tmpdir(), "belay-page-"))
    const args = ["--conditions=@belay/source", program, "sessions", "page", "--config", config]
    const child = spawn(process.execPath, args, {
      env: { ...process.env, BELAY_TEST_STORE: join(folder, "store.db") },
      stdio: ["ignore", "pipe", "inherit"]
    })
    try {
      const [printed] = await once(child.stdout, "data")
      const [, origin = "", token = ""] = /^page +(http:\/\/127\.0\.0\.1:\d+)\/#token=(\S+)\n$/.exec(String(printed))!
      assert.include(await (await fetch(origin)).text(), "<title>Sessions</title>")
      assert.strictEqual((await fetch(`${origin}/api/sessions`)).status, 401)
      const found = await fetch(`${origin}/api/sessions`, { headers: { authorization: `Bearer ${token}` } })
      assert.deepStrictEqual(await found.json(), { sessions: [] })
      child.kill("SIGTERM")
      assert.deepStrictEqual(await once(child, "exit"), [0, null])
    } finally {
      child.kill("SIGKILL")
    }
  })

  it("refuses a port that is none", async () => {
    const { code, stderr } = await runHere(["sessions", "page", "--port", "70000", "--config", config])
    assert.deepStrictEqual([code, stderr], [2, "belay: --port is a number from 0 to 65535\n"])
  })
})
