/** Hooks of Codex as people publish them: each script with the decision that Codex takes. */
import { assert, describe, it } from "@effect/vitest"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { calls } from "../../../../../test/support/agent.ts"
import { type Call, command, decide, work } from "../../support/publicAgent.ts"

const specific = (fields: object, event = "PreToolUse") =>
  JSON.stringify({ hookSpecificOutput: { hookEventName: event, ...fields } })

interface Case {
  readonly what: string
  readonly line: string
  readonly files?: { readonly [path: string]: string }
  readonly matcher?: string
  readonly call?: Call
  readonly decision: "ran" | { readonly [argument: string]: unknown } | RegExp
  readonly warning?: RegExp
}

const cases: ReadonlyArray<Case> = [
  {
    what: "a python guard in the project's folder",
    line:
      "/usr/bin/env python3 \"$(git rev-parse --show-toplevel 2>/dev/null || pwd)/.codex/hooks/pre_tool_use_policy.py\"",
    files: {
      ".codex/hooks/pre_tool_use_policy.py": `import json, sys
payload = json.load(sys.stdin)
assert payload["turn_id"] and payload["hook_event_name"] == "PreToolUse" and "model" in payload
command = payload.get("tool_input", {}).get("command", "")
if "rm -rf" in command:
    json.dump({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny",
        "permissionDecisionReason": "Destructive command blocked by hook."}}, sys.stdout)
`
    },
    call: ["run_command", { cmd: "rm -rf build" }],
    matcher: "Bash",
    decision: /^Destructive command blocked by hook\.$/
  },
  { what: "exit 2 with a reason", line: "cat >/dev/null; echo 'Use rg' >&2; exit 2", decision: /^Use rg$/ },
  { what: "exit 2 without one", line: "exit 2", decision: "ran", warning: /no reason/ },
  {
    what: "exit 2 with the reason on standard output",
    line: "echo 'Use rg'; exit 2",
    decision: "ran",
    warning: /no reason/
  },
  { what: "exit 1 with a message", line: "echo oops >&2; exit 1", decision: "ran", warning: /ended with 1/ },
  { what: "a program that is not there", line: "no-such-program-anywhere", decision: "ran", warning: /127/ },
  { what: "a path with a space, unquoted", line: "$PWD/.codex/hooks/x.sh", decision: "ran", warning: /127/ },
  {
    what: "JSON of two keys that old scripts say",
    line: `echo '{"decision":"block","reason":"frozen"}'`,
    decision: /^frozen$/
  },
  { what: "approve", line: `echo '{"decision":"approve"}'`, decision: "ran", warning: /not supported/ },
  {
    what: "a rewrite",
    line:
      `jq -c '{hookSpecificOutput: {hookEventName: "PreToolUse", permissionDecision: "allow", updatedInput: {command: ("timeout 60 " + .tool_input.command)}}}'`,
    decision: { command: "timeout 60 ls" }
  },
  { what: "context", line: `echo '${specific({ additionalContext: "Use tabs." })}'`, decision: "ran" },
  { what: "a message for the user", line: `echo '{"systemMessage":"looked"}'`, decision: "ran" },
  { what: "text", line: "echo all fine", decision: "ran" },
  {
    what: "pretty-printed JSON",
    line: `jq . <<< '${specific({ permissionDecision: "deny", permissionDecisionReason: "no" })}'`,
    decision: /^no$/
  },
  {
    what: "JSON with a key that Codex has not",
    line: `echo '{"version":1,"decision":"block","reason":"no"}'`,
    decision: "ran",
    warning: /unknown key "version"/
  },
  {
    what: "exit 2 after a lot of output",
    line: "head -c 3000000 /dev/zero | tr '\\0' x; echo 'too long' >&2; exit 2",
    decision: /^too long$/
  },
  {
    what: "a name of a tool in lower case",
    line: "echo no >&2; exit 2",
    matcher: "bash",
    decision: "ran"
  },
  {
    what: "apply_patch takes what writes",
    line: "echo 'no patches' >&2; exit 2",
    matcher: "^apply_patch$",
    call: ["write_file", { path: "x", content: "" }],
    decision: /^no patches$/
  },
  {
    what: "Edit takes patches",
    line: "echo 'no edits' >&2; exit 2",
    matcher: "Edit|Write",
    call: ["apply_patch", { input: "*** Begin Patch" }],
    decision: /^no edits$/
  }
]

const ls: Call = ["Bash", { command: "ls" }]

describe("guards of Codex", () => {
  for (const { call = ls, files = {}, decision, line, matcher, warning, what } of cases) {
    it(what, async () => {
      const found = await decide({
        dialect: "codex",
        hooks: [command(line)],
        files,
        call,
        ...(matcher === undefined ? {} : { matcher })
      })
      if (decision instanceof RegExp) {
        assert.strictEqual(found.is, "blocked", JSON.stringify(found.warnings))
        assert.match("reason" in found ? found.reason : "", decision)
      } else assert.deepEqual(found.is === "ran" ? found.args : found, decision === "ran" ? call[1] : decision as never)
      if (warning === undefined) assert.deepEqual(found.warnings, [])
      else assert.match(found.warnings.join("\n"), warning)
    })
  }
})

