/** The processes and files of scripts for Gemini CLI, in an agent that runs. */
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import { text } from "@belay/core/Message"
import type { RuntimePolicy } from "@belay/core/RuntimePolicy"
import { unrestricted } from "@belay/core/Tool"
import * as Gemini from "@belay/hook-files/Gemini"
import { assert, describe, it } from "@effect/vitest"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { calls, scripted } from "../../../../../test/support/agent.ts"
import { alive, folder, until } from "../../support/processes.ts"
import { start } from "./scripts.ts"

describe("the life of scripts for Gemini CLI", () => {
  it("keep a transcript, where there is a folder for it", async () => {
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

  it("that nobody waits for have a little time after the session", async () => {
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

  it("see that a person is asked, and nobody waits for them", async () => {
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
  it("are gone when the turn they work for is cancelled", async () => {
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
  it("never break an agent, whatever they do", async () => {
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
  it("are events for whoever listens", async () => {
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
  it("stop a turn without forgetting what the user said", async () => {
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

  it("route to the tool that has exactly this name, before one that is only like it", async () => {
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
