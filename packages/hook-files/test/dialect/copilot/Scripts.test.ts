/** Scripts for GitHub Copilot as people write them, unmodified, in an agent that runs. */
import { agentTool } from "@belay/core/agentTool"
import { createAgent } from "@belay/core/createAgent"
import type { LlmProvider } from "@belay/core/LlmProvider"
import { text } from "@belay/core/Message"
import * as Copilot from "@belay/hook-files/Copilot"
import * as Runners from "@belay/hook-files/Runners"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { existsSync, readFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { calls, type Line, recording, scripted } from "../../../../../test/support/agent.ts"
import { overloaded } from "../../../../../test/support/events.ts"
import { alive, folder, until, write } from "../../support/processes.ts"

/** Denies commands that change the machine, in bash with jq where it is. */
const security = `#!/bin/bash
set -euo pipefail
event=$(cat)
if command -v jq > /dev/null; then
  tool=$(jq -r .toolName <<< "$event")
  line=$(jq -r '.toolArgs | fromjson | .command // ""' <<< "$event")
else
  tool=$(sed -n 's/.*"toolName":"\\([^"]*\\)".*/\\1/p' <<< "$event")
  line=$(sed -n 's/.*"command":"\\([^"]*\\)".*/\\1/p' <<< "$event")
fi
echo '{"type": "progress", "message": "looking at the command"}'
case "$tool:$line" in
  bash:sudo*|bash:*shutdown*)
    echo '{"permissionDecision":"deny","permissionDecisionReason":"this would change the machine"}'
    exit 0 ;;
esac
echo "allowed $tool $MODE" >> "$LOG_DIR/audit.log"
`

/** Allows edits below src only, in python. */
const onlySrc = `#!/usr/bin/env python3
import json, sys
data = json.load(sys.stdin)
args = json.loads(data["toolArgs"])
path = args["path"]
if "/src/" not in f"/{path}":
    print(json.dumps({"permissionDecision": "deny", "permissionDecisionReason": f"{path} is outside of src"}))
    sys.exit(0)
print(json.dumps({"modifiedArgs": {**args, "file_text": args["file_text"] + "\\n"}}))
`

/** A guard for another tool, in python: reads Claude's fields. */
const protect = `#!/usr/bin/env python3
import json, sys
data = json.load(sys.stdin)
if data["hook_event_name"] == "PreToolUse" and data["tool_name"] == "Write" and data["tool_input"]["file_path"].endswith(".lock"):
    print("lock files are generated", file=sys.stderr)
    sys.exit(2)
`

/** Hides keys in results, in node. */
const redact = `
let raw = ''
process.stdin.on('data', (chunk) => (raw += chunk)).on('end', () => {
  const { toolResult } = JSON.parse(raw)
  const textResultForLlm = toolResult.textResultForLlm.replaceAll(process.argv[2], '[hidden]')
  if (textResultForLlm !== toolResult.textResultForLlm) {
    console.log(JSON.stringify({ modifiedResult: { resultType: 'success', textResultForLlm }, additionalContext: process.argv[3] }))
  }
})
`

const start = (
  hooks: object,
  lines: ReadonlyArray<Line>,
  options: Partial<Copilot.Options> = {},
  provider?: LlmProvider
) => {
  const cwd = join(folder(), "my project")
  write(join(cwd, "scripts/security.sh"), security)
  write(join(cwd, "scripts/only-src.py"), onlySrc)
  write(join(cwd, "scripts/protect.py"), protect)
  write(join(cwd, "scripts/redact.cjs"), redact)
  const { handlers, warnings } = Copilot.decode(
    JSON.stringify({ version: 1, hooks }),
    join(cwd, ".github/hooks/hooks.json")
  )
  assert.deepEqual(warnings, [])
  const { ran, tools } = recording()
  const model = scripted(lines)
  const hook = Copilot.make({ handlers, projectDir: cwd, ...options })
  const agent = createAgent({ provider: provider ?? model.provider, tools, hooks: [hook], cwd })
  const heard = {
    warnings: [] as Array<string>,
    notices: [] as Array<string>,
    custom: [] as Array<{ name: string; payload: unknown }>
  }
  agent.on((event) => {
    if (event.type === "warning") heard.warnings.push(event.message)
    if (event.type === "notice") heard.notices.push(event.message)
    if (event.type === "custom") heard.custom.push(event)
  })
  return { cwd, ran, requests: model.requests, agent, heard }
}

const said = (messages: ReadonlyArray<Parameters<typeof text>[0]>) =>
  messages.filter(({ role }) => role === "tool").map(text)

describe("scripts for GitHub Copilot", () => {
  // rows: C-53
  it("guard and change calls of tools, write them down, and are events", async () => {
    const { agent, cwd, heard, ran } = start({
      preToolUse: [
        {
          type: "command",
          bash: "./security.sh",
          powershell: "./security.ps1",
          cwd: "scripts",
          env: { LOG_DIR: "$COPILOT_PROJECT_DIR", MODE: "strict" },
          timeoutSec: 15
        },
        { matcher: "create|edit", exec: "python3", args: ["scripts/only-src.py"] }
      ],
      PreToolUse: [{
        matcher: "Edit|Write",
        hooks: [{ type: "command", command: "\"$CLAUDE_PROJECT_DIR\"/scripts/protect.py" }]
      }]
    }, [
      calls(["bash", { command: "sudo reboot" }], ["bash", { command: "npm test" }]),
      calls(["write_file", { path: "a.md", content: "x" }], ["write_file", { path: "src/a.ts", content: "x" }], [
        "write_file",
        {
          path: "src/a.lock",
          content: "x"
        }
      ])
    ])
    await using _ = agent
    const { messages, status } = await agent.run("go")
    assert.strictEqual(status, "completed")
    assert.deepEqual(ran, ["npm test", "write src/a.ts"])
    const answers = said(messages)
    assert.include(answers[0]!, "this would change the machine")
    assert.include(answers[2]!, "is outside of src")
    assert.include(answers[4]!, "lock files are generated")
    const log = readFileSync(join(cwd, "audit.log"), "utf8").trim().split("\n")
    assert.sameMembers(log.map((line) => line.split(" ").slice(-2).join(" ")), [
      "bash strict",
      ...Array.from({ length: 3 }, () => "create strict")
    ])
    const runs = heard.custom.flatMap(({ name, payload }) =>
      name === "hook-run" ? [payload as { readonly [field: string]: unknown }] : []
    )
    const blocking = runs.find(({ outcome }) => outcome === "blocking") ?? {}
    assert.deepInclude(blocking, { event: "preToolUse", command: "./security.sh", exitCode: 0 })
    assert.deepInclude(heard.custom.find(({ name }) => name === "hook-progress")?.payload as object, {
      message: "looking at the command"
    })
  })

  it("change results, in node without a shell", async () => {
    const { agent } = start({
      postToolUse: [{
        matcher: "bash",
        exec: process.execPath,
        args: ["redact.cjs", "done", "$HOME is no variable; nothing is"],
        cwd: "scripts"
      }]
    }, [calls(["bash", { command: "env" }], ["read_file", { path: "a" }])])
    await using _ = agent
    assert.deepEqual(said((await agent.run("go")).messages), ["[hidden]\n\n$HOME is no variable; nothing is", "done"])
  })

  // rows: U-08
  it("keep a tool from running when they crash, not when they take too long", async () => {
    const word = `3610.${process.pid}`
    const commands = [
      "exit 1",
      "no-such-command",
      "kill -9 $$",
      "echo '{\"permissionDecision\":\"allow\"}'; exit 3",
      "head -c 11000000 /dev/zero"
    ]
    for (const command of commands) {
      const { agent, ran } = start({ preToolUse: [{ bash: command }] }, [calls(["bash", { command: "ls" }]), {
        text: "done"
      }])
      const { messages, status } = await agent.run("go")
      await agent[Symbol.asyncDispose]()
      assert.deepEqual([status, ran], ["completed", []], command)
      assert.include(said(messages)[0]!, "Denied by preToolUse hook (hook errored)")
    }
    const { agent, heard, ran } = start({ preToolUse: [{ bash: `sleep ${word} & sleep ${word}`, timeoutSec: 0.3 }] }, [
      calls(["bash", { command: "ls" }])
    ])
    await using _ = agent
    await agent.run("go")
    assert.deepEqual([ran, alive(word)], [["ls"], []])
    assert.match(heard.warnings.join("\n"), /took too long and was ended/)
  })

  it("may say up to 10 MiB", async () => {
    const { agent, ran } = start({
      preToolUse: [{
        bash:
          "printf '{\"permissionDecision\":\"allow\",\"x\":\"'; head -c 3000000 /dev/zero | tr '\\0' x; printf '\"}'"
      }]
    }, [calls(["bash", { command: "ls" }])])
    await using _ = agent
    await agent.run("go")
    assert.deepEqual(ran, ["ls"])
  })

  it("begin a session with a prompt, change a prompt of the user, and see the end", async () => {
    const { agent, cwd, requests } = start({
      sessionStart: [{ type: "prompt", prompt: "Read the guidelines." }, {
        bash: "echo '{\"additionalContext\":\"Use tabs.\"}'"
      }],
      userPromptSubmitted: [{ bash: "cat > prompt.json" }],
      userPromptTransformed: [{
        bash: "sed 's/.*\"transformedPrompt\":\"\\([^\"]*\\)\".*/{\"modifiedTransformedPrompt\":\"\\1, please\"}/'"
      }],
      sessionEnd: [{ bash: "cat > end.json" }]
    }, [{ text: "hello" }])
    await agent.run("fix it")
    await agent[Symbol.asyncDispose]()
    assert.deepEqual(requests[0]!.messages.map(text), ["Use tabs.", "Read the guidelines.", "fix it, please"])
    const read = (name: string) => JSON.parse(readFileSync(join(cwd, name), "utf8"))
    assert.deepInclude(read("prompt.json"), { prompt: "fix it", cwd })
    assert.strictEqual(read("end.json").reason, "complete")
  })

  // rows: U-22
  it("keep the agent going until they are content, but not for ever", async () => {
    const once =
      "if [ -f .verified ]; then exit 0; fi; touch .verified; echo '{\"decision\":\"block\",\"reason\":\"Run the tests.\"}'"
    const { agent, requests } = start({ agentStop: [{ bash: once }] }, [{ text: "done" }, { text: "really done" }])
    await using _ = agent
    assert.strictEqual((await agent.run("go")).text, "really done")
    assert.include(requests[1]!.messages.map(text), "Run the tests.")
    const block = "echo '{\"decision\":\"block\",\"reason\":\"again\"}'"
    const { agent: stubborn, heard, requests: asked } = start(
      { agentStop: [{ bash: block }] },
      Array.from({ length: 20 }, (_, index) => ({ text: `${index}` }))
    )
    await using __ = stubborn
    const result = await stubborn.run("go")
    assert.deepEqual([result.status, result.text, asked.length], ["completed", "8", 9])
    assert.match(heard.warnings.join("\n"), /8 times in a row/)
  })

  it(
    "see errors by where they happened, and retry a call of the model",
    async () => {
      let attempts = 0
      const provider: LlmProvider = {
        name: "one",
        complete: () =>
          Effect.suspend(() =>
            ++attempts === 1
              ? Effect.fail(overloaded)
              : Effect.succeed({ model: "m", text: "fine", toolCalls: [], finishReason: "stop" as const })
          )
      }
      const { agent, cwd, heard } = start(
        {
          errorOccurred: [{
            bash:
              "cat >> errors.log; echo '{\"errorHandling\":\"retry\",\"retryCount\":3,\"userNotification\":\"The model is busy.\"}'"
          }]
        },
        [],
        {},
        provider
      )
      await using _ = agent
      assert.strictEqual((await agent.run("go")).text, "fine")
      assert.deepInclude(JSON.parse(readFileSync(join(cwd, "errors.log"), "utf8")), {
        errorContext: "model_call",
        recoverable: true
      })
      assert.deepEqual(heard.notices, ["The model is busy."])
    }
  )

  it("see sub-agents, add context, and change their answers", async () => {
    const inner = scripted([{ text: "a long report" }])
    const helper = createAgent({ name: "helper", provider: inner.provider })
    const outer = scripted([calls(["ask_helper", { message: "do it" }]), { text: "thanks" }])
    const cwd = folder()
    const text_ = JSON.stringify({
      hooks: {
        subagentStart: [{ bash: "echo '{\"additionalContext\":\"Use tabs.\"}'" }],
        SubagentStop: [{
          bash: "grep -q '\"last_assistant_message\":\"a long report\"' && echo '{\"modifiedResponse\":\"a report\"}'"
        }],
        Stop: [{ bash: "cat > stop.json" }]
      }
    })
    const hook = Copilot.make({ handlers: Copilot.decode(text_, "f").handlers, projectDir: cwd })
    const tools = [agentTool({ name: "ask_helper", description: "Asks the helper", agent: helper })]
    await using agent = createAgent({ provider: outer.provider, tools, hooks: [hook], cwd })
    const { messages } = await agent.run("go")
    assert.include(inner.requests[0]!.messages.map(text), "Use tabs.\n\ndo it")
    assert.deepEqual(said(messages), ["a report"])
    assert.isTrue(existsSync(join(cwd, "stop.json")))
  })

  it("are asked over HTTP, which lets everything be when it fails", async () => {
    const bodies: Array<{ readonly toolName: string }> = []
    const server = createServer((request, response) => {
      let body = ""
      request.on("data", (chunk: Buffer) => void (body += chunk.toString())).on("end", () => {
        bodies.push(JSON.parse(body))
        response.statusCode = request.url === "/broken" ? 500 : 200
        response.end(JSON.stringify({ additionalContext: "from the server" }))
      })
    })
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", () => resolve()))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const runners: Runners.Runners = ({ input, work }) =>
      Effect.promise(async () => {
        if (work.type !== "http") return assert.fail(work.type)
        const answer = await fetch(work.url, {
          method: "POST",
          body: JSON.stringify(input),
          headers: { ...work.headers }
        })
        const failed = { timedOut: false, overflowed: false, durationMs: 1 }
        return {
          exitCode: answer.ok ? 0 : 1,
          stdout: await answer.text(),
          stderr: answer.ok ? "" : `status ${answer.status}`,
          ...failed
        }
      })
    const { agent, heard } = start({
      postToolUse: [{ type: "http", url: `${url}/ok` }, { type: "http", url: `${url}/broken` }]
    }, [
      calls(["bash", { command: "ls" }])
    ], { runners })
    await using _ = agent
    const { messages } = await agent.run("go")
    server.close()
    assert.deepEqual(said(messages), ["done\n\nfrom the server"])
    assert.deepEqual(bodies.map(({ toolName }) => toolName), ["bash", "bash"])
    assert.match(heard.warnings.join("\n"), /ended with 1: status 500/)
    const { agent: other, heard: told } = start({ postToolUse: [{ type: "http", url }] }, [
      calls(["bash", { command: "ls" }])
    ])
    await using __ = other
    assert.strictEqual((await other.run("go")).status, "completed")
    assert.match(told.warnings.join("\n"), /ended with 1: .*(refused|not allowed|private|loopback|https)/i)
  })

  // rows: C-30
  it("are gone when the turn they work for is cancelled", async () => {
    const word = "3611.5"
    const { agent, cwd, ran } = start({ preToolUse: [{ bash: `touch started; sleep ${word}` }] }, [
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
  it("never break an agent, whatever they do", async () => {
    const commands = [
      "head -c 3000000 /dev/urandom",
      "kill -9 $$",
      "exec 0<&- 1>&- 2>&-",
      "printf '{\"a\":'; printf '[%.0s' {1..20000}",
      "exit 255",
      "echo '{\"modifiedResult\":[],\"modifiedPrompt\":{},\"decision\":7,\"additionalContext\":[],\"errorHandling\":\"explode\",\"hookSpecificOutput\":3}'"
    ]
    const events = [
      "sessionStart",
      "userPromptSubmitted",
      "userPromptTransformed",
      "postToolUse",
      "agentStop",
      "errorOccurred",
      "sessionEnd"
    ]
    for (const command of commands) {
      const hooks = Object.fromEntries(events.map((event) => [event, [{ bash: command }]]))
      const { agent, ran } = start(hooks, [calls(["bash", { command: "ls" }]), { text: "done" }])
      const result = await agent.run("go")
      await agent[Symbol.asyncDispose]()
      assert.deepEqual([result.status, ran, result.text], ["completed", ["ls"], "done"], command)
    }
  })
})
