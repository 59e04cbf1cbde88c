/**
 * Guards of GitHub Copilot as repositories have them, loaded from disk, with what Copilot would have made of each
 * answer.
 */
import { assert, describe, it } from "@effect/vitest"
import { type Files, judge, type Step } from "../../support/publicFiles.ts"

const sh = (command: string) => ["bash", { command }] as const
const put = (path: string, content = "x") => ["write_file", { path, content }] as const
const hooks = (events: object, more: object = {}): object => ({ version: 1, ...more, hooks: events })
const deny = (reason: string) => JSON.stringify({ permissionDecision: "deny", permissionDecisionReason: reason })

/** Asks for the arguments as a text, as the documentation shows, and keeps an audit beside itself. */
const policy = `#!/bin/bash
set -euo pipefail
INPUT="$(cat)"
TOOL="$(echo "$INPUT" | jq -r '.toolName // empty')"
RAW="$(echo "$INPUT" | jq -r '.toolArgs // empty')"
mkdir -p .github/hooks/logs
jq -nc --arg tool "$TOOL" --argjson args "$RAW" '{tool: $tool, args: $args}' >> .github/hooks/logs/audit.jsonl
[ "$TOOL" = "bash" ] || exit 0
COMMAND="$(echo "$RAW" | jq -r '.command // empty')"
if grep -Eq '(^|[;&|[:space:]])sudo[[:space:]]|curl[^|]*[|][[:space:]]*(ba)?sh' <<< "$COMMAND"; then
  jq -n --arg reason "Policy: $COMMAND" '{permissionDecision: "deny", permissionDecisionReason: $reason}'
fi
`

const folders = `#!/usr/bin/env python3
import json, os, sys
event = json.load(sys.stdin)
if event["toolName"] not in ("create", "edit"):
    sys.exit(0)
path = os.path.relpath(json.loads(event["toolArgs"])["path"], event["cwd"])
if not path.startswith(("src" + os.sep, "test" + os.sep)):
    json.dump({"permissionDecision": "deny", "permissionDecisionReason": path + " is not below src or test"}, sys.stdout, indent=2)
`

const secrets = `#!/usr/bin/env node
let raw = ''
process.stdin.on('data', (part) => { raw += part })
process.stdin.on('end', () => {
  const { toolName, toolArgs } = JSON.parse(raw)
  if (toolName !== 'create') return
  const { file_text } = JSON.parse(toolArgs)
  if (/AKIA[0-9A-Z]{16}/.test(file_text)) {
    process.stdout.write(JSON.stringify({ permissionDecision: 'deny', permissionDecisionReason: 'a cloud key' }))
  }
})
`

const lockfile = `#!/usr/bin/env python3
import json, sys
event = json.load(sys.stdin)
args = json.loads(event["toolArgs"])
if args["command"].startswith("npm install"):
    args["command"] = args["command"].replace("npm install", "npm ci", 1)
    print(json.dumps({"permissionDecision": "allow", "modifiedArgs": args}))
`

/** Written for Claude's fields, as files in Pascal case have it. */
const migrations = `import json, sys
event = json.load(sys.stdin)
assert event["hook_event_name"] == "PreToolUse" and event["session_id"] and event["timestamp"].endswith("Z")
path = event["tool_input"].get("file_path", "")
if "/migrations/" in path:
    print(json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "migrations are frozen"}}))
elif event["tool_name"] == "Bash" and event["tool_input"]["command"] == "make":
    print(json.dumps({"hookSpecificOutput": {"permissionDecision": "allow", "updatedInput": {"command": "make -n"}}}))
`

interface Case {
  readonly title: string
  readonly entry: object
  readonly event?: string
  readonly files?: Files
  readonly steps: ReadonlyArray<Step>
  readonly warns?: RegExp
}

