/** What is wrong with the answers of a script. */
import type { Dialect } from "@belay/hook-files/Discovery"
import { assert, describe, expect, it } from "vitest"
import { answers, answersJson } from "../../../src/internal/lint/answers.ts"
import { collected, item, shown } from "../../support/lintItem.ts"

/** An event, code, and the findings by level and rule, and what they say. */
type Row = readonly [event: `${Dialect} ${string}`, code: string, found: string]

const all = collected()

const check = (rows: ReadonlyArray<Row>, language = "bash", ofProject = false): void => {
  for (const [at, code, found] of rows) {
    it(`of ${at} with ${JSON.stringify(code)}: ${found || "nothing"}`, () => {
      const [dialect, event] = at.split(" ") as [Dialect, string]
      const said = shown(all.add(answers(item(dialect, event, { ofProject }), "x", code, language)))
      assert.strictEqual(said.map((one) => one.split(" | ")[0]).join("; "), found)
    })
  }
}

const one = "exit-one: x exits with 1 and never with 2"
const always = "error stop-loop: x continues the agent every time"
const never = "warning stop-loop: x never reads stop_hook_active"
const silent = "exit-silent: x exits with 2 and writes nothing to standard error"
const blocks = "echo '{\"decision\":\"block\"}'"

describe("a guard that exits with 1", () => {
  check([
    ["claude PreToolUse", "exit 1", `warning ${one}`],
    ["claude PreToolUse", "echo blocked; exit 1", `error ${one}`],
    ["codex PreToolUse", "exit 1", `warning ${one}`],
    ["gemini BeforeTool", "exit 1", `warning ${one}`],
    ["cursor preToolUse", "process.exitCode = 1", `warning ${one}`],
    ["windsurf pre_run_command", "raise SystemExit(1)", `warning ${one}`],
    ["factory PreToolUse", "os._exit( 1 )", `warning ${one}`],
    ["claude UserPromptSubmit", "return 1", `warning ${one}`],
    ["claude Stop", "exit 1", `warning ${one}`],
    ["claude SubagentStop", "exit 1", `warning ${one}`],
    ["claude PostToolUse", "exit 1", ""],
    ["copilot preToolUse", "exit 1", ""],
    ["kodelet before_tool_call", "exit 1", ""],
    ["claude PreToolUse", "exit 10", ""],
    ["claude PreToolUse", "exit 1; exit 2 >&2", ""],
    ["claude PreToolUse", "exit 1; exit $code", ""],
    ["claude PreToolUse", "sys.exit(1); sys.exit(code)", ""],
    ["claude PreToolUse", "exit 1; echo hookSpecificOutput", ""]
  ])
})

describe("a script that keeps the agent going", () => {
  check([
    ["claude Stop", "echo x >&2; exit 2", always],
    ["claude Stop", "if x; then echo x >&2; exit 2; fi", never],
    ["claude Stop", "if $stop_hook_active; then exit 0; fi; echo x >&2; exit 2", ""],
    ["claude SubagentStop", "echo x >&2; exit 2", always],
    ["codex Stop", blocks, always],
    ["claude Stop", "test x && echo '{\"continue\":true}'", never],
    ["claude Stop", "exit 0", ""],
    ["claude PreToolUse", "echo x >&2; exit 2", ""],
    ["copilot agentStop", blocks, always],
    ["copilot agentStop", `if x; then ${blocks}; fi`, ""],
    ["copilot agentStop", "exit 2", ""],
    ["gemini AfterAgent", "exit 2", always],
    ["gemini AfterAgent", blocks, always],
    ["gemini AfterAgent", "if x; then exit 2; fi", ""],
    ["cursor stop", "exit 2", always],
    ["factory Stop", "exit 2", always],
    ["kodelet agent_stop", "echo '{\"decision\":\"block\"}'; exit 2", always]
  ])
})

describe("a script that exits with 2", () => {
  check([
    ["claude PreToolUse", "exit 2", `hint ${silent}`],
    ["codex PreToolUse", "exit 2", `error ${silent}`],
    ["claude PreToolUse", "exit 2 # stderr", ""],
    ["claude PreToolUse", "exit 2 # permissionDecision", ""],
    ["claude SessionEnd", "exit 2", ""],
    ["gemini BeforeTool", "exit 2", ""],
    ["claude Stop", "exit 2", `${always}; hint ${silent}`],
    ["kodelet agent_stop", "exit 2", `${always}; warning exit-ignored: x ends with 2`],
    ["kodelet before_tool_call", "exit 2", "warning exit-ignored: x ends with 2"],
    ["basecoat PreToolUse", "exit 2 # denied", "error exit-ignored: x ends with 2"],
    ["basecoat PreToolUse", "echo usage; exit 2", ""],
    ["basecoat PreToolUse", "exit 2 # \"action\"", ""],
    [
      "kodelet before_tool_call",
      "echo '{\"blocked\": true}'; exit 1",
      "error exit-ignored: x blocks with JSON and exits with a code other than 0"
    ],
    [
      "basecoat PreToolUse",
      "echo '{\"action\": \"block\"}'\nsys.exit(3)",
      "error exit-ignored: x blocks with JSON and exits with a code other than 0"
    ],
    ["basecoat PreToolUse", "echo '{\"action\": \"block\"}'\nexit 0", ""],
    ["copilot preToolUse", "echo '{\"blocked\": true}'; exit 1", ""]
  ])
})

