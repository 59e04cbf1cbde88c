/** Scripts for stops, permissions and what is around a session, as people publish them, in agents that run. */
import { agentTool } from "@belay/core/agentTool"
import { createAgent } from "@belay/core/createAgent"
import { assert, describe, it } from "@effect/vitest"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { calls, scripted } from "../../../../../../test/support/agent.ts"
import { command, work } from "../../../support/publicAgent.ts"

const on = (line: string, more: object = {}, matcher?: string) => ({
  ...(matcher === undefined ? {} : { matcher }),
  hooks: [command(line, more)]
})

const json = (path: string) => readFileSync(path, "utf8").trim().split("\n").map((line) => JSON.parse(line))

describe("Stop and SubagentStop", () => {
  it("keep the agent going by exit code and by JSON, and mind stop_hook_active", async () => {
    const { heard, requests, results } = await work({
      settings: {
        hooks: {
          Stop: [
            on("\"$CLAUDE_PROJECT_DIR\"/.claude/hooks/stop.sh", {}, "*"),
            on("jq -e '.stop_hook_active' >/dev/null || { echo 'Run the linter' >&2; exit 2; }"),
            on("echo '{\"decision\":\"approve\"}'")
          ]
        }
      },
      files: {
        ".claude/hooks/stop.sh": `#!/bin/bash
set -euo pipefail
INPUT=$(cat)
if [ "$(echo "$INPUT" | jq -r '.stop_hook_active')" = "true" ]; then
  exit 0
fi
jq -n --arg last "$(echo "$INPUT" | jq -r .last_assistant_message)" '{decision: "block", reason: ("You said \\"" + $last + "\\", but the tests have not run")}'
`
      },
      lines: [{ text: "done" }, { text: "really done" }]
    })
    assert.lengthOf(requests, 2)
    assert.include(heard(1), "You said \"done\", but the tests have not run")
    assert.include(heard(1), "Run the linter")
    assert.deepInclude(results[0], { status: "completed", text: "really done" })
  })

  it("never go on for ever, and stop when continue is false", async () => {
    const forever = await work({
      settings: { hooks: { Stop: [on("echo 'more' >&2; exit 2")] } },
      lines: []
    })
    assert.lengthOf(forever.requests, 9)
    assert.strictEqual((forever.results[0] as { readonly status: string }).status, "completed")
    const stopped = await work({
      settings: {
        hooks: {
          Stop: [on("echo '{\"continue\":false,\"stopReason\":\"over\",\"decision\":\"block\",\"reason\":\"more\"}'")]
        }
      },
      lines: [{ text: "done" }]
    })
    assert.lengthOf(stopped.requests, 1)
  })

  it("read the transcript: the last words, the tools, the tokens", async () => {
    const { cwd, requests, warnings } = await work({
      settings: {
        hooks: {
          Stop: [
            on("python3 .claude/hooks/summary.py"),
            on("tail -n 1 \"$(jq -r .transcript_path)\" | jq -r '.message.content[0].text' > last")
          ]
        }
      },
      files: {
        ".claude/hooks/summary.py": `import json, os, sys
from pathlib import Path
data = json.load(sys.stdin)
path = Path(os.path.expanduser(data["transcript_path"]))
texts, tools, files, tokens, prompts, results = [], [], [], 0, [], []
with path.open() as f:
    for line in f:
        line = line.strip()
        if not line:
            continue
        entry = json.loads(line)
        message = entry.get("message", {})
        content = message.get("content", [])
        if entry["type"] == "assistant":
            usage = message.get("usage", {})
            tokens += usage.get("input_tokens", 0) + usage.get("cache_read_input_tokens", 0) + usage.get("output_tokens", 0)
            for block in content:
                if block["type"] == "text":
                    texts.append(block["text"])
                elif block["type"] == "tool_use":
                    tools.append(block["name"])
                    files.append(block["input"].get("file_path"))
        elif entry["type"] == "user":
            if isinstance(content, str):
                prompts.append(content)
            else:
                results += [block["tool_use_id"] for block in content if block["type"] == "tool_result"]
        assert entry["sessionId"] == data["session_id"] and entry["timestamp"] and entry["uuid"] and entry["isSidechain"] is False
with open("summary.json", "w") as f:
    json.dump({"last": texts[-1], "tools": tools, "files": files, "tokens": tokens, "prompts": prompts, "results": results}, f)
`
      },
      lines: [
        {
          ...calls(["write_file", { path: "a.ts", content: "" }], ["run_command", { cmd: "ls" }]),
          usage: { inputTokens: 100, outputTokens: 10, cachedTokens: 40 }
        },
        { text: "All done.", usage: { inputTokens: 200, outputTokens: 20 } }
      ]
    })
    assert.deepEqual(warnings, [])
    assert.lengthOf(requests, 2)
    assert.deepEqual(JSON.parse(readFileSync(join(cwd, "summary.json"), "utf8")), {
      last: "All done.",
      tools: ["Write", "Bash"],
      files: [join(cwd, "a.ts"), null],
      tokens: 330,
      prompts: ["go"],
      results: ["call-0", "call-1"]
    })
    assert.strictEqual(readFileSync(join(cwd, "last"), "utf8"), "All done.\n")
  })

  it("count each answer once, and tell a person's words from a hook's", async () => {
    const counted =
      `[.[] | select(.type == "assistant") | .message] | unique_by(.id) | map({tokens: .usage.output_tokens, end: .stop_reason}) | sort_by(.tokens)`
    const { cwd } = await work({
      settings: {
        hooks: {
          Stop: [on("jq -e '.stop_hook_active' > /dev/null || { echo 'run the tests' >&2; exit 2; }")],
          SessionEnd: [
            on(
              `f=$(jq -r .transcript_path); jq -sc '${counted}' "$f" > counted.json; jq -r 'select(.type == "user" and .isMeta == true) | .message.content' "$f" > meta.txt`
            )
          ]
        }
      },
      lines: [
        { ...calls(["run_command", { cmd: "ls" }]), usage: { inputTokens: 1, outputTokens: 10 } },
        { text: "Done.", usage: { inputTokens: 1, outputTokens: 20 } },
        { text: "Cut", finishReason: "length", usage: { inputTokens: 1, outputTokens: 30 } }
      ]
    })
    assert.deepEqual(JSON.parse(readFileSync(join(cwd, "counted.json"), "utf8")), [
      { tokens: 10, end: "tool_use" },
      { tokens: 20, end: "end_turn" },
      { tokens: 30, end: "max_tokens" }
    ])
    assert.strictEqual(readFileSync(join(cwd, "meta.txt"), "utf8"), "run the tests\n")
  })

  it("see sub-agents, and read their answers", async () => {
    const helper = createAgent({
      name: "code-reviewer",
      provider: scripted([{ text: "looks fine" }, { text: "looked again: fine" }]).provider
    })
    const { cwd, said } = await work({
      settings: {
        hooks: {
          SubagentStart: [
            on(
              "echo '{\"hookSpecificOutput\":{\"hookEventName\":\"SubagentStart\",\"additionalContext\":\"Be strict.\"}}'",
              {},
              "code-reviewer"
            )
          ],
          SubagentStop: [
            on(
              "jq -r '.agent_transcript_path' | xargs -d '\\n' cat | jq -c '[.type, .isSidechain, .message.content]' >> inner"
            ),
            on("jq -e '.stop_hook_active' >/dev/null || { echo 'look again' >&2; exit 2; }", {}, "code-reviewer"),
            on("touch never", {}, "reviewer")
          ],
          Stop: [on("touch stopped")]
        }
      },
      more: [agentTool({ name: "ask_reviewer", description: "Asks", agent: helper })],
      lines: [calls(["ask_reviewer", { message: "review it" }])]
    })
    assert.include(said[0]!, "looked again: fine")
    assert.isTrue(existsSync(join(cwd, "stopped")))
    assert.isFalse(existsSync(join(cwd, "never")))
    const inner = json(join(cwd, "inner"))
    assert.deepEqual(inner[0], ["user", true, "review it"])
    assert.deepEqual(inner.at(-1), ["assistant", true, [{ type: "text", text: "looked again: fine" }]])
  })
})

