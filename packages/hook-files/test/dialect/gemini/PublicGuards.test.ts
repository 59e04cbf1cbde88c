/**
 * Guards of Gemini CLI as projects have them, loaded from disk, with what Gemini CLI would have made of each answer.
 */
import { assert, describe, it } from "@effect/vitest"
import { type Files, judge, type Step } from "../../support/publicFiles.ts"

const sh = (command: string) => ["bash", { command }] as const
const put = (path: string, content = "x") => ["write_file", { path, content }] as const
const command = (line: string, more: object = {}) => ({ type: "command", command: line, ...more })
const group = (...lines: ReadonlyArray<string | object>) => ({
  hooks: lines.map((one) => typeof one === "string" ? command(one) : one)
})
const settings = (hooks: object, more: object = {}): Files => ({
  ".gemini/settings.json": { theme: "Dark", ...more, hooks }
})
const json = (value: object) => `echo '${JSON.stringify(value)}'`
const specific = (event: string, fields: object) => json({ hookSpecificOutput: { hookEventName: event, ...fields } })

const secrets = `#!/usr/bin/env node
const fs = require('fs');
const input = JSON.parse(fs.readFileSync(0, 'utf-8'));
const { content = '', new_string = '' } = input.tool_input;
console.error('scanning ' + input.tool_input.file_path);
if (/(api[_-]?key|password)\\s*[:=]/i.test(content || new_string)) {
  console.log(JSON.stringify({ decision: 'deny', reason: 'a secret in ' + input.tool_input.file_path, systemMessage: 'Secret scanner blocked a write' }));
  process.exit(0);
}
console.log(JSON.stringify({ decision: 'allow' }));
`

const destructive = `#!/usr/bin/env bash
input=$(cat)
cmd=$(jq -r '.tool_input.command // empty' <<< "$input")
case "$cmd" in
  *"rm -rf"*) echo "Refusing: $cmd" >&2; exit 2 ;;
  exit3) echo "odd" >&2; exit 3 ;;
  exit1) echo "only a warning" >&2; exit 1 ;;
  words) echo "looks fine to me" ;;
  stderr) echo '{"decision":"block","reason":"said on stderr"}' >&2 ;;
  double) jq -n '{decision: "deny", reason: "twice encoded"} | tojson' ;;
  logs) echo "checking"; echo '{"decision":"deny","reason":"nobody hears"}' ;;
  broken) echo '{"decision":"deny"' ;;
  old) echo '{"decision":"block"}' ;;
esac
exit 0
`

const rewrite = `#!/usr/bin/env python3
import json, sys
data = json.load(sys.stdin)
line = data["tool_input"]["command"]
print(json.dumps({"hookSpecificOutput": {"hookEventName": "BeforeTool", "tool_input": {"command": line + " " + sys.argv[1]}}}))
`

const guards: ReadonlyArray<
  {
    readonly title: string
    readonly files: Files
    readonly steps: ReadonlyArray<Step>
    readonly notices?: ReadonlyArray<string>
    readonly warns?: RegExp
  }