describe("an answer that has no effect", () => {
  const event = (name: string) => `echo '{"hookEventName": "${name}"}'`
  check([
    ["claude PreToolUse", event("PostToolUse"), "error answer-event: x answers PostToolUse, at PreToolUse"],
    ["codex PreToolUse", event("PostToolUse"), "error answer-event: x answers PostToolUse, at PreToolUse"],
    ["claude PreToolUse", event("PreToolUse"), ""],
    ["claude PreToolUse", `${event("PostToolUse")}; ${event("PreToolUse")}`, ""],
    ["gemini BeforeTool", event("PostToolUse"), ""],
    ["codex PreToolUse", "{\"permissionDecision\": \"ask\"}", "error answer-unsupported: x answers \"ask\""],
    ["codex PreToolUse", "{\\\"permissionDecision\\\": \\\"defer\\\"}", "error answer-unsupported: x answers \"ask\""],
    ["claude PreToolUse", "{\"permissionDecision\": \"ask\"}", ""],
    ["codex PreToolUse", "{\"permissionDecision\": \"deny\"}", ""],
    ["copilot userPromptSubmitted", "{\"decision\": \"block\"}", "error answer-unsupported: x blocks a prompt"],
    ["copilot userPromptSubmitted", "{\"decision\": \"none\"}", ""],
    ["copilot preToolUse", "{\"decision\": \"block\"}", ""],
    ["gemini BeforeAgent", "{\"decision\": \"block\"}", ""],
    [
      "gemini BeforeTool",
      "{\"permissionDecision\": \"deny\"}",
      "error answer-unsupported: x answers permissionDecision"
    ],
    ["gemini BeforeTool", "{\"permissionDecision\": \"deny\", \"decision\": \"deny\"}", ""],
    ["gemini BeforeTool", "{\"decision\": \"deny\"}", ""],
    ["claude PreToolUse", "{\"permissionDecision\": \"deny\"}", ""]
  ])

  it("is listed where it comes in the order of the rules", () => {
    const code = `echo text\n${event("Stop")}\necho '{"permissionDecision": "ask", "behavior": "allow"}'\nexit 1`
    const found = answers(item("codex", "PreToolUse", { ofProject: true }), "x", code, "sh")
    assert.deepEqual(found.map(({ rule }) => rule), [
      "answer-event",
      "answer-unsupported",
      "allow-project",
      "answer-text"
    ])
  })

  it("names what to write instead", () => {
    const fix = (dialect: Dialect, name: string, code: string) =>
      shown(answers(item(dialect, name), "x", code, "other")).map((one) => one.split(" | ")[1])
    assert.deepEqual(fix("claude", "PreToolUse", event("Stop")), ["Write \"hookEventName\": \"PreToolUse\"."])
  })
})

describe("an answer of a project that allows", () => {
  const found = "hint allow-project: x answers allow in a file of the project"
  check(
    [
      ["claude PreToolUse", "{\"permissionDecision\": \"allow\"}", found],
      ["codex PreToolUse", "{\"decision\": \"approve\"}", found],
      ["claude PermissionRequest", "{\"behavior\": \"allow\"}", found],
      ["copilot permissionRequest", "{\"behavior\": \"allow\"}", found],
      ["claude PostToolUse", "{\"behavior\": \"allow\"}", ""],
      ["copilot preToolUse", "{\"permissionDecision\": \"allow\"}", ""],
      ["claude PreToolUse", "{\"permissionDecision\": \"allow\", \"updatedInput\": {}}", ""],
      ["claude PreToolUse", "{\"permissionDecision\": \"deny\"}", ""]
    ],
    "bash",
    true
  )
  check([["claude PreToolUse", "{\"permissionDecision\": \"allow\"}", ""]])
})

describe("an answer after other text", () => {
  const shell = `echo ${"a".repeat(70)}; echo '{}'`
  const found = `error answer-text: x writes text before its JSON: echo ${"a".repeat(55)}`
  const python = "print('one')\nprint(json.dumps({}))"
  for (const language of ["bash", "sh"]) check([["gemini BeforeTool", shell, found]], language)
  check([["gemini BeforeTool", python, "error answer-text: x writes text before its JSON: print('one')"]], "python")
  check([["gemini BeforeTool", shell, ""]], "python")
  check([["gemini BeforeTool", shell, ""], ["gemini BeforeTool", python, ""]], "node")
})

describe("a script", () => {
  it("seems to answer with JSON if it writes a field of an answer", () => {
    for (
      const code of [
        "permissionDecision",
        "\"permission\": 1",
        "\"decision\": 1",
        "'continue': 1",
        "hookSpecificOutput",
        "\"blocked\"",
        "\"action\""
      ]
    ) assert.isTrue(answersJson(code), code)
    assert.isFalse(answersJson("continue; blocked; action"))
  })
})

describe("a finding about an answer", () => {
  it("says exactly this", async () => {
    await expect(all.text()).toMatchFileSnapshot("../../support/printed/lint-answers.txt")
  })
})