describe("permissions", () => {
  const policy = { check: () => ({ type: "ask", reason: "may it?", grant: { sandbox: "none" } }) as const }

  it(
    "are answered by PermissionRequest and PreToolUse, and not by exit code 2 of the former",
    async () => {
      const { ran, results } = await work({
        settings: {
          hooks: {
            PreToolUse: [
              on(
                "jq -c 'select(.tool_input.file_path | test(\"\\\\.(md|txt)$\")) | {decision: \"approve\", reason: \"documentation\", suppressOutput: true}'",
                {},
                "Read"
              )
            ],
            PermissionRequest: [
              on("python3 .claude/hooks/permission.py", {}, "Bash"),
              on(
                "echo '{\"hookSpecificOutput\":{\"hookEventName\":\"PermissionRequest\",\"decision\":{\"behavior\":\"deny\",\"message\":\"No web\"}}}'",
                {},
                "WebFetch"
              ),
              on("echo 'not heard' >&2; exit 2", {}, "Glob")
            ]
          }
        },
        files: {
          ".claude/hooks/permission.py": `import json, sys
d = json.load(sys.stdin)
c = d["tool_input"]["command"]
if c.startswith(("ls", "npm test")):
    print(json.dumps({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}}))
elif c.startswith("npm"):
    print(json.dumps({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow", "updatedInput": {"command": c + " --ignore-scripts"}}}}))
else:
    print(json.dumps({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "deny", "message": "Ask first"}}}))
`
        },
        policy,
        lines: [
          calls(["Read", { file_path: "README.md" }]),
          calls(["Bash", { command: "npm test" }]),
          calls(["run_command", { cmd: "npm ci" }]),
          calls(["Bash", { command: "curl x" }]),
          calls(["WebFetch", { url: "https://example.com" }]),
          calls(["Glob", { pattern: "*" }])
        ]
      })
      assert.deepEqual(ran, [
        ["Read", { file_path: "README.md" }],
        ["Bash", { command: "npm test" }],
        ["run_command", { cmd: "npm ci --ignore-scripts" }]
      ])
      assert.include(JSON.stringify(results[0]), "Ask first")
      assert.include(JSON.stringify(results[0]), "No web")
      assert.strictEqual((results[0] as { readonly status: string }).status, "suspended")
    }
  )
})

