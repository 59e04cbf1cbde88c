/** Questions of Gemini CLI hooks beside changes of others. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { call } from "../../../../../test/support/events.ts"
import { answer } from "../claude/support.ts"
import { group, specific, world } from "./support.ts"

const bash = (command: string) => call("bash", { command })

describe("Gemini", () => {
  it.effect("refuses a call that one hook asks about and another changes, and asks otherwise", () =>
    Effect.gen(function*() {
      const { at } = world({ BeforeTool: [group(["asks", "changes"], { matcher: "write_file" }), group(["asks"])] }, {
        asks: answer({ decision: "ask", reason: "sure?" }),
        changes: specific({ tool_input: { content: "two" } })
      })
      const refused = yield* at("preToolCall", call("write_file", { path: "a.ts", contents: "x" }))
      assert.deepInclude(refused, {
        _tag: "Reject",
        reason: "one hook asks for approval of write_file and another changes its input, which is not possible together"
      })
      assert.deepInclude(yield* at("preToolCall", bash("ls")), { _tag: "Ask", reason: "sure?" })
    }))

  it.effect("says of a question which kind of tool it is about", () =>
    Effect.gen(function*() {
      const { at, told } = world({ Notification: [group(["note"])] })
      for (const name of ["bash", "edit", "write", "mcp__git__log", "read"]) {
        const tool = { name, description: "", inputSchema: {} }
        const decision = { type: "ask", reason: "r" } as const
        yield* at("onPermission", { call: { id: "c1", name, args: {} }, tool, reason: "r", decision })
      }
      assert.deepEqual(told.map(({ input }) => Object(input["details"]).type), ["exec", "edit", "edit", "mcp", "info"])
    }))
})
