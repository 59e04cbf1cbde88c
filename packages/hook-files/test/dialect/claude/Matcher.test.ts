import * as Matcher from "@belay/hook-files/Matcher"
import { assert, describe, it } from "@effect/vitest"

describe("Matcher", () => {
  const rows: ReadonlyArray<readonly [matcher: string | undefined, value: string, hit: boolean]> = [
    ["Bash", "Bash", true],
    ["Bash", "BashOutput", false],
    ["Edit|Write", "Write", true],
    ["Edit, Write", "Write", true],
    ["Edit, Write", "Edit", true],
    ["Edit|Write", "NotebookEdit", false],
    ["Edit.*", "NotebookEdit", true],
    ["^Edit$", "NotebookEdit", false],
    ["^Edit$", "Edit", true],
    ["mcp__memory", "mcp__memory__create", false],
    ["mcp__memory__.*", "mcp__memory__create", true],
    ["mcp__.*__write.*", "mcp__files__write_file", true],
    ["code-reviewer", "senior-code-reviewer", false],
    ["code-reviewer", "code-reviewer", true],
    ["[", "Bash", false],
    [undefined, "Bash", true],
    ["", "Bash", true],
    ["*", "Bash", true],
    ["bash", "Bash", false],
    ["__proto__", "constructor", false],
    ["constructor", "constructor", true]
  ]
  for (const [matcher, value, hit] of rows) {
    it(`${matcher ?? "nothing"} ${hit ? "matches" : "does not match"} ${value}`, () =>
      assert.strictEqual(Matcher.compile(matcher, "PreToolUse").test(value), hit))
  }

  it("warns of a text that is not a pattern, and of a matcher that matches more than it says", () => {
    assert.match(Matcher.compile("[", "PreToolUse").warning!, /matches nothing/)
    const ahead = Matcher.compile("(?!Read)", "PreToolUse")
    assert.match(ahead.warning!, /not a pattern that RE2 can read.*matches everything/)
    const inCodex = Matcher.compile("^(?!Edit)", "PreToolUse", "codex")
    assert.isFalse(inCodex.test("Bash"))
    assert.match(inCodex.warning!, /matches nothing/)
    assert.isTrue(ahead.test("Bash"))
    assert.isTrue(ahead.test("Read"))
    assert.isUndefined(Matcher.compile("Edit.*", "PreToolUse").warning)
  })

  const ahead: ReadonlyArray<string> = [
    "^(?!Bash)",
    "^(?!Bash$)",
    "^(?!(?:Read|Grep)$).*$",
    "^(?!Read)(?!Gl|Gr).+",
    "^(?=.*Edit)[^M]",
    "^(?![)(]|\\)|Read)",
    "^(?!.*__)"
  ]
  for (const pattern of ahead) {
    it(`reads ${pattern} as JavaScript does`, () => {
      const { test, warning } = Matcher.compile(pattern, "PreToolUse")
      assert.isUndefined(warning)
      for (const name of ["Bash", "BashOutput", "Read", "Grep", "Glob", "Edit", "MultiEdit", "mcp__a__b", "(", ""]) {
        assert.strictEqual(test(name), new RegExp(pattern).test(name), name)
      }
    })
  }

  it("reads no lookahead that is optional, or in a long pattern", () => {
    for (const pattern of ["^(?!Bash)?Read", `^${"(?!a)".repeat(1_000)}`]) {
      assert.match(Matcher.compile(pattern, "PreToolUse").warning!, /matches everything/)
    }
    assert.match(Matcher.compile("^(?!Bash", "PreToolUse").warning!, /matches nothing/)
  })

  it("ignores the matcher of an event that has none", () => {
    for (const event of ["Stop", "UserPromptSubmit", "PostToolBatch"] as const) {
      assert.isTrue(Matcher.compile("Bash", event).test(""), event)
    }
  })

  it("takes fewer characters for names at StopFailure, and literal names at FileChanged", () => {
    assert.isTrue(Matcher.compile("rate_limit|overloaded", "StopFailure").test("overloaded"))
    assert.isFalse(Matcher.compile("rate_limit|overloaded", "StopFailure").test("not_overloaded"))
    // Here the hyphen makes a pattern of it.
    assert.isTrue(Matcher.compile("rate-limit", "StopFailure").test("the-rate-limit"))
    assert.isTrue(Matcher.compile(".env|.env.local", "FileChanged").test("/p/a/.env"))
    assert.isFalse(Matcher.compile(".env|.env.local", "FileChanged").test("/p/a/xenv"))
  })

  it("searches a hostile pattern in linear time", () => {
    assert.isFalse(Matcher.compile("^(a+)+$", "PreToolUse").test(`${"a".repeat(50_000)}b`))
  })
})
