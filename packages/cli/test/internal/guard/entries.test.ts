/** What settings say about when they call the guard. */
import { named } from "@belay/hook-files/Wires"
import { assert, describe, it } from "vitest"
import { wiredEvents } from "../../../src/internal/guard/entries.ts"

const command = "belay guard run --system claude --event PreToolUse || exit 2"
const entries = (...matchers: ReadonlyArray<unknown>) => {
  const PreToolUse = matchers.map((matcher) => ({ matcher, hooks: [{ type: "command", command }] }))
  return [...wiredEvents(named("claude")!, JSON.stringify({ hooks: { PreToolUse } })).entries()]
}

describe("an entry of the guard in settings", () => {
  it.each(["", "*", ".*", undefined, 1])("with the matcher %j is called at every call", (matcher) => {
    assert.deepStrictEqual(entries(matcher), [["PreToolUse", { line: command }]])
  })

  it("with another matcher leaves out calls, unless one beside it is called at every call", () => {
    assert.deepStrictEqual(entries("Bash"), [["PreToolUse", { line: command, matcher: "Bash" }]])
    assert.deepStrictEqual(entries("Bash", "*"), [["PreToolUse", { line: command }]])
    assert.deepStrictEqual(entries("*", "Bash"), [["PreToolUse", { line: command }]])
  })
})
