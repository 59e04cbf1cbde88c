/** Which script a command starts, what its exit codes do, and which fields it cannot read. */
import type { Dialect } from "@belay/hook-files/Discovery"
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterAll, assert, describe, expect, it } from "vitest"
import { blocksByTwo, breaking, missing } from "../../../src/internal/lint/ends.ts"
import { fields } from "../../../src/internal/lint/fields.ts"
import { isProgram, languageOf, scriptOf, wordsOf } from "../../../src/internal/lint/scripts.ts"
import { collected, type Facts, item } from "../../support/lintItem.ts"

const root = realpathSync(mkdtempSync(join(tmpdir(), "belay-cli-lint-")))
afterAll(() => rmSync(root, { recursive: true, force: true }))
const put = (path: string, text: string, mode = 0o644): string => {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
  chmodSync(join(root, path), mode)
  return join(root, path)
}
put("project/x.sh", "text", 0o755)
put("project/tools/y.py", "text")
put("home/z.sh", "text")
const where = { cwd: join(root, "project"), home: join(root, "home") }

describe("the words of a command", () => {
  it.each<readonly [string, ReadonlyArray<string>]>([
    ["a b 'c d' \"e f\"", ["a", "b", "c d", "e f"]],
    ["a\"b c\"d\\ e", ["ab cd\\ e"]],
    ["a \"b\\\"c d\" e", ["a", "b\\c d", "e"]],
    ["a; b", ["a"]],
    ["a | b", ["a"]],
    ["a\nb", ["a"]],
    ["> a", []],
    ["", []]
  ])("%j are %j", (line, words) => assert.deepEqual(wordsOf(line), words))
})

describe("a command", () => {
  const script = (command: string, more: object = {}, facts: Facts = {}) => {
    const found = scriptOf(
      item("claude", "PreToolUse", { work: { type: "command", command, ...more }, ...facts }),
      where
    )
    return found === undefined ? "" : `${found.by ?? "itself"} ${found.path.replace(`${root}/`, "")}`
  }

  it.each<readonly [string, string]>([
    ["./x.sh a", "itself project/x.sh"],
    ["A=1 B=2 ./x.sh", "itself project/x.sh"],
    ["bash x.sh", "bash project/x.sh"],
    ["/bin/zsh -x x.sh", "zsh project/x.sh"],
    ["python3.12 tools/y.py", "python3.12 project/tools/y.py"],
    ["node x.js", "node project/x.js"],
    ["\"$CLAUDE_PROJECT_DIR\"/x.sh", "itself project/x.sh"],
    ["${GEMINI_PROJECT_DIR}/x.sh", "itself project/x.sh"],
    ["$GEMINI_CWD/x.sh", "itself project/x.sh"],
    ["$PWD/x.sh", "itself project/x.sh"],
    ["~/z.sh", "itself home/z.sh"],
    ["${HOME}/z.sh", "itself home/z.sh"],
    ["/a/b", "itself /a/b"],
    ["x.sh", ""],
    ["bash", ""],
    ["bash -c ./x.sh", ""],
    ["node -e 'x/y'", ""],
    ["python -m x", ""],
    ["node --eval x/y", ""],
    ["$DIR/x.sh", ""],
    ["tools/*.sh", ""],
    ["", ""]
  ])("%s starts %s", (command, expected) => assert.strictEqual(script(command), expected))

  it("can have arguments of its own, and a folder", () => {
    assert.strictEqual(script("bash", { args: ["-x", "a b.sh"] }), "bash project/a b.sh")
    assert.strictEqual(script("A=1", { args: ["x"] }), "")
    assert.strictEqual(script("./y.py", {}, { cwd: "tools" }), "itself project/tools/y.py")
    assert.strictEqual(script("$CLAUDE_PROJECT_DIR/x.sh", {}, { cwd: "tools" }), "itself project/x.sh")
    assert.strictEqual(script("$PWD/y.py", {}, { cwd: "tools" }), "itself project/tools/y.py")
    assert.isUndefined(scriptOf(item("claude", "PreToolUse", { work: { type: "prompt", prompt: "./x.sh" } }), where))
  })

  it("knows whether its script exists, can be executed, and what it says", () => {
    const of = (command: string) => {
      const { executable, exists, text } = scriptOf(
        item("claude", "PreToolUse", { work: { type: "command", command } }),
        where
      )!
      return [exists, executable, text]
    }
    assert.deepEqual(of("./x.sh"), [true, true, "text"])
    assert.deepEqual(of("./tools/y.py"), [true, false, "text"])
    assert.deepEqual(of("./none"), [false, false, ""])
    assert.deepEqual(of("./tools"), [false, false, ""])
  })

  it("finds programs in the folders of PATH", () => {
    assert.isTrue(isProgram("x.sh", `/nowhere:${where.cwd}`))
    assert.isFalse(isProgram("y.py", join(where.cwd, "tools")), "it has no execute bit")
    assert.isFalse(isProgram("tools", where.cwd))
    assert.isFalse(isProgram("x.sh", "/nowhere"))
  })
})