describe("what happens around a session", () => {
  it("notifications, backups before compaction, reports at the end", async () => {
    const { cwd, notices, warnings } = await work({
      settings: {
        hooks: {
          Notification: [
            on("jq -r '\"\\(.title // \"Claude Code\"): \\(.message)\"' >> notified"),
            on("touch idle", {}, "idle_prompt"),
            on("touch never", {}, "permission_prompt"),
            on("command -v notify-send-that-is-not-there >/dev/null && notify-send 'Claude' 'needs you'", {}, ""),
            on("echo 'for the user' >&2; exit 2")
          ],
          PreCompact: [
            on(
              "t=$(cat | python3 -c 'import json,sys; d=json.load(sys.stdin); print(d[\"transcript_path\"], d[\"trigger\"], sep=\"\\n\")'); mkdir -p .claude/backups && cp \"$(head -1 <<<\"$t\")\" \".claude/backups/$(tail -1 <<<\"$t\").jsonl\"",
              {},
              "manual"
            ),
            on("touch never", {}, "auto")
          ],
          PostCompact: [on("jq -r .compact_summary > summary")],
          SessionStart: [on("echo 'After compaction: use tabs.'", {}, "compact")],
          SessionEnd: [on("jq -c '[.hook_event_name, .reason]' > ended")]
        }
      },
      lines: [{ text: "hello" }],
      during: async (session) => {
        await session.signal({
          name: "Notification",
          payload: { message: "waiting for you", notification_type: "idle_prompt" },
          blockable: false
        })
        await session.compact()
      }
    })
    assert.strictEqual(readFileSync(join(cwd, "notified"), "utf8"), "Claude Code: waiting for you\n")
    assert.isTrue(existsSync(join(cwd, "idle")))
    assert.isFalse(existsSync(join(cwd, "never")))
    assert.deepEqual(readdirSync(join(cwd, ".claude/backups")), ["manual.jsonl"])
    // The notifications failed, so the transcript says so.
    assert.deepEqual(json(join(cwd, ".claude/backups/manual.jsonl")).map(({ type }) => type), [
      "user",
      "assistant",
      "attachment",
      "attachment"
    ])
    assert.deepEqual(json(join(cwd, "ended")), [["SessionEnd", "other"]])
    assert.deepEqual(notices, ["for the user"])
    assert.isAtLeast(warnings.length, 1)
  })

  it("a compaction that is blocked does not happen", async () => {
    let isCompacted: unknown
    await work({
      settings: { hooks: { PreCompact: [on("echo 'not now' >&2; exit 2")] } },
      lines: [{ text: "hello" }],
      during: async (session) => {
        isCompacted = await session.compact()
      }
    })
    assert.isFalse(isCompacted)
  })

  it("titles, first words, batches, and a Stop that only adds context", async () => {
    const { cwd, events, heard, requests } = await work({
      settings: {
        hooks: {
          SessionStart: [
            on(
              "echo '{\"hookSpecificOutput\":{\"hookEventName\":\"SessionStart\",\"sessionTitle\":\"Fix it\",\"initialUserMessage\":\"Read the notes first.\",\"watchPaths\":[]}}'"
            )
          ],
          PostToolBatch: [on("jq -c '[.tool_calls[] | [.tool_name, .tool_response]]' > batch")],
          Stop: [
            on(
              "jq -c 'if .stop_hook_active then {} else {hookSpecificOutput: {hookEventName: \"Stop\", additionalContext: \"One thing is left.\"}} end'"
            )
          ]
        }
      },
      lines: [calls(["Bash", { command: "ls" }], ["read_file", { path: "x" }]), { text: "done" }, { text: "all done" }]
    })
    assert.include(heard(0), "Read the notes first.")
    assert.isTrue(events.some((event) => event.type === "custom" && event.name === "session-title"))
    assert.deepEqual(json(join(cwd, "batch")), [[["Bash", "done"], ["Read", "done"]]])
    assert.lengthOf(requests, 3)
    assert.include(heard(2), "One thing is left.")
  })

  it("variables of an env file are there for later", async () => {
    const { warnings } = await work({
      settings: {
        hooks: {
          SessionStart: [on("[ -n \"$CLAUDE_ENV_FILE\" ] && echo 'export NODE_ENV=production' >> \"$CLAUDE_ENV_FILE\"")]
        }
      },
      lines: [{ text: "hello" }]
    })
    assert.deepEqual(warnings, [])
  })
})
