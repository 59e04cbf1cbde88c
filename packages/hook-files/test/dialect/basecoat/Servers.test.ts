import * as HookFiles from "@belay/hook-files/HookFiles"
import { assert, describe, it } from "@effect/vitest"
import { join } from "node:path"
import { folder, write } from "../../support/processes.ts"

describe("the servers of an mcp.json", () => {
  // rows: B-20
  it("are part of what a person trusts, if the file has hooks", () => {
    const root = folder()
    const cwd = join(root, "p")
    const load = (command: string, hooks: object = { SessionStart: [{ tool: "memory.load" }] }) => {
      write(join(cwd, "mcp.json"), JSON.stringify({ mcpServers: { memory: { command } }, hooks }))
      const places = { cwd, home: join(root, "home"), managed: join(root, "managed"), trust: join(root, "trust") }
      return HookFiles.load({ ...places, sources: ["basecoat"], transcripts: false })
    }
    load("good").untrusted[0]!.trust()
    assert.lengthOf(load("good").hooks, 1)
    const changed = load("evil")
    assert.lengthOf(changed.untrusted, 1)
    assert.deepEqual(changed.hooks, [])
    assert.deepEqual(load("any", {}).untrusted, [])
  })
})
