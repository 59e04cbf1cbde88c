/** Answers that do not count: the developer reads why. */
import type { Dialect } from "@belay/hook-files/Discovery"
import { assert, describe, it } from "@effect/vitest"
import { calls } from "../../../../test/support/agent.ts"
import { type Files, start } from "../support/publicFiles.ts"

const gemini = (event: string, command: string): Files => ({
  ".gemini/settings.json": { hooks: { [event]: [{ hooks: [{ type: "command", command }] }] } }
})
const copilot = (event: string, bash: string): Files => ({
  ".github/hooks/a.json": { version: 1, hooks: { [event]: [{ bash }] } }
})
const coat = (command: string): Files => ({ "hooks.json": { version: 1, hooks: { PreToolUse: [{ command }] } } })
const kodelet = (type: string, body: string): Files => ({
  ".kodelet/hooks/guard": `#!/bin/bash\nif [ "$1" = hook ]; then echo ${type}; exit; fi\n${body}\n`
})
const deny = `'{"permissionDecision":"deny","permissionDecisionReason":"no"}'`
const lost = /\): its output is not a JSON object, so it is not read as an answer$/

const cases: ReadonlyArray<readonly [what: string, dialect: Dialect, files: Files, warning: RegExp]> = [
  ["logs before it", "copilot", copilot("preToolUse", `echo checking; echo ${deny}`), lost],
  ["another one after it", "copilot", copilot("preToolUse", `echo ${deny}; echo ${deny}`), lost],
  ["a list around it", "copilot", copilot("preToolUse", `echo "[$(echo ${deny})]"`), lost],
  ["logs before it, over several lines", "copilot", copilot("preToolUse", `echo checking; echo ${deny} | jq .`), lost],
  ["python's quotes", "copilot", copilot("preToolUse", `python3 -c 'print({"permissionDecision": "deny"})'`), lost],
  [
    "words of another event",
    "copilot",
    copilot("userPromptSubmitted", `echo '{"decision":"block","reason":"x"}'`),
    /decision does not count at userPromptSubmitted/
  ],
  [
    "what counts in Pascal case",
    "copilot",
    copilot("preToolUse", `echo '{"continue":false}'`),
    /continue does not count at preToolUse/
  ],
  [
    "the wrong place",
    "copilot",
    copilot("preToolUse", `echo '{"updatedInput":{"command":"x"}}'`),
    /updatedInput does not count at preToolUse, hookSpecificOutput\.updatedInput does/
  ],
  ["logs before it", "gemini", gemini("BeforeTool", `echo checking; echo '{"decision":"deny"}'`), lost],
  ["another one after it", "gemini", gemini("BeforeTool", `echo '{}'; echo '{"decision":"deny"}'`), lost],
  [
    "its place on standard error, beside a log",
    "gemini",
    gemini("BeforeTool", `echo log; echo '{"decision":"deny"}' >&2`),
    lost
  ],
  [
    "words of another system",
    "gemini",
    gemini("BeforeTool", `echo '{"hookSpecificOutput":{"permissionDecision":"deny"}}'`),
    /permissionDecision does not count at BeforeTool/
  ],
  [
    "the wrong place",
    "gemini",
    gemini("BeforeAgent", `echo '{"additionalContext":"x"}'`),
    /additionalContext does not count at BeforeAgent, hookSpecificOutput\.additionalContext does/
  ],
  [
    "nothing to deny",
    "gemini",
    gemini("SessionStart", `echo '{"decision":"deny"}'`),
    /decision does not count at SessionStart/
  ],
  [
    "nothing to deny, by its code",
    "gemini",
    gemini("SessionStart", "echo no >&2; exit 2"),
    /SessionStart cannot be denied/
  ],
  [
    "nothing to stop",
    "gemini",
    gemini("BeforeToolSelection", `echo '{"continue":false}'`),
    /continue does not count at BeforeToolSelection/
  ],
  [
    "logs before it",
    "kodelet",
    kodelet("before_tool_call", `echo log; echo '{"blocked":true}'`),
    /wrote output that is not JSON/
  ],
  [
    "words of another system",
    "kodelet",
    kodelet("before_tool_call", `echo '{"decision":"deny"}'`),
    /decision does not count at before_tool_call/
  ],
  [
    "words of another type",
    "kodelet",
    kodelet("after_tool_call", `echo '{"blocked":true,"reason":"x"}'`),
    /blocked does not count at after_tool_call/
  ],
  [
    "words of another system",
    "basecoat",
    coat(`echo '{"decision":"block","reason":"x"}'`),
    /decision does not count at hooks of Base Coat/
  ]
]

describe("an answer that does not count", () => {
  it.each(cases)("for %s is a warning (%s)", async (_what, dialect, files, warning) => {
    const { agent: made, did, heard } = start(dialect, files, [calls(["bash", { command: "ls" }])])
    await using agent = made
    assert.strictEqual((await agent.run("go")).status, "completed")
    assert.lengthOf(did, 1)
    assert.isNotEmpty(heard.warnings)
    for (const said of heard.warnings) assert.match(said, warning)
  })

  const fine: ReadonlyArray<readonly [Dialect, Files]> = [
    ["copilot", copilot("preToolUse", "echo looking at it")],
    ["copilot", copilot("preToolUse", "tee -a log")],
    ["copilot", copilot("postToolUse", `echo '{"decision":"allow","continue":true}'`)],
    ["gemini", gemini("BeforeModel", "tee -a log")],
    ["gemini", gemini("SessionEnd", `echo '{"decision":"allow"}'`)],
    ["gemini", gemini("BeforeTool", `echo '{"action":"looked"}'`)],
    ["kodelet", kodelet("after_turn", "tee -a log")],
    ["kodelet", kodelet("after_tool_call", `echo '{"blocked":false}'`)]
  ]
  it("is none where nothing was meant", async () => {
    for (const [dialect, files] of fine) {
      const { agent: made, heard } = start(dialect, files, [calls(["bash", { command: "ls" }])])
      await using agent = made
      await agent.run("go")
      await agent[Symbol.asyncDispose]()
      assert.deepEqual(heard.warnings, [], JSON.stringify(files))
    }
  })
})