const guards: ReadonlyArray<Case> = [
  {
    title: "in bash with jq, with an audit",
    entry: {
      type: "command",
      bash: ".github/hooks/scripts/policy.sh",
      powershell: "./policy.ps1",
      timeoutSec: 15,
      comment: "first"
    },
    files: { ".github/hooks/scripts/policy.sh": policy },
    steps: [[...sh("sudo rm -rf /"), /Policy: sudo rm/], [...sh("curl -s x | sh"), /Policy/], [...sh("ls"), "runs"], [
      ...put("a"),
      "runs"
    ]]
  },
  {
    title: "in python, for files of any tool that writes",
    entry: { bash: "python3 scripts/folders.py" },
    files: { "scripts/folders.py": folders },
    steps: [
      [...put("README.md"), /README.md is not below src/],
      [...put("src/a.ts"), "runs"],
      ["edit", { path: "ci.yml", old_str: "a", new_str: "b" }, /ci.yml is not/],
      ["create", { path: "test/a.ts", file_text: "" }, "runs"],
      ["view", { path: "README.md" }, "runs"]
    ]
  },
  {
    title: "in node, run as an executable in its folder",
    entry: { bash: "./secrets.mjs", cwd: "tools/hooks" },
    files: {
      "tools/hooks/secrets.mjs": secrets.replace("#!/usr/bin/env node\n", "#!/usr/bin/env node\n// ES module\n")
    },
    steps: [[...put("a.env", "AKIAABCDEFGHIJKLMNOP"), /a cloud key/], [...put("a.env", "none"), "runs"]]
  },
  {
    title: "as a line of shell",
    entry: {
      bash:
        `jq -e '.toolName == "bash" and (.toolArgs | fromjson | .command | test("push.*--force"))' > /dev/null && echo '${
          deny("no force")
        }' || true`
    },
    steps: [[...sh("git push --force"), /no force/], [...sh("git push"), "runs"]]
  },
  {
    title: "by ending with 2, whatever their JSON says",
    entry: { matcher: "bash", bash: "echo '{\"permissionDecision\":\"allow\"}'; echo 'not on a friday' >&2; exit 2" },
    steps: [[...sh("ls"), /not on a friday/], [...put("a"), "runs"]]
  },
  {
    title: "by breaking",
    entry: {
      matcher: "bash",
      bash: "set -e; jq -r '.toolArgs.command' > /dev/null; echo '{\"permissionDecision\":\"allow\"}'"
    },
    steps: [[...sh("ls"), /Denied by preToolUse hook \(hook errored\)/]],
    warns: /ended with 5/
  },
  {
    title: "by an interpreter that is not there",
    entry: { matcher: "bash", bash: "./guard.rb" },
    files: { "guard.rb": "#!/usr/bin/env no-such-ruby-3\nputs 1\n" },
    steps: [[...sh("ls"), /hook errored/]],
    warns: /ended with 127/
  },
  {
    title: "not with logs before the JSON",
    entry: { bash: `echo checking; echo '${deny("unheard")}'` },
    steps: [[...sh("ls"), "runs"]],
    warns: /its output is not a JSON object, so it is not read as an answer/
  },
  {
    title: "not with two answers",
    entry: { bash: `echo '${deny("one")}'; echo '${deny("two")}'` },
    steps: [[...sh("ls"), "runs"]],
    warns: /its output is not a JSON object, so it is not read as an answer/
  },
  {
    title: "with lines of progress before the answer, over several lines",
    entry: { bash: `echo '{"type":"progress","message":"looking"}'; echo '${deny("heard")}' | jq .` },
    steps: [[...sh("ls"), /heard/]]
  },
  {
    title: "not with an error that is text and 0",
    entry: { bash: "echo DENIED; echo no >&2" },
    steps: [[...sh("ls"), "runs"]]
  },
  {
    title: "not when they are too slow",
    entry: { bash: `sleep 3620; echo '${deny("late")}'`, timeoutSec: 0.2 },
    steps: [[...sh("ls"), "runs"]],
    warns: /took too long/
  },
  {
    title: "and change arguments",
    entry: { matcher: "bash", exec: "python3", args: [".github/hooks/lockfile.py"] },
    files: { ".github/hooks/lockfile.py": lockfile },
    steps: [[...sh("npm install left-pad"), { with: { command: "npm ci left-pad" } }], [...sh("ls"), "runs"]]
  },
  {
    title: "in Pascal case, in groups, with Claude's names and fields",
    event: "PreToolUse",
    entry: { matcher: "Edit|Write|Bash", hooks: [{ type: "command", command: "python3 .github/hooks/migrations.py" }] },
    files: { ".github/hooks/migrations.py": migrations },
    steps: [
      [...put("db/migrations/1.sql"), /migrations are frozen/],
      ["replace", { file_path: "db/migrations/1.sql", old_string: "a", new_string: "b" }, /frozen/],
      ["edit", { path: "db/migrations/1.sql", old_str: "a", new_str: "b" }, /frozen/],
      [...sh("make"), { with: { command: "make -n" } }],
      ["run_shell_command", { command: "make" }, { with: { command: "make -n" } }]
    ]
  },
  {
    title: "only for tools whose whole name fits, with their variables",
    entry: {
      matcher: "cre|bash|e.it",
      bash: "echo \"$WHO in $COPILOT_PROJECT_DIR\" >&2; exit 2",
      env: { WHO: "guard" }
    },
    steps: [["create", { path: "a" }, "runs"], [
      "edit",
      { path: "a", old_str: "", new_str: "" },
      /guard in .*my project/
    ], [
      ...sh("ls"),
      /guard/
    ]]
  },
  {
    title: "for tools of servers, by their names",
    entry: { matcher: "mcp__tracker__.*", command: `echo '${deny("read only")}'` },
    steps: [["mcp__tracker__delete", { id: 1 }, /read only/], [...sh("ls"), "runs"]]
  }
]

describe("guards of GitHub Copilot", () => {
  it.each(guards)(
    // rows: U-08
    "guard calls $title",
    async ({ entry, event = "preToolUse", files = {}, steps, warns }) => {
      const { heard } = await judge(
        "copilot",
        { ".github/hooks/guard.json": hooks({ [event]: [entry] }), ...files },
        steps
      )
      if (warns === undefined) assert.deepEqual(heard.warnings, [])
      else assert.match(heard.warnings.join("\n"), warns)
    }
  )

  it("keep their audit", async () => {
    const { read } = await judge("copilot", {
      ".github/hooks/guard.json": hooks({ preToolUse: [{ bash: ".github/hooks/scripts/policy.sh" }] }),
      ".github/hooks/scripts/policy.sh": policy
    }, [[...sh("ls"), "runs"], [...put("a"), "runs"]])
    assert.deepEqual(read(".github/hooks/logs/audit.jsonl").trim().split("\n").map((line) => JSON.parse(line).tool), [
      "bash",
      "create"
    ])
  })
})
