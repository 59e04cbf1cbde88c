import type { AgentEvent } from "@belay/core/AgentEvent"
import { agentTool } from "@belay/core/agentTool"
import { createAgent } from "@belay/core/createAgent"
import { text } from "@belay/core/Message"
import * as HookFiles from "@belay/hook-files/HookFiles"
import { assert, describe, it } from "@effect/vitest"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { calls, type Line, recording, scripted } from "../../../../../test/support/agent.ts"
import { alive, folder, until, write } from "../../support/processes.ts"

/** Blocks pushes to main. No jq: it reads the JSON with what every system has. */
const protectMain = `#!/usr/bin/env bash
set -euo pipefail
input=$(cat)
command=$(printf '%s' "$input" | sed -n 's/.*"command":"\\(\\([^"\\\\]\\|\\\\.\\)*\\)".*/\\1/p')
if printf '%s' "$command" | grep -Eq 'git push.*(origin )?main'; then
  echo "Blocked: never push to main, open a pull request instead" >&2
  exit 2
fi
exit 0
`

/** Keeps secrets from being written, in python, by exit code. */
const protectFiles = `#!/usr/bin/env python3
import json
import sys

try:
    data = json.load(sys.stdin)
except json.JSONDecodeError as e:
    print(f"Error: Invalid JSON input: {e}", file=sys.stderr)
    sys.exit(1)

path = data.get("tool_input", {}).get("file_path", "")
if any(p in path for p in [".env", "package-lock.json", ".git/"]):
    print(f"{path} is protected", file=sys.stderr)
    sys.exit(2)
`

/** Decides by JSON, in python: asks, denies, or rewrites. */
const bashPolicy = `#!/usr/bin/env python3
import json, re, sys

data = json.load(sys.stdin)
if data["hook_event_name"] != "PreToolUse" or data["tool_name"] != "Bash":
    sys.exit(0)
command = data["tool_input"]["command"]

def say(decision, reason, **more):
    print(json.dumps({"hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": decision,
        "permissionDecisionReason": reason, **more}}))
    sys.exit(0)

if re.search(r"\\brm\\s+-rf\\b", command):
    say("deny", "use the trash")
if command.startswith("npm install"):
    say("allow", "always with the lockfile", updatedInput={**data["tool_input"], "command": command.replace("install", "ci")})
if command.startswith("terraform apply"):
    say("ask", "this changes production")
`

/** Formats what was written, in node, and tells the model when that fails. */
const format = `#!/usr/bin/env node
const fs = require('fs')
let raw = ''
process.stdin.on('data', (chunk) => (raw += chunk))
process.stdin.on('end', () => {
  const { tool_input, tool_response, cwd } = JSON.parse(raw)
  const file = tool_input.file_path
  if (!file || !file.endsWith('.json') || !tool_response.success) process.exit(0)
  try {
    fs.writeFileSync(file, JSON.stringify(JSON.parse(fs.readFileSync(file, 'utf8')), null, 2) + '\\n')
  } catch (error) {
    console.log(JSON.stringify({ decision: 'block', reason: 'not valid JSON: ' + file.slice(cwd.length + 1) }))
  }
})
`

/** Writes every command down, in sh. */
const log = `#!/bin/sh
cat >> "$CLAUDE_PROJECT_DIR/tools.log"
`

/** Keeps the agent going until its tests ran, in bash. */
const testsFirst = `#!/bin/bash
input=$(cat)
# Prevent endless loops
if [[ "$input" == *'"stop_hook_active":true'* ]]; then exit 0; fi
if [ ! -f "$CLAUDE_PROJECT_DIR/.tests-ran" ]; then
  echo '{"decision": "block", "reason": "Run the tests before you stop."}'
fi
`

