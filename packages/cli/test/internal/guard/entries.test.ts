/** What settings say about when they call the guard. */
import { all, named } from "@belay/hook-files/Wires"
import * as Result from "effect/Result"
import { assert, describe, it } from "vitest"
import { wiredEvents, withEntries, withoutEntries } from "../../../src/internal/guard/entries.ts"

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

describe("uninstall", () => {
  const claude = named("claude")!
  const removed = (before: string): string | undefined =>
    Result.getOrThrow(withoutEntries(claude, "f", Result.getOrThrow(withEntries(claude, "f", before, "belay"))))

  it.each([
    "{\n  \"hooks\": { \"PreToolUse\": [{ \"hooks\": [] }], \"Other\": [] },\n  \"model\": \"x\"\n}\n",
    "{\"hooks\":{\"Other\":[]}}",
    "{\n  // mine\n  \"model\": \"x\" // and this\n}\n"
  ])("gives back what others have written: %j", (before) => assert.strictEqual(removed(before), before))

  it.each([
    "{\n  // nothing yet\n}\n",
    "{ \"hooks\": { /* none */ } }",
    "{ \"hooks\": { \"PreToolUse\": [ /* none */ ] } }",
    "// of the team\n{}\n"
  ])("keeps comments of a file in which nothing else is left: %j", (before) => {
    const [comment] = /\/\/.*|\/\*.*\*\//.exec(before)!
    assert.include(removed(before) ?? "", comment)
  })
})

describe("settings with a key twice", () => {
  it.each(all.map((wire) => [wire.system, wire] as const))("are not changed: %s", (_, wire) => {
    const event = Object.keys(wire.events)[0]!
    for (const text of ["{\"hooks\":{},\"hooks\":{}}", `{"hooks":{"${event}":[],"${event}":[]}}`]) {
      assert.isTrue(Result.isFailure(withEntries(wire, "f", text, "belay")))
    }
  })
})