describe("the language of a script", () => {
  it.each<readonly [by: string | undefined, path: string, text: string, language: string]>([
    ["bash", "x.py", "", "bash"],
    ["zsh", "x", "", "bash"],
    ["ksh", "x", "", "bash"],
    ["sh", "x", "", "sh"],
    ["dash", "x", "", "sh"],
    ["python3", "x", "", "python"],
    ["node", "x", "", "node"],
    ["bun", "x", "", "node"],
    ["deno", "x", "", "node"],
    ["tsx", "x", "", "node"],
    ["ruby", "x", "", "other"],
    [undefined, "x.py", "#!/bin/sh\n", "sh"],
    [undefined, "x", "#! /usr/bin/env python3\n", "python"],
    [undefined, "x", "#!/usr/bin/env -S node --test\n", "node"],
    [undefined, "a/x.sh", "", "bash"],
    [undefined, "a/x.bash", "", "bash"],
    [undefined, "a/x", "", "bash"],
    [undefined, "a/x.py", "", "other"],
    [undefined, "a/x.sh", "#!/usr/bin/perl\n", "other"]
  ])("started by %s, named %s, with %j, is %s", (by, path, text, language) => {
    assert.strictEqual(languageOf({ by, path, text, exists: true, executable: true }), language)
  })
})