const settings = {
  hooks: {
    SessionStart: [{
      matcher: "startup",
      hooks: [{ type: "command", command: "echo \"Project: $(basename \"$CLAUDE_PROJECT_DIR\")\"; echo 'Use tabs.'" }]
    }],
    UserPromptSubmit: [{
      hooks: [
        {
          type: "command",
          command: "python3 -c \"import json,sys; p=json.load(sys.stdin)['prompt']; sys.exit(('password' in p) * 2)\""
        },
        { type: "command", command: "date > /dev/null; echo 'The branch is topic.'" }
      ]
    }],
    PreToolUse: [
      {
        matcher: "Bash",
        hooks: [
          { type: "command", command: "\"$CLAUDE_PROJECT_DIR\"/.claude/hooks/protect-main.sh", timeout: 20 },
          { type: "command", command: "${CLAUDE_PROJECT_DIR}/.claude/hooks/bash-policy.py", args: [], timeout: 20 }
        ]
      },
      {
        matcher: "Edit|MultiEdit|Write",
        hooks: [{ type: "command", command: "\"$CLAUDE_PROJECT_DIR/.claude/hooks/protect-files.py\"" }]
      },
      { matcher: "*", hooks: [{ type: "command", command: ".claude/hooks/log.sh" }] }
    ],
    PostToolUse: [{
      matcher: "Edit|Write",
      hooks: [{ type: "command", command: "node .claude/hooks/format.cjs", if: "Write(*.json)" }]
    }],
    Stop: [{ hooks: [{ type: "command", command: ".claude/hooks/tests-first.sh" }] }]
  }
}

const project = () => {
  const root = folder()
  const [cwd, home] = [join(root, "my project"), join(root, "home")]
  write(join(cwd, ".claude/settings.json"), JSON.stringify(settings))
  const hooks = {
    "protect-main.sh": protectMain,
    "protect-files.py": protectFiles,
    "bash-policy.py": bashPolicy,
    "format.cjs": format
  }
  for (const [name, script] of Object.entries({ ...hooks, "log.sh": log, "tests-first.sh": testsFirst })) {
    write(join(cwd, ".claude/hooks", name), script)
  }
  HookFiles.load({ cwd, home }).untrusted[0]!.trust()
  const loaded = HookFiles.load({ cwd, home })
  assert.deepEqual([loaded.warnings, loaded.untrusted], [[], []])
  return { cwd, hooks: loaded.hooks }
}

const said = (messages: Parameters<typeof text>[0][]) => messages.filter(({ role }) => role === "tool").map(text)

