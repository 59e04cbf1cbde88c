/** Scripts for Gemini CLI as people write them, unmodified, in an agent that runs. */
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import { text } from "@belay/core/Message"
import type { RuntimePolicy } from "@belay/core/RuntimePolicy"
import { unrestricted } from "@belay/core/Tool"
import * as Gemini from "@belay/hook-files/Gemini"
import { assert, describe, it } from "@effect/vitest"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { calls, type Line, recording, scripted } from "../../../../../test/support/agent.ts"
import { alive, folder, until, write } from "../../support/processes.ts"

/** Keeps a list of the tools that were called, with jq where it is. */
const logTools = `#!/usr/bin/env bash
event=$(cat)
name() {
  if command -v jq > /dev/null; then jq -r .tool_name; else sed -n 's/.*"tool_name":"\\([^"]*\\)".*/\\1/p'; fi
}
called=$(name <<< "$event")
printf '%s %s\\n' "$called" "$GEMINI_SESSION_ID" >> "$GEMINI_PROJECT_DIR/.gemini/tools.txt"
echo "noted $called" >&2
echo '{}'
`

/** Keeps credentials out of files, in bash. */
const blockSecrets = `#!/usr/bin/env bash
if grep -Eiq 'token=|api_key=' -; then
  printf '%s' '{"decision":"deny","reason":"this file would hold a credential","systemMessage":"a credential was kept out of a file"}'
else
  printf '%s' '{"decision":"allow"}'
fi
`

/** Rewrites commands, in python. */
const rewrite = `#!/usr/bin/env python3
import json, sys
data = json.load(sys.stdin)
command = data["tool_input"]["command"]
if command.startswith("rm "):
    print("use the trash instead", file=sys.stderr)
    sys.exit(2)
if command.startswith("npm install"):
    json.dump({"hookSpecificOutput": {"hookEventName": "BeforeTool", "tool_input": {"command": command.replace("install", "ci")}}}, sys.stdout)
`

/** Routes a tool to another, in node. */
const route = `#!/usr/bin/env node
const input = JSON.parse(require('fs').readFileSync(0, 'utf8'))
if (input.tool_name === 'read_file' && !input.original_request_name) {
  console.log(JSON.stringify({ hookSpecificOutput: {
    hookEventName: 'AfterTool',
    additionalContext: 'from the cache',
    tailToolCallRequest: { name: 'run_shell_command', args: { command: 'cat ' + input.tool_input.file_path } }
  } }))
} else {
  console.log(JSON.stringify({ decision: 'allow', systemMessage: input.tool_name + ' for ' + input.original_request_name }))
}
`

/** Answers without the model, filters its tools and hides a key in what it says, in node. */
const model = `#!/usr/bin/env node
const input = JSON.parse(require('fs').readFileSync(0, 'utf8'))
const event = input.hook_event_name
const last = input.llm_request.messages.at(-1)?.content ?? ''
if (event === 'BeforeModel' && last.includes('ping')) {
  console.log(JSON.stringify({ hookSpecificOutput: { hookEventName: event, llm_response: { candidates: [{ content: { role: 'model', parts: ['pong'] }, finishReason: 'STOP' }] } } }))
} else if (event === 'BeforeToolSelection') {
  console.log(JSON.stringify({ hookSpecificOutput: { hookEventName: event, toolConfig: { mode: 'ANY', allowedFunctionNames: ['read_file', 'write_file'] } } }))
} else if (event === 'AfterModel' && input.llm_response.text.includes('sk-')) {
  const text = input.llm_response.text.replace(/sk-\\w+/g, '[hidden]')
  console.log(JSON.stringify({ hookSpecificOutput: { hookEventName: event, llm_response: { candidates: [{ content: { role: 'model', parts: [text] } }] } } }))
} else {
  console.log('{}')
}
`

/** Rejects an answer until it is good, in python. */
const validate = `#!/usr/bin/env python3
import json, sys
data = json.load(sys.stdin)
with open("answers.log", "a") as log:
    log.write(json.dumps([data["prompt"], data["prompt_response"], data["stop_hook_active"]]) + "\\n")
if "Summary" not in data["prompt_response"]:
    print(json.dumps({"decision": "deny", "reason": "Add a Summary.", "hookSpecificOutput": {"hookEventName": "AfterAgent", "clearContext": "CLEAR" in data["prompt"]}}))
else:
    print(json.dumps({"decision": "allow"}))
`

