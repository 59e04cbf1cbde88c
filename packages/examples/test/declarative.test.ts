import { assert, describe, it } from "vitest"
import { atEndpoint } from "./run.ts"

const run = atEndpoint()

describe("the examples of hook files", () => {
  it("hook-files: a settings file guards an agent after it is trusted", async () => {
    assert.deepStrictEqual(await run("hook-files/hook-files.ts", {}, { asProcess: true }), [
      "trusting PreToolUse: echo 'pushing is for people' >&2; exit 2",
      "ran npm test",
      "pushing is for people"
    ])
  })

  it("base-coat-mcp: an mcp.json starts its own servers, and its hooks call their tools", async () => {
    assert.deepStrictEqual(await run("hook-files/base-coat-mcp.ts", {}, { asProcess: true }), [
      "trusting SessionStart: memory.load",
      "The tests need port 5433."
    ])
  })
})
