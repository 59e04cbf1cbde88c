/**
 * Hook files of GitHub Copilot as repositories have them, loaded from disk, with what Copilot would have made of each
 * answer.
 */
import { agentTool } from "@belay/core/agentTool"
import { createAgent } from "@belay/core/createAgent"
import { text } from "@belay/core/Message"
import { unrestricted } from "@belay/core/Tool"
import { assert, describe, it } from "@effect/vitest"
import { calls, scripted } from "../../../../../test/support/agent.ts"
import { until } from "../../support/processes.ts"
import { judge, said, start } from "../../support/publicFiles.ts"

const sh = (command: string) => ["bash", { command }] as const
const hooks = (events: object, more: object = {}): object => ({ version: 1, ...more, hooks: events })

describe("hook files of GitHub Copilot", () => {
  it(
    "keep counts and logs beside themselves, also those that they write in the background",
    async () => {
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
      await until(() => read(".github/hooks/stats.csv").split("\n").toSorted().join(" ") === " 1 2 3")
    }
  )

  it("ask a person, who decides", async () => {
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
    await judge("copilot", files, [[...sh("deploy"), /not now/]], {
      onAsk: () => ({ type: "deny", reason: "not now" })
    })
  })

  it(
    "change results, add texts to them, and turn a success into a failure that others see",
    async () => {
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
            {
              matcher: "view",
              bash: "jq -c '{additionalContext: (\"read \" + (.toolArgs | fromjson | .path | split(\"/\") | last))}'"
            }
          ],
          postToolUseFailure: [{
            matcher: "bash",
            bash: "jq -r .error > failed.txt; echo 'look at the log'; echo 'or ask' >&2; exit 2"
          }],
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
    }
  )

  it("log a session, add context, and see its end", async () => {
    const log = (name: string, filter: string) => ({
      type: "command",
      bash: `jq -c '${filter}' >> ${name}.jsonl`,
      timeoutSec: 5
    })
    const { agent, read, requests } = start("copilot", {
      ".github/hooks/session.json": hooks({
        sessionStart: [log("log", "[.source, (.timestamp | type)]"), {
          bash: "echo '{\"additionalContext\":\"Use pnpm.\"}'"
        }],
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

  // rows: U-22
  it("keep an agent at work until its tests pass", async () => {
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

  // rows: U-22
  it("keep an agent at work with what editors expect, too", async () => {
    const again = { hookSpecificOutput: { hookEventName: "Stop", decision: "block", reason: "Update the changelog." } }
    const { agent, requests } = start("copilot", {
      ".github/hooks/stop.json": hooks({
        Stop: [{ type: "command", command: `[ -d once ] || { mkdir once; echo '${JSON.stringify(again)}'; }` }]
      })
    }, [{ text: "done" }, { text: "updated" }])
    await using _ = agent
    assert.strictEqual((await agent.run("go")).text, "updated")
    assert.strictEqual(text(requests[1]!.messages.at(-1)!), "Update the changelog.")
  })

  it("see sub-agents and errors", async () => {
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
          errorOccurred: [{
            bash: "jq -c '[.error.message, .error.name, .errorContext, .recoverable]' >> errors.jsonl; exit 2"
          }]
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

  it("see notifications of the host, and a history that is about to be compacted", async () => {
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
    await session.signal({
      name: "Notification",
      payload: { notification_type: "shell_completed", message: "npm test" },
      blockable: false
    })
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

  it("count file by file, the user's and the repository's, and not those that switch themselves off", async () => {
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
        warnings: [
          /broken.json/,
          /odd.json: hooks.preToolUse\[0\].type/,
          /odd.json.*did you mean preToolUse/,
          /two.json: version/
        ]
      }
    )
    assert.strictEqual(read("order.txt"), "uabos")
    assert.deepEqual(heard.warnings, [])
  })

  it("decide what the policy asks about, and deny with 2", async () => {
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
      ".github/hooks/permission.json": hooks({
        permissionRequest: [{ matcher: "bash", bash: "python3 permission.py" }]
      }),
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