describe("scripts as people write them", () => {
  const start = (lines: ReadonlyArray<Line>) => {
    const { cwd, hooks } = project()
    const { ran, tools } = recording()
    const { provider, requests } = scripted(lines)
    return { cwd, ran, requests, agent: createAgent({ provider, tools, hooks, cwd }) }
  }

  it("guard commands by exit code and by JSON, rewrite them, and write them down", async () => {
    const { agent, cwd, ran } = start([
      calls(["bash", { command: "cd x && git push origin main" }]),
      calls(["bash", { command: "git push origin topic \"quoted\"" }]),
      calls(["bash", { command: "rm -rf build" }]),
      calls(["bash", { command: "npm install" }]),
      calls(["write_file", { path: ".env", content: "x" }]),
      { text: "done" }
    ])
    await using _ = agent
    write(join(cwd, ".tests-ran"), "")
    const result = await agent.run("go")
    assert.strictEqual(result.status, "completed")
    assert.deepEqual(ran, ["git push origin topic \"quoted\"", "npm ci"])
    const answers = said([...result.messages])
    assert.match(answers[0]!, /Blocked: never push to main, open a pull request instead/)
    assert.match(answers[2]!, /use the trash/)
    assert.match(answers[4]!, /\.env is protected/)
    const logged = readFileSync(join(cwd, "tools.log"), "utf8").trim().split("\n").map((line) => JSON.parse(line))
    assert.deepEqual(logged.map(({ tool_name }) => tool_name), ["Bash", "Bash", "Bash", "Bash", "Write"])
  })

  it(
    "give context when a session begins and when the user speaks, and refuse prompts",
    async () => {
      const { agent, cwd, requests } = start([{ text: "hello" }])
      await using _ = agent
      write(join(cwd, ".tests-ran"), "")
      await agent.run("hello")
      const texts = requests[0]!.messages.map(text).join("\n")
      assert.include(texts, "Project: my project\nUse tabs.")
      assert.include(texts, "The branch is topic.")
      const error = await agent.run("my password is hunter2").then(
        () => assert.fail("expected a refusal"),
        (refused: unknown) => refused
      )
      assert.match(String(error), /rejected preTurn/)
      assert.lengthOf(requests, 1)
    }
  )

  it("keep the agent going, once", async () => {
    const { agent, requests } = start([{ text: "done" }, { text: "really done" }])
    await using _ = agent
    const result = await agent.run("go")
    assert.strictEqual(result.text, "really done")
    assert.lengthOf(requests, 2)
    assert.include(requests[1]!.messages.map(text).join("\n"), "Run the tests before you stop.")
  })

  it("suspend a run that is to be approved, which goes on when it was", async () => {
    const { agent, cwd, ran } = start([calls(["bash", { command: "terraform apply" }]), { text: "applied" }])
    await using _ = agent
    write(join(cwd, ".tests-ran"), "")
    const result = await agent.run("go")
    if (result.status !== "suspended") return assert.fail(result.status)
    assert.deepEqual(ran, [])
    assert.strictEqual(result.pending[0]!.reason, "this changes production")
    const resumed = await agent.resume(result.snapshot, { [result.pending[0]!.callId]: { type: "approve" } })
    assert.strictEqual(resumed.status, "completed")
    assert.deepEqual(ran, ["terraform apply"])
  })

  it("format what was written, and tell the model of what they could not", async () => {
    const { cwd, hooks } = project()
    const { provider, requests } = scripted([
      calls(["write_file", { path: "good.json", content: "{\"a\":1}" }]),
      calls(["write_file", { path: "bad.json", content: "{" }]),
      calls(["write_file", { path: "a.ts", content: "{" }]),
      { text: "done" }
    ])
    const tools = recording().tools.map((tool) =>
      tool.name === "write_file"
        ? {
          ...tool,
          execute: ({ content, path }: { readonly path: string; readonly content: string }) => {
            write(join(cwd, path), content)
            return "written"
          }
        }
        : tool
    )
    await using agent = createAgent({ provider, tools: tools as never, hooks, cwd })
    write(join(cwd, ".tests-ran"), "")
    await agent.run("go")
    assert.strictEqual(readFileSync(join(cwd, "good.json"), "utf8"), "{\n  \"a\": 1\n}\n")
    assert.include(requests.at(-1)!.messages.map(text).join("\n"), "not valid JSON: bad.json")
  })

  it("are gone when the turn they work for is cancelled", async () => {
    const root = folder()
    const word = `w${root.replaceAll(/\W/g, "")}`
    const command = `touch ${join(root, "started")}; trap '' TERM; while :; do sleep 0.01 || : ${word}; done`
    const file = write(
      join(root, "x.json"),
      JSON.stringify({ hooks: { PreToolUse: [{ hooks: [{ type: "command", command }] }] } })
    )
    const { hooks } = HookFiles.load({
      cwd: join(root, "p"),
      home: root,
      sources: [{ dialect: "claude", file }],
      graceMs: 50
    })
    const { ran, tools } = recording()
    const { provider } = scripted([calls(["bash", { command: "ls" }])])
    await using agent = createAgent({ provider, tools, hooks, cwd: root })
    const controller = new AbortController()
    const running = agent.run("go", { signal: controller.signal }).then(({ status }) => status, () => "failed")
    await until(() => existsSync(join(root, "started")))
    controller.abort()
    assert.notStrictEqual(await running, "completed")
    await until(() => alive(word).length === 0)
    assert.deepEqual(ran, [])
  })

  // rows: C-36
  it("never break an agent, whatever they do", async () => {
    const root = folder()
    const word = `w${root.replaceAll(/\W/g, "")}`
    const commands = [
      "head -c 3000000 /dev/urandom",
      "head -c 10000000 /dev/zero | tr '\\0' '{'",
      "kill -9 $$",
      "exec 0<&- 1>&- 2>&-",
      "cat",
      "cat /dev/urandom | head -c 2000 >&2; exit 1",
      "echo '{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"updatedInput\":{\"command\":5}}}'; exit 7",
      "printf '{\"a\":'; printf '[%.0s' {1..20000}",
      `exec -a ${word} sleep 1000`,
      "no-such-command",
      "exit 255",
      "echo '{\"whatever\":1,\"__proto__\":{\"decision\":\"block\"},\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"nope\":true}}'",
      "echo '{\"decision\":\"block\",\"reason\":\"on the wrong side\"}' >&2",
      "echo '{\"hookSpecificOutput\":{\"hookEventName\":\"PostCompact\",\"permissionDecision\":\"deny\"}}'",
      "echo 'permissionDecision: deny, says plain text'"
    ]
    for (const command of commands) {
      const hook = { type: "command", command, timeout: command.includes(word) ? 0.2 : 30 }
      const group = [{ hooks: [hook] }]
      const events = ["UserPromptSubmit", "PreToolUse", "Stop"]
      const file = write(
        join(root, "x.json"),
        JSON.stringify({ hooks: Object.fromEntries(events.map((event) => [event, group])) })
      )
      const { hooks } = HookFiles.load({
        cwd: join(root, "p"),
        home: root,
        sources: [{ dialect: "claude", file }],
        graceMs: 50
      })
      const { ran, tools } = recording()
      const { provider } = scripted([calls(["bash", { command: "ls" }]), { text: "done" }])
      const agent = createAgent({ provider, tools, hooks, cwd: root })
      const result = await agent.run("go")
      await agent[Symbol.asyncDispose]()
      assert.strictEqual(result.status, "completed", command)
      // Arguments that do not fit the tool neither run it nor stop the agent.
      if (!command.includes("updatedInput")) assert.deepEqual(ran, ["ls"], command)
      assert.deepEqual(alive(word), [])
    }
  })

  // rows: C-53
  it("are events for whoever listens", async () => {
    const root = folder()
    const file = write(
      join(root, "x.json"),
      JSON.stringify({ hooks: { PreToolUse: [{ hooks: [{ type: "command", command: "echo hi; exit 2" }] }] } })
    )
    const { hooks } = HookFiles.load({ cwd: join(root, "p"), home: root, sources: [{ dialect: "claude", file }] })
    const { provider } = scripted([calls(["bash", { command: "ls" }])])
    await using agent = createAgent({ provider, tools: recording().tools, hooks, cwd: root })
    const found: Array<AgentEvent> = []
    for await (const event of agent.stream("go")) if (event.type === "custom") found.push(event)
    const [run] = found
    if (run?.type !== "custom") return assert.fail("expected an event")
    assert.strictEqual(run.name, "hook-run")
    assert.deepInclude(run.payload, {
      event: "PreToolUse",
      outcome: "blocking",
      exitCode: 2,
      stdout: "hi\n",
      command: "echo hi; exit 2"
    })
  })
})

