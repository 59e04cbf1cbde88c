import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "vitest"
import { callAtOnce, killAmongMany, killCalls } from "./support/crowd.ts"
import { call, projectWith } from "./support/guarded.ts"

describe("one session", () => {
  it("counts 100 calls that come at the same time, each once", async () => {
    await callAtOnce(100)
  })

  it("goes on after 60 calls that were killed at any moment", async () => {
    await killCalls(60)
  })

  it("goes on after 30 calls that were killed among others that run at the same time", async () => {
    await killAmongMany(30)
  }, 180_000)

  it("refuses if another program locks the file, before the system's limit", async () => {
    const { home, send } = projectWith("export default []")
    await send("claude", "PreToolUse", call("1", "Bash", {}))
    mkdirSync(join(home, ".belay", "guard"), { recursive: true })
    const other = new DatabaseSync(join(home, ".belay", "guard", "sessions.db"))
    other.exec("BEGIN EXCLUSIVE")
    try {
      const { code, stderr } = await send("claude", "PreToolUse", call("2", "Bash", {}))
      assert.strictEqual(code, 2)
      assert.match(stderr, /another process held the database for too long/)
    } finally {
      other.close()
    }
  })
})