describe("an exit code", () => {
  it("of a missing script depends on what starts it", () => {
    const by = [undefined, "bash", "zsh", "ksh", "sh", "dash", "python3", "perl", "node", "ruby"]
    assert.deepEqual(by.map(missing), [127, 127, 127, 127, 2, 2, 2, 2, 1, 1])
  })

  it("2 blocks in some systems at some events", () => {
    const is = (dialect: Dialect, name: string) => blocksByTwo(item(dialect, name))
    for (
      const [dialect, name] of [["claude", "PreToolUse"], ["codex", "PreToolUse"], ["cursor", "preToolUse"]] as const
    ) {
      assert.isTrue(is(dialect, name))
    }
    for (const name of ["pre_run_command", "pre_user_prompt"]) assert.isTrue(is("windsurf", name))
    for (const name of ["UserPromptSubmit", "PreCompact", "PostToolBatch", "TaskCreated", "SubagentStop"]) {
      assert.isTrue(is("claude", name), name)
    }
    for (const name of ["PostToolUse", "SessionEnd", "SessionStart"]) assert.isFalse(is("claude", name), name)
    assert.isFalse(is("cursor", "sessionStart"))
    assert.isFalse(is("factory", "PreCompact"))
    assert.isTrue(is("factory", "PreToolUse"))
    assert.isFalse(is("gemini", "BeforeTool"))
    assert.isFalse(is("copilot", "preToolUse"))
    assert.isFalse(is("claude", "NoSuchEvent"))
  })

  it.each<readonly [`${Dialect} ${string}`, number, Facts, string]>([
    ["claude PreToolUse", 2, {}, "which blocks: the call is refused, each time"],
    ["claude PreToolUse", 127, {}, "which blocks nothing"],
    ["claude PostToolUse", 2, {}, "which blocks nothing"],
    ["copilot preToolUse", 127, {}, "which blocks every call that it matches"],
    ["copilot postToolUse", 127, {}, "which is only a warning"],
    ["gemini BeforeTool", 2, {}, "which denies every call that it matches"],
    ["gemini BeforeAgent", 127, {}, "which denies everything that it matches"],
    ["gemini BeforeTool", 1, {}, "which is only a warning"],
    ["gemini SessionStart", 2, {}, "which is only a warning"],
    ["cursor preToolUse", 2, {}, "which blocks everything that it matches"],
    ["cursor preToolUse", 127, {}, "which blocks nothing"],
    ["cursor preToolUse", 127, { raw: { failClosed: true } }, "which blocks everything that it matches"],
    ["kodelet before_tool_call", 127, {}, "which blocks nothing"],
    ["basecoat PreToolUse", 2, {}, "which is a warning and blocks nothing"]
  ])("of %s: %i with %j, %s", (at, code, facts, effect) => {
    const [dialect, name] = at.split(" ") as [Dialect, string]
    assert.strictEqual(breaking(item(dialect, name, facts), code), `the entry exits with ${code}, ${effect}`)
  })

  it("of an executable that does not print its type means that it is left out", () => {
    assert.include(breaking(item("kodelet", "before_tool_call", { isProgram: true }), 127), "it is left out")
  })
})

describe("a field that a script reads", () => {
  const findings = collected()
  it.each<readonly [event: string, as: string, code: string, found: string | undefined]>([
    ["preToolUse", "preToolUse", ".toolArgs.command", "x reads a field of toolArgs"],
    ["preToolUse", "preToolUse", ".toolArgs | fromjson | .command", undefined],
    ["preToolUse", "preToolUse", ".toolArgs.length", undefined],
    ["preToolUse", "preToolUse", ".tool_input.command", "x reads tool_input, which preToolUse does not have"],
    ["preToolUse", "preToolUse", "$tool_input", undefined],
    ["preToolUse", "preToolUse", "my_tool_input", undefined],
    ["preToolUse", "preToolUse", "tool_input toolArgs", undefined],
    ["preToolUse", "PreToolUse", ".toolArgs.command", "x reads toolArgs, which PreToolUse does not have"],
    ["preToolUse", "PreToolUse", ".tool_input.command", undefined],
    ["postToolUse", "postToolUse", ".tool_input", "x reads tool_input, which postToolUse does not have"],
    [
      "postToolUseFailure",
      "postToolUseFailure",
      ".tool_input",
      "x reads tool_input, which postToolUseFailure does not have"
    ],
    [
      "permissionRequest",
      "permissionRequest",
      ".tool_input",
      "x reads tool_input, which permissionRequest does not have"
    ],
    ["sessionStart", "sessionStart", ".tool_input", undefined],
    ["noSuchEvent", "noSuchEvent", ".tool_input", undefined]
  ])("at %s, written %s: %s", (event, as, code, found) => {
    const all = findings.add(fields(item("copilot", event, { event: as }), "x", code))
    assert.deepEqual(
      all.map(({ level, rule, what }) => [level, rule, what]),
      found === undefined ? [] : [
        ["error", "input-field", found]
      ]
    )
  })

  it("is reported with exactly these words", async () => {
    await expect(findings.text()).toMatchFileSnapshot("../../support/printed/lint-fields.txt")
  })

  it("is only a matter of GitHub Copilot", () => {
    assert.deepEqual(fields(item("claude", "PreToolUse"), "x", ".toolArgs.command"), [])
  })
})