describe("events of Codex", () => {
  const on = (line: string, matcher?: string) => ({
    ...(matcher === undefined ? {} : { matcher }),
    hooks: [command(line, { timeout: 20 })]
  })

  it("load context, refuse prompts, review results and keep the agent going", async () => {
    const { cwd, heard, requests, results } = await work({
      dialect: "codex",
      settings: {
        hooks: {
          SessionStart: [on("python3 .codex/hooks/session_start.py", "startup|resume")],
          UserPromptSubmit: [
            on(
              `python3 -c "import json,sys; p=json.load(sys.stdin)['prompt']; 'sk-' in p and print(json.dumps({'decision':'block','reason':'Looks like a key'}))"`
            ),
            on("echo 'Branch: topic'")
          ],
          PostToolUse: [
            on(
              `jq -c 'select(.tool_response | tostring | test("FAILED")) | {decision: "block", reason: "Tests fail: read the output", hookSpecificOutput: {hookEventName: "PostToolUse", additionalContext: "pytest said so"}}'`,
              "Bash"
            )
          ],
          Stop: [
            on(
              `jq -c 'if .stop_hook_active then {continue: true} else {decision: "block", reason: "Run one more pass."} end'`
            ),
            on("echo 'plain text'")
          ]
        }
      },
      files: {
        ".codex/hooks/session_start.py": `import json, sys
d = json.load(sys.stdin)
print(json.dumps({"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "Source: " + d["source"]}}))
`
      },
      answers: { Bash: "1 FAILED" },
      lines: [calls(["Bash", { command: "pytest" }]), { text: "done" }, { text: "really" }],
      prompts: ["use sk-123", "go"]
    })
    assert.include(JSON.stringify(results[0]), "Looks like a key")
    assert.include(heard(0), "Source: startup")
    assert.include(heard(0), "Branch: topic")
    assert.include(heard(1), "Tests fail: read the output")
    assert.include(heard(1), "pytest said so")
    assert.include(heard(2), "Run one more pass.")
    assert.lengthOf(requests, 3)
    assert.isFalse(existsSync(join(cwd, "never")))
  })

  it("answer permissions; what is reserved never allows", async () => {
    const ask = async (decision: object, more: object = {}) => {
      const { ran, results } = await work({
        dialect: "codex",
        settings: {
          hooks: {
            PermissionRequest: [
              on(
                `cat > asked; echo '${
                  JSON.stringify({ ...more, hookSpecificOutput: { hookEventName: "PermissionRequest", decision } })
                }'`,
                "Bash"
              )
            ]
          }
        },
        policy: { check: () => ({ type: "ask", reason: "may it?", grant: { sandbox: "none" } }) },
        lines: [calls(["Bash", { command: "ls" }])]
      })
      return ran.length > 0 ? "ran" : (results[0] as { readonly status: string }).status
    }
    assert.strictEqual(await ask({ behavior: "allow" }), "ran")
    assert.strictEqual(await ask({ behavior: "deny", message: "no" }), "completed")
    assert.strictEqual(await ask({ behavior: "allow", updatedInput: { command: "pwd" } }), "suspended")
    assert.strictEqual(await ask({ behavior: "allow", updatedPermissions: [] }), "suspended")
    assert.strictEqual(await ask({ behavior: "allow", extra: 1 }), "suspended")
    assert.strictEqual(await ask({ behavior: "deny", message: "no", interrupt: true }), "suspended")
    assert.strictEqual(await ask({ behavior: "allow" }, { continue: false }), "suspended")
  })

  it("run what config.toml says, beside hooks.json", async () => {
    const { cwd, ran } = await work({
      dialect: "codex",
      settings: { hooks: { PostToolUse: [on("jq -r .tool_name >> \"$(pwd)/json.log\"")] } },
      files: {
        ".codex/config.toml": `model = "gpt-5"

[features]
codex_hooks = true

[[hooks.PreToolUse]]
matcher = "^Bash$"

[[hooks.PreToolUse.hooks]]
type = "command"
command = 'jq -r .tool_input.command >> toml.log'
timeout = 30
statusMessage = "Checking"
`
      },
      lines: [calls(["Bash", { command: "ls" }]), calls(["Read", { file_path: "x" }])]
    })
    assert.lengthOf(ran, 2)
    assert.strictEqual(readFileSync(join(cwd, "toml.log"), "utf8"), "ls\n")
    assert.strictEqual(readFileSync(join(cwd, "json.log"), "utf8"), "Bash\nRead\n")
  })
})