const scripts = {
  "note-tools.sh": logTools,
  "credentials.sh": blockSecrets,
  "rewrite.py": rewrite,
  "route.js": route,
  "model.js": model,
  "validate.py": validate
}

const start = (
  hooks: object,
  lines: ReadonlyArray<Line>,
  more: { readonly policy?: RuntimePolicy; readonly transcripts?: string; readonly drainMs?: number } = {}
) => {
  const cwd = join(folder(), "my project")
  for (const [name, script] of Object.entries(scripts)) write(join(cwd, ".gemini/hooks", name), script)
  const settings = `// hooks of the project\n${JSON.stringify({ hooks })}`
  const { handlers, warnings } = Gemini.decode(settings, join(cwd, ".gemini/settings.json"))
  assert.deepEqual(warnings, [])
  const { ran, tools } = recording()
  const { provider, requests } = scripted(lines)
  const { policy, ...rest } = more
  const hook = Gemini.make({ handlers, projectDir: cwd, ...rest })
  const agent = createAgent({ provider, tools, hooks: [hook], cwd, ...(policy === undefined ? {} : { policy }) })
  return { cwd, ran, requests, agent }
}

describe("the life of scripts for Gemini CLI", () => {
  it("keep a transcript, where there is a folder for it", { timeout: 60_000 }, async () => {
    const transcripts = folder()
    const { agent, cwd } = start({
      AfterAgent: [{ hooks: [{ type: "command", command: "cat > \"$GEMINI_PROJECT_DIR/in.json\"" }] }]
    }, [
      calls(["bash", { command: "ls" }]),
      { text: "done" }
    ], { transcripts })
    await using _ = agent
    await agent.run("go")
    const { transcript_path } = JSON.parse(readFileSync(join(cwd, "in.json"), "utf8"))
    assert.lengthOf(readFileSync(transcript_path, "utf8").trim().split("\n"), 4)
  })

  // rows: U-10
  it(
    "that take too long are ended with all that they started, and the call goes on",
    { timeout: 60_000 },
    async () => {
      const word = "3607.5"
      const { agent, ran } = start(
        { BeforeTool: [{ hooks: [{ type: "command", command: `sleep ${word} & sleep ${word}`, timeout: 300 }] }] },
        [
          calls(["bash", { command: "ls" }])
        ]
      )
      await using _ = agent
      const warnings: Array<string> = []
      agent.on((event) => void (event.type === "warning" && warnings.push(event.message)))
      await agent.run("go")
      assert.deepEqual(ran, ["ls"])
      assert.deepEqual(alive(word), [])
      assert.match(warnings.join("\n"), /took too long and was ended/)
    }
  )

  const policy: RuntimePolicy = { check: () => ({ type: "ask", reason: "deploys are approved", grant: unrestricted }) }

  it("that nobody waits for have a little time after the session", { timeout: 60_000 }, async () => {
    const line = "touch begun; until [ -f closed ]; do sleep 0.01; done; echo played > sound"
    const hooks = { Notification: [{ matcher: "ToolPermission", hooks: [{ type: "command", command: line }] }] }
    const { agent, cwd } = start(hooks, [calls(["bash", { command: "deploy" }])], { policy })
    await agent.run("go")
    await until(() => existsSync(join(cwd, "begun")))
    const closing = agent.close()
    writeFileSync(join(cwd, "closed"), "")
    await closing
    assert.isTrue(existsSync(join(cwd, "sound")))
  })

  it("see that a person is asked, and nobody waits for them", { timeout: 60_000 }, async () => {
    const { agent, cwd } = start(
      {
        Notification: [{
          matcher: "ToolPermission",
          hooks: [{ type: "command", command: `cat > note.tmp; mv note.tmp note.json; exec sleep 3608.${process.pid}` }]
        }]
      },
      [calls(["bash", { command: "deploy" }])],
      { policy, drainMs: 300 }
    )
    const result = await agent.run("go")
    assert.strictEqual(result.status, "suspended")
    await until(() => existsSync(join(cwd, "note.json")))
    const { details, message, notification_type } = JSON.parse(readFileSync(join(cwd, "note.json"), "utf8"))
    assert.strictEqual(notification_type, "ToolPermission")
    assert.match(message, /run_shell_command/)
    assert.deepInclude(details, { type: "exec", title: "deploys are approved", tool_input: { command: "deploy" } })
    await agent[Symbol.asyncDispose]()
    await until(() => alive(`3608.${process.pid}`).length === 0)
  })

  // rows: C-30
  it("are gone when the turn they work for is cancelled", { timeout: 60_000 }, async () => {
    const word = "3609.5"
    const { agent, cwd, ran } = start({
      BeforeTool: [{ hooks: [{ type: "command", command: `touch started; sleep ${word}` }] }]
    }, [
      calls(["bash", { command: "ls" }])
    ])
    await using _ = agent
    const controller = new AbortController()
    const running = agent.run("go", { signal: controller.signal }).then(({ status }) => status, () => "failed")
    await until(() => existsSync(join(cwd, "started")))
    controller.abort()
    assert.notStrictEqual(await running, "completed")
    await until(() => alive(word).length === 0)
    assert.deepEqual(ran, [])
  })

  // rows: C-36
  it("never break an agent, whatever they do", { timeout: 120_000 }, async () => {
    const commands = [
      "head -c 3000000 /dev/urandom",
      "kill -9 $$",
      "exec 0<&- 1>&- 2>&-",
      "printf '{\"a\":'; printf '[%.0s' {1..20000}",
      "exit 255",
      "exit 1",
      "echo '{\"hookSpecificOutput\":{\"tool_input\":[],\"llm_request\":7,\"llm_response\":\"x\",\"toolConfig\":[],\"tailToolCallRequest\":{\"name\":1},\"clearContext\":\"yes\"}}'"
    ]
    const events = [
      "SessionStart",
      "BeforeAgent",
      "BeforeModel",
      "BeforeToolSelection",
      "AfterModel",
      "BeforeTool",
      "AfterTool",
      "AfterAgent",
      "SessionEnd"
    ]
    for (const command of commands) {
      const hooks = Object.fromEntries(events.map((event) => [event, [{ hooks: [{ type: "command", command }] }]]))
      const { agent, ran } = start(hooks, [calls(["bash", { command: "ls" }]), { text: "done" }])
      const result = await agent.run("go")
      await agent[Symbol.asyncDispose]()
      assert.strictEqual(result.status, "completed", command)
      assert.deepEqual([ran, result.text], [["ls"], "done"], command)
    }
  })

  // rows: C-53
  it("are events for whoever listens", { timeout: 60_000 }, async () => {
    const { agent } = start({ BeforeTool: [{ hooks: [{ type: "command", command: "echo no >&2; exit 2" }] }] }, [
      calls(["bash", { command: "ls" }])
    ])
    await using _ = agent
    const runs: Array<unknown> = []
    agent.on((event) => void (event.type === "custom" && runs.push(event.name, event.payload)))
    await agent.run("go")
    assert.strictEqual(runs[0], "hook-run")
    assert.deepInclude(runs[1] as object, {
      event: "BeforeTool",
      outcome: "blocking",
      exitCode: 2,
      stderr: "no\n",
      command: "echo no >&2; exit 2"
    })
  })

  // rows: U-03
  it("stop a turn without forgetting what the user said", { timeout: 60_000 }, async () => {
    const stop = `grep -q 'stop now' && echo '{"continue":false,"stopReason":"outside of office hours"}' || echo '{}'`
    const { agent, requests } = start({ BeforeAgent: [{ hooks: [{ type: "command", command: stop }] }] }, [{
      text: "hello"
    }])
    await using _ = agent
    const session = await agent.session()
    const first = await session.run("stop now")
    assert.deepEqual([first.status, first.text], ["aborted", "outside of office hours"])
    await session.run("and?")
    assert.deepEqual(requests.map(({ messages }) => messages.map(text)), [["stop now", "and?"]])
  })

  it("route to the tool that has exactly this name, before one that is only like it", { timeout: 60_000 }, async () => {
    const tail = JSON.stringify({
      hookSpecificOutput: { tailToolCallRequest: { name: "run_shell_command", args: { command: "ls" } } }
    })
    const named = (name: string) =>
      defineTool({ name, description: name, input: { type: "object" }, execute: () => `from ${name}` })
    const { provider } = scripted([calls(["read_file", { path: "a" }])])
    const { handlers } = Gemini.decode(
      JSON.stringify({
        hooks: { AfterTool: [{ matcher: "read_file", hooks: [{ type: "command", command: `echo '${tail}'` }] }] }
      }),
      "settings.json"
    )
    await using agent = createAgent({
      provider,
      cwd: folder(),
      tools: ["bash", "read_file", "run_shell_command"].map(named),
      hooks: [Gemini.make({ handlers, projectDir: "/" })]
    })
    const { messages } = await agent.run("go")
    assert.strictEqual(text(messages.find(({ role }) => role === "tool")!), "from run_shell_command")
  })
})