> = [
  {
    title: "in node, for every tool that writes",
    files: {
      ...settings({
        BeforeTool: [{
          matcher: "write_file|replace",
          ...group(command("$GEMINI_PROJECT_DIR/.gemini/hooks/secrets.js", { name: "scan" }))
        }]
      }),
      ".gemini/hooks/secrets.js": secrets
    },
    steps: [
      [...put("a.env", "API_KEY=1"), /a secret in a\.env/],
      ["edit", { path: "b", old_str: "", new_str: "password: x" }, /a secret in b/],
      ["replace", { file_path: "c", old_string: "", new_string: "password: x" }, /a secret/],
      ["create", { path: "d", file_text: "fine", content: "api-key: 1" }, /a secret in d/],
      [...put("a.md", "hello"), "runs"],
      ["read_file", { path: "a.env" }, "runs"]
    ],
    notices: Array.from({ length: 4 }, () => "Secret scanner blocked a write")
  },
  {
    title: "in bash, by their code or by what they write, wherever they write it",
    files: {
      ...settings({ BeforeTool: [{ matcher: "run_shell_command", ...group("bash .gemini/hooks/destructive.sh") }] }),
      ".gemini/hooks/destructive.sh": destructive
    },
    steps: [
      [...sh("rm -rf /"), /Refusing: rm -rf/],
      [...sh("exit3"), /odd/],
      [...sh("exit1"), "runs"],
      [...sh("words"), "runs"],
      [...sh("stderr"), /said on stderr/],
      [...sh("double"), /twice encoded/],
      [...sh("logs"), "runs"],
      [...sh("broken"), "runs"],
      ["run_shell_command", { command: "old" }, /No reason provided/],
      [...sh("ls"), "runs"]
    ],
    notices: [
      "Warning: only a warning",
      "looks fine to me",
      "checking\n{\"decision\":\"deny\",\"reason\":\"nobody hears\"}",
      "{\"decision\":\"deny\""
    ],
    warns: /ended with 1: only a warning/
  },
  {
    title: "one after the other where a group says so, each on what the one before made of it",
    files: {
      ...settings({
        BeforeTool: [
          { matcher: "run_shell_command", sequential: true, ...group("python3 .gemini/hooks/rewrite.py one") },
          { matcher: "run_.*", ...group("python3 .gemini/hooks/rewrite.py two") }
        ]
      }),
      ".gemini/hooks/rewrite.py": rewrite
    },
    steps: [[...sh("echo"), { with: { command: "echo one two" } }]]
  },
  {
    title: "all at once otherwise, and the last to be named counts; what is there twice runs once",
    files: {
      ...settings({
        BeforeTool: [
          group("python3 .gemini/hooks/rewrite.py one", "python3 .gemini/hooks/rewrite.py two"),
          group("python3 .gemini/hooks/rewrite.py one", "mkdir once || exit 2", "mkdir once || exit 2")
        ]
      }),
      ".gemini/hooks/rewrite.py": rewrite
    },
    steps: [[...sh("echo"), { with: { command: "echo two" } }]]
  },
  {
    title: "with all reasons of all that deny",
    files: settings({
      BeforeTool: [
        group(json({ decision: "deny", reason: "one" }), json({ decision: "allow" }), "echo two >&2; exit 2")
      ]
    }),
    steps: [[...sh("ls"), /one\ntwo/]]
  },
  {
    title: "by an interpreter that is not there, but not when they are too slow",
    files: {
      ...settings({
        BeforeTool: [
          { matcher: "read_file", ...group("./.gemini/hooks/guard.rb") },
          { matcher: "write_file", ...group(command("sleep 3621; exit 2", { timeout: 200 })) }
        ]
      }),
      ".gemini/hooks/guard.rb": "#!/usr/bin/env no-such-ruby-3\n"
    },
    steps: [["read_file", { path: "a" }, /no-such-ruby-3/], [...put("a"), "runs"]],
    warns: /took too long/
  },
  {
    title: "by patterns, which are searched for, also for tools of servers",
    files: settings({
      BeforeTool: [
        { matcher: "mcp_.*_delete", ...group(json({ decision: "deny", reason: "new name" })) },
        { matcher: "mcp__tracker__.*", ...group(json({ decision: "deny", reason: "documented name" })) },
        { matcher: "^read", ...group(json({ decision: "deny", reason: "no reading" })) },
        { matcher: "shell", ...group(json({ decision: "deny", reason: "part of a name" })) },
        { matcher: "*", ...group("cat >> all.jsonl; echo >> all.jsonl") }
      ]
    }),
    steps: [
      ["mcp__tracker__delete", { id: 1 }, /new name\ndocumented name/],
      ["view", { path: "a" }, /no reading/],
      [...sh("ls"), /part of a name/],
      [...put("a"), "runs"]
    ]
  },
  {
    title: "after they ran: hide, replace and add",
    files: settings({
      AfterTool: [
        {
          matcher: "run_shell_command",
          ...group(
            "jq -c 'if .tool_response.llmContent | test(\"secret\") then {decision: \"deny\", reason: \"hidden\"} else {} end'"
          )
        },
        {
          matcher: "read_file",
          ...group(
            specific("AfterTool", { tool_output: "short" }),
            specific("AfterTool", { additionalContext: "see b" })
          )
        },
        { matcher: "write_file", ...group("echo 'lint failed' >&2; exit 2") }
      ]
    }),
    steps: [
      [...sh("env"), { reads: /^hidden$/ }],
      ["read_file", { path: "a" }, { reads: "short\n\nsee b" }],
      [...put("a"), { reads: "lint failed" }]
    ]
  }
]

describe("guards of Gemini CLI", () => {
  // rows: U-10
  it.each(guards)("guard calls $title", async ({ files, notices = [], steps, warns }) => {
    const { heard } = await judge("gemini", files, steps, { answers: { bash: "a secret" } })
    assert.deepEqual(heard.notices, notices)
    if (warns === undefined) assert.deepEqual(heard.warnings, [])
    else assert.match(heard.warnings.join("\n"), warns)
  })
})
