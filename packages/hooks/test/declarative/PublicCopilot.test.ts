/** Hook files of GitHub Copilot as repositories have them, loaded from disk, with what Copilot would have made of each answer. */
import { agentTool } from "@belay/core/agentTool"
import { createAgent } from "@belay/core/createAgent"
import { text } from "@belay/core/Message"
import { unrestricted } from "@belay/core/Tool"
import { assert, describe, it } from "@effect/vitest"
import { calls, scripted } from "../agent.ts"
import { type Files, judge, said, start, type Step } from "./publicfiles.ts"

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
    entry: { type: "command", bash: ".github/hooks/scripts/policy.sh", powershell: "./policy.ps1", timeoutSec: 15, comment: "first" },
    files: { ".github/hooks/scripts/policy.sh": policy },
    steps: [[...sh("sudo rm -rf /"), /Policy: sudo rm/], [...sh("curl -s x | sh"), /Policy/], [...sh("ls"), "runs"], [...put("a"), "runs"]]
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
    files: { "tools/hooks/secrets.mjs": secrets.replace("#!/usr/bin/env node\n", "#!/usr/bin/env node\n// ES module\n") },
    steps: [[...put("a.env", "AKIAABCDEFGHIJKLMNOP"), /a cloud key/], [...put("a.env", "none"), "runs"]]
  },
  {
    title: "as a line of shell",
    entry: {
      bash: `jq -e '.toolName == "bash" and (.toolArgs | fromjson | .command | test("push.*--force"))' > /dev/null && echo '${
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
    entry: { matcher: "bash", bash: "set -e; jq -r '.toolArgs.command' > /dev/null; echo '{\"permissionDecision\":\"allow\"}'" },
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
    steps: [[...sh("ls"), "runs"]]
  },
  {
    title: "not with two answers",
    entry: { bash: `echo '${deny("one")}'; echo '${deny("two")}'` },
    steps: [[...sh("ls"), "runs"]]
  },
  {
    title: "with lines of progress before the answer, over several lines",
    entry: { bash: `echo '{"type":"progress","message":"looking"}'; echo '${deny("heard")}' | jq .` },
    steps: [[...sh("ls"), /heard/]]
  },
  { title: "not with an error that is text and 0", entry: { bash: "echo DENIED; echo no >&2" }, steps: [[...sh("ls"), "runs"]] },
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
    entry: { matcher: "cre|bash|e.it", bash: "echo \"$WHO in $COPILOT_PROJECT_DIR\" >&2; exit 2", env: { WHO: "guard" } },
    steps: [["create", { path: "a" }, "runs"], ["edit", { path: "a", old_str: "", new_str: "" }, /guard in .*my project/], [
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

describe("hook files of GitHub Copilot", () => {
  it.each(guards)("U-08 guard calls $title", { timeout: 60_000 }, async ({ entry, event = "preToolUse", files = {}, steps, warns }) => {
    const { heard } = await judge("copilot", { ".github/hooks/guard.json": hooks({ [event]: [entry] }), ...files }, steps)
    if (warns === undefined) assert.deepEqual(heard.warnings, [])
    else assert.match(heard.warnings.join("\n"), warns)
  })

  it("keep their audit", { timeout: 60_000 }, async () => {
    const { read } = await judge("copilot", {
      ".github/hooks/guard.json": hooks({ preToolUse: [{ bash: ".github/hooks/scripts/policy.sh" }] }),
      ".github/hooks/scripts/policy.sh": policy
    }, [[...sh("ls"), "runs"], [...put("a"), "runs"]])
    assert.deepEqual(read(".github/hooks/logs/audit.jsonl").trim().split("\n").map((line) => JSON.parse(line).tool), ["bash", "create"])
  })

  it("keep counts and logs beside themselves, also those that they write in the background", { timeout: 60_000 }, async () => {
    const limit = `#!/bin/bash
here="$(dirname "$0")"
mkdir -p "$here/state"
count=$(( $(jq -r .count "$here/state/session.json" 2>/dev/null || echo 0) + 1 ))
echo "{\\"count\\":$count}" > "$here/state/session.json"
(sleep 0.05; echo "$count" >> "$here/stats.csv") > /dev/null 2>&1 &
[ "$count" -le 2 ] || echo '{"permissionDecision":"deny","permissionDecisionReason":"two calls are enough"}'
`
    const { read } = await judge("copilot", {
      ".github/hooks/limit.json": hooks({ preToolUse: [{ bash: ".github/hooks/limit.sh" }] }),
      ".github/hooks/limit.sh": limit
    }, [[...sh("one"), "runs"], [...sh("two"), "runs"], [...sh("three"), /two calls are enough/]])
    assert.strictEqual(read(".github/hooks/stats.csv"), "1\n2\n3\n")
  })

  it("ask a person, who decides", { timeout: 60_000 }, async () => {
    const ask = "echo '{\"permissionDecision\":\"ask\",\"permissionDecisionReason\":\"deploys\"}'"
    const files = { ".github/hooks/ask.json": hooks({ preToolUse: [{ matcher: "bash", bash: ask }] }) }
    const asked: Array<string> = []
    await judge("copilot", files, [[...sh("deploy"), "runs"]], {
      onAsk: ({ reason }) => {
        asked.push(reason)
        return { type: "approve" }
      }
    })
    assert.deepEqual(asked, ["deploys"])
    await judge("copilot", files, [[...sh("deploy"), /not now/]], { onAsk: () => ({ type: "deny", reason: "not now" }) })
  })

  it("change results, put more behind them, and make a success a failure that others hear of", { timeout: 60_000 }, async () => {
    const redact = `const raw = require('fs').readFileSync(0, 'utf8')
const { toolName, toolArgs, toolResult } = JSON.parse(raw)
if (typeof toolArgs !== 'string') throw new Error('no text')
const text = toolResult.textResultForLlm
if (text.includes('token=')) console.log(JSON.stringify({ modifiedResult: { resultType: 'success', textResultForLlm: text.replace(/token=\\S+/, 'token=***') } }))
if (text.includes('panic')) console.log(JSON.stringify({ modifiedResult: { resultType: 'failure', textResultForLlm: 'it panicked' } }))
`
    const files = {
      ".github/hooks/after.json": hooks({
        postToolUse: [
          { bash: "node redact.cjs", cwd: ".github/hooks" },
          { matcher: "view", bash: "jq -c '{additionalContext: (\"read \" + (.toolArgs | fromjson | .path | split(\"/\") | last))}'" }
        ],
        postToolUseFailure: [{ matcher: "bash", bash: "jq -r .error > failed.txt; echo 'look at the log'; echo 'or ask' >&2; exit 2" }],
        PostToolUseFailure: [{ bash: "jq -c '{additionalContext: (.tool_name + \": \" + .error)}'" }]
      }),
      ".github/hooks/redact.cjs": redact
    }
    const { read } = await judge("copilot", files, [
      ["view", { path: "a.ts" }, { reads: "token=*** end\n\nread a.ts" }],
      [...sh("cargo test"), { reads: "it panicked\n\nlook at the log\nor ask\n\nBash: it panicked" }],
      ["fail", {}, { reads: /the disk is full[^]*fail: .*the disk is full/ }]
    ], { answers: { view: "token=abc end", bash: "panic" } })
    assert.strictEqual(read("failed.txt"), "it panicked\n")
  })

  it("log a session, give it context, and hear of its end", { timeout: 60_000 }, async () => {
    const log = (name: string, filter: string) => ({ type: "command", bash: `jq -c '${filter}' >> ${name}.jsonl`, timeoutSec: 5 })
    const { agent, read, requests } = start("copilot", {
      ".github/hooks/session.json": hooks({
        sessionStart: [log("log", "[.source, (.timestamp | type)]"), { bash: "echo '{\"additionalContext\":\"Use pnpm.\"}'" }],
        SessionStart: [{ command: "jq -r '.source + .hook_event_name' | jq -R '{additionalContext: .}'" }],
        userPromptSubmitted: [log("log", "[.prompt, .cwd]")],
        UserPromptSubmit: [log("log", "[.hook_event_name, .prompt, (.timestamp | type)]")],
        sessionEnd: [log("log", "[.reason]")]
      })
    }, [{ text: "one" }, { text: "two" }])
    const session = await agent.session()
    await session.run("fix it")
    await session.run("and test it")
    await agent[Symbol.asyncDispose]()
    assert.deepEqual(requests[0]!.messages.map(text), ["Use pnpm.", "startupSessionStart", "fix it"])
    const lines = read("log.jsonl").trim().split("\n").map((line) => JSON.parse(line))
    assert.deepEqual(lines.map(([first]) => first), [
      "startup",
      "fix it",
      "UserPromptSubmit",
      "and test it",
      "UserPromptSubmit",
      "complete"
    ])
    assert.strictEqual(lines[0][1], "number")
    assert.strictEqual(lines[2][2], "string")
  })

  it("U-22 keep an agent at work until its tests pass", { timeout: 60_000 }, async () => {
    const verify = `#!/bin/bash
input=$(cat)
jq -c '[.stopReason, .stop_hook_active]' <<< "$input" >> stops.jsonl
[ -f ok ] && exit 0
touch ok
jq -n '{decision: "block", reason: "Run the tests first."}'
`
    const { agent, read, requests } = start("copilot", {
      ".github/hooks/stop.json": hooks({
        agentStop: [{ bash: "./verify.sh" }],
        Stop: [{ command: "jq -c '[.stop_reason, .stop_hook_active, .hook_event_name]' >> stops.jsonl" }]
      }),
      "verify.sh": verify
    }, [{ text: "done" }, { text: "tested" }])
    await using _ = agent
    assert.strictEqual((await agent.run("go")).text, "tested")
    assert.strictEqual(text(requests[1]!.messages.at(-1)!), "Run the tests first.")
    assert.deepEqual(read("stops.jsonl").trim().split("\n").map((line) => JSON.parse(line)), [
      ["end_turn", false],
      ["end_turn", false, "Stop"],
      ["end_turn", true],
      ["end_turn", true, "Stop"]
    ])
  })

  it("hear of sub-agents and of errors", { timeout: 60_000 }, async () => {
    const inner = scripted([{ text: "found it" }, { text: "found more" }])
    const explore = createAgent({ name: "explore", provider: inner.provider })
    const { agent, read } = start(
      "copilot",
      {
        ".github/hooks/agents.json": hooks({
          subagentStart: [{ matcher: "explore", bash: "echo '{\"additionalContext\":\"Read only.\"}'" }, {
            matcher: "expl",
            bash: "exit 1"
          }],
          subagentStop: [{
            bash:
              "jq -c '[.agentName, .response]' >> subs.jsonl; [ -f again ] || { touch again; echo '{\"decision\":\"block\",\"reason\":\"Look again.\",\"modifiedResponse\":\"x\"}'; }"
          }],
          SubagentStop: [{ command: "jq -c '[.agent_type, .last_assistant_message, .stop_reason]' >> subs.jsonl" }],
          errorOccurred: [{ bash: "jq -c '[.error.message, .error.name, .errorContext, .recoverable]' >> errors.jsonl; exit 2" }]
        })
      },
      [calls(["explore", { message: "where?" }]), calls(["fail", {}])],
      {
        tools: [agentTool({ name: "explore", description: "explores", agent: explore })]
      }
    )
    await using _ = agent
    const { messages } = await agent.run("go")
    assert.include(inner.requests[0]!.messages.map(text), "Read only.\n\nwhere?")
    assert.strictEqual(said(messages)[0], "found more")
    assert.deepEqual(read("subs.jsonl").trim().split("\n").map((line) => JSON.parse(line)), [
      ["explore", "found it"],
      ["explore", "found it", "end_turn"],
      ["explore", "found more"],
      ["explore", "found more", "end_turn"]
    ])
    const [message, , where] = JSON.parse(read("errors.jsonl"))
    assert.match(message, /the disk is full/)
    assert.strictEqual(where, "tool_execution")
  })

  it("hear of what the host tells, and of a history that is about to be shortened", { timeout: 60_000 }, async () => {
    const log =
      "jq -c '[.hook_event_name, .trigger, .notification_type, (.custom_instructions // .customInstructions | type)]' >> log.jsonl"
    const { agent, heard, read, requests } = start(
      "copilot",
      {
        ".github/hooks/more.json": hooks({
          preCompact: [{ matcher: "manual", bash: log }, { matcher: "auto", bash: "exit 1" }],
          PreCompact: [{ matcher: "manual|auto", command: `${log}; exit 2` }],
          notification: [
            { matcher: "shell_.*", bash: `${log}; echo '{"additionalContext":"the tests passed"}'` },
            { matcher: "shell", bash: "exit 1" }
          ]
        })
      },
      [{ text: "one" }, { text: "two" }, { text: "a summary" }],
      { window: { tokens: 1_000, keepRecent: 1 } }
    )
    await using _ = agent
    const session = await agent.session()
    await session.run("go")
    await session.signal({ name: "Notification", payload: { notification_type: "shell_completed", message: "npm test" }, blockable: false })
    await session.run("and?")
    await session.compact()
    assert.include(requests[1]!.messages.map(text).join("\n"), "the tests passed")
    assert.deepEqual(read("log.jsonl").trim().split("\n").map((line) => JSON.parse(line)), [
      ["Notification", null, "shell_completed", "null"],
      [null, "manual", null, "string"],
      ["PreCompact", "manual", null, "string"]
    ])
    assert.lengthOf(heard.warnings, 1)
  })

  it("count file by file, the user's and the repository's, and not those that switch themselves off", { timeout: 60_000 }, async () => {
    const note = (word: string) => ({ preToolUse: [{ bash: `printf ${word} >> order.txt` }] })
    const { heard, read } = await judge(
      "copilot",
      {
        ".github/hooks/b.json": hooks(note("b")),
        ".github/hooks/a.json": hooks(note("a")),
        ".github/hooks/off.json": hooks(note("-"), { disableAllHooks: true }),
        ".github/hooks/two.json": { version: 2, hooks: note("2") },
        ".github/hooks/notes.md": "# no hooks",
        ".github/hooks/broken.json": "{ \"version\": 1, \"hooks\": ",
        ".github/hooks/odd.json": hooks({
          preToolUse: [{ type: "script", bash: "exit 1" }, { bash: "printf o >> order.txt" }],
          preTooluse: []
        }),
        ".github/copilot/settings.json": { hooks: note("s") },
        "~/.copilot/hooks/mine.json": hooks(note("u"))
      },
      [[...sh("ls"), "runs"]],
      {
        warnings: [/broken.json/, /odd.json: hooks.preToolUse\[0\].type/, /odd.json.*did you mean preToolUse/, /two.json: version/]
      }
    )
    assert.strictEqual(read("order.txt"), "uabos")
    assert.deepEqual(heard.warnings, [])
  })

  it("decide what the policy asks about, and deny with 2", { timeout: 60_000 }, async () => {
    const script = `import json, sys
event = json.load(sys.stdin)
command = event["toolInput"]["command"]
if command == "ls":
    print(json.dumps({"behavior": "allow"}))
elif command == "rm":
    print(json.dumps({"behavior": "deny", "message": "rm is for people"}))
elif command == "dd":
    sys.exit(2)
`
    await judge("copilot", {
      ".github/hooks/permission.json": hooks({ permissionRequest: [{ matcher: "bash", bash: "python3 permission.py" }] }),
      "permission.py": script
    }, [[...sh("ls"), "runs"], [...sh("rm"), /rm is for people/], [...sh("dd"), /Denied by permissionRequest hook/], [
      ...sh("cat"),
      /a person/
    ]], {
      policy: { check: () => ({ type: "ask", reason: "every call", grant: unrestricted }) },
      onAsk: () => ({ type: "deny", reason: "a person" })
    })
  })
})