describe("scripts and sub-agents", () => {
  it("see them start and stop, add context, and keep them going", async () => {
    const root = folder()
    const log = join(root, "log")
    const note = `tee -a ${log} > /dev/null`
    const hooks = {
      SessionStart: [{ hooks: [{ type: "command", command: note }] }],
      UserPromptSubmit: [{ hooks: [{ type: "command", command: note }] }],
      SubagentStart: [{
        matcher: "helper",
        hooks: [{
          type: "command",
          command:
            `${note}; echo '{"hookSpecificOutput":{"hookEventName":"SubagentStart","additionalContext":"Use tabs."}}'`
        }]
      }],
      SubagentStop: [{
        hooks: [{
          type: "command",
          command: `grep -q '"stop_hook_active":true' && exit 0; echo 'and the tests?' >&2; exit 2`
        }]
      }],
      Stop: [{ hooks: [{ type: "command", command: note }] }]
    }
    const file = write(join(root, "x.json"), JSON.stringify({ hooks }))
    const loaded = HookFiles.load({ cwd: join(root, "p"), home: root, sources: [{ dialect: "claude", file }] })
    assert.deepEqual(loaded.warnings, [])
    const inner = scripted([{ text: "half done" }, { text: "all done" }])
    const helper = createAgent({ name: "helper", provider: inner.provider })
    const outer = scripted([calls(["ask_helper", { message: "do it" }]), { text: "thanks" }])
    await using agent = createAgent({
      provider: outer.provider,
      tools: [agentTool({ name: "ask_helper", description: "Asks the helper", agent: helper })],
      hooks: loaded.hooks,
      cwd: root
    })
    const result = await agent.run("go")
    assert.strictEqual(result.text, "thanks")
    assert.include(inner.requests[0]!.messages.map(text).join("\n"), "Use tabs.")
    assert.include(inner.requests[1]!.messages.map(text).join("\n"), "and the tests?")
    assert.include(said([...result.messages])[0]!, "all done")
    const events = readFileSync(log, "utf8").trim().split("\n").map((line) => JSON.parse(line))
    assert.deepEqual(events.map(({ agent_type, hook_event_name }) => [hook_event_name, agent_type]), [
      ["SessionStart", undefined],
      ["UserPromptSubmit", undefined],
      ["SubagentStart", "helper"],
      ["Stop", undefined]
    ])
  })
})
