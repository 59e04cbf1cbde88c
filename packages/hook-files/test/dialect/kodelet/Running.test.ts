import { agentTool } from "@belay/core/agentTool"
import { createAgent } from "@belay/core/createAgent"
import { text } from "@belay/core/Message"
import * as Kodelet from "@belay/hook-files/Kodelet"
import * as Runners from "@belay/hook-files/Runners"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { calls, scripted } from "../../../../../test/support/agent.ts"
import { alive, folder, until, write } from "../../support/processes.ts"
import { records, script, world } from "./support.ts"

const hooks = ".kodelet/hooks"
const bash = (command: string) => calls(["bash", { command }])

describe("Kodelet, while it runs", () => {
  // rows: D-22
  it("ends what takes too long, with what it started, and goes on", async () => {
    const word = `kodelet-sleeper-${process.pid}`
    const { agent } = world({
      [`${hooks}/x`]: script("before_tool_call", `bash -c 'exec -a ${word} sleep 600' & wait`)
    })
    const { agent: made, ran, warnings } = agent([bash("ls")], { timeoutMs: 300 })
    await using _ = made
    await made.run("go")
    assert.deepEqual(ran, ["ls"])
    assert.match(warnings.join(), /took too long and was ended/)
    assert.deepEqual(alive(word), [])
  })

  // rows: D-22
  it.effect("gives a run thirty seconds", () =>
    Effect.gen(function*() {
      const given: Array<number> = []
      const runners: Runners.Runners = ({ timeoutMs }) =>
        Effect.sync(() => {
          given.push(timeoutMs)
          return {
            exitCode: 0,
            stdout: "user_message_send",
            stderr: "",
            timedOut: false,
            overflowed: false,
            durationMs: 1
          }
        })
      const { found } = world({ [`${hooks}/a`]: "#!/bin/bash\n" })
      const agent = createAgent({
        provider: scripted([]).provider,
        hooks: [Kodelet.make({ handlers: found.handlers, projectDir: "/", runners })]
      })
      yield* Effect.promise(() => agent.run("go"))
      assert.deepEqual(given, [5_000, 30_000])
    }))

  it("a run that is cancelled leaves no process behind", async () => {
    const word = "kodelet-sleeper-4712"
    const { agent, cwd } = world({
      [`${hooks}/x`]: script("before_tool_call", `touch started; exec -a ${word} sleep 600`)
    })
    const { agent: made } = agent([bash("ls")])
    await using _ = made
    const controller = new AbortController()
    const running = made.run("go", { signal: controller.signal }).catch(() => "cancelled")
    await until(() => alive(word).length > 0)
    controller.abort()
    assert.strictEqual(await running, "cancelled")
    await until(() => alive(word).length === 0)
    assert.isString(cwd)
  })

  // rows: D-30, D-31, D-32
  it("run nothing where they are switched off, for good or for one turn, and nothing where there are none", async () => {
    const { agent, hook, told } = world({ [`${hooks}/x`]: records("user_message_send") })
    const { agent: off } = agent([], { enabled: false })
    await using _off = off
    await off.run("go")
    const { agent: made } = agent([bash("ls")])
    await using _ = made
    await made.run({ message: "commit", metadata: { hooks: "none" } })
    assert.deepEqual(told(), [])
    await made.run("go")
    assert.lengthOf(told(), 1)
    const none = createAgent({ provider: scripted([]).provider, hooks: [{ ...hook({ handlers: [] }), name: "none" }] })
    assert.strictEqual((await none.run("go")).text, "the end")
  })

  // rows: D-33
  it("tells hooks who is at work: the agent or one of its sub-agents", async () => {
    const { agent, told } = world({
      [`${hooks}/x`]: records("before_tool_call"),
      [`${hooks}/y`]: records("user_message_send")
    })
    const helper = createAgent({ name: "helper", provider: scripted([bash("inner")]).provider, tools: [] })
    const { agent: made } = agent([calls(["helper", { message: "help" }])], {}, {
      tools: [agentTool({ name: "helper", agent: helper, description: "helps" })]
    })
    await using _ = made
    await made.run({ message: "go", metadata: { recipe: "intro" } })
    const [first, , third] = told()
    assert.deepInclude(first!, { event: "user_message_send", invoked_by: "main" })
    assert.deepInclude(third!, {
      event: "user_message_send",
      invoked_by: "subagent",
      message: "help",
      recipe_name: "intro"
    })
  })

  it("a project's executable never takes the place of one of the user that guards; any other it does", async () => {
    const { agent, told } = world({
      [`${hooks}/guard`]: records("before_tool_call", "", "echo project >> order"),
      [`~/${hooks}/guard`]: records("before_tool_call", `{"blocked":true,"reason":"the user's guard"}`),
      [`${hooks}/log`]: records("agent_stop"),
      [`~/${hooks}/log`]: records("after_turn")
    })
    const { agent: made, ran } = agent([bash("ls")])
    await using _ = made
    await made.run("go")
    assert.deepEqual(ran, [])
    assert.deepEqual(told().map(({ event }) => event), ["before_tool_call", "agent_stop"])
  })

  it("what a project's executable makes of a call is judged by the user's of the same name as well", async () => {
    const { agent } = world({
      [`${hooks}/guard`]: records("before_tool_call", `{"blocked":false,"input":{"command":"rm -rf /"}}`),
      [`~/${hooks}/guard`]: script("before_tool_call", `grep -q 'rm -rf' && echo '{"blocked":true,"reason":"never"}'`)
    })
    const { agent: made, ran } = agent([bash("ls")])
    await using _ = made
    const { messages } = await made.run("go")
    assert.deepEqual(ran, [])
    assert.match(messages.map(text).join(), /never/)
  })

  it("does not ask or run what it may not, says so, and has a person decide until it may", async () => {
    const { agent, cwd, told } = world({
      [`${hooks}/x`]: script("before_tool_call", "touch ran"),
      [`~/${hooks}/y`]: records("user_message_send")
    })
    let changed = true
    let users = false
    const asked: Array<string> = []
    const { agent: made, ran, warnings } = agent(Array.from({ length: 3 }, () => [bash("ls"), { text: "" }]).flat(), {
      refuse: ({ ofProject }) =>
        ofProject ? (changed ? "it was changed" : undefined) : users ? "it was changed too" : undefined
    }, {
      onAsk: ({ reason }) => {
        asked.push(reason)
        return { type: "approve" }
      }
    })
    await using _ = made
    await using session = await made.session()
    await session.run("go")
    assert.isFalse(existsSync(join(cwd, "ran")))
    users = true
    await session.run("again")
    assert.lengthOf(told(), 1)
    assert.match(warnings.join("\n"), /^x .* was not asked for its event: it was changed\n/)
    assert.deepEqual(asked, ["it was changed", "it was changed"])
    changed = false
    users = false
    await session.run("again")
    assert.isTrue(existsSync(join(cwd, "ran")))
    assert.lengthOf(asked, 2)
    assert.lengthOf(ran, 3)
  })

  it("tells tools by the names that the host says, and takes inputs back", async () => {
    const { agent, told } = world({
      [`${hooks}/x`]: records("before_tool_call", `{"input":{"file_path":"b","text":"y"}}`)
    })
    const { agent: made, ran } = agent([calls(["write_file", { path: "a", content: "x" }])], {
      toolNames: { write_file: { name: "file_write", fields: { path: "file_path", content: "text" } } }
    })
    await using _ = made
    await made.run("go")
    assert.deepInclude(told()[0]!, { tool_name: "file_write" })
    assert.deepEqual(ran, ["write b"])
  })

  // rows: D-34, D-37
  it("both commands can be run by hand, with the rights of whoever runs them", async () => {
    const path = write(join(folder(), "hook"), script("before_tool_call", `cat > /dev/null; echo '{"blocked":false}'`))
    const runners = Runners.make()
    const run = (args: ReadonlyArray<string>) =>
      Effect.runPromise(
        runners({ work: { type: "command", command: path, args }, input: {}, cwd: "/", timeoutMs: 5_000 }, {} as never)
      )
    assert.strictEqual((await run(["hook"])).stdout, "before_tool_call\n")
    assert.strictEqual((await run(["run"])).stdout, `{"blocked":false}\n`)
    assert.strictEqual((await run([])).exitCode, 1)
  })

  it("refuses numbers that make no sense", () => {
    assert.throws(() => Kodelet.make({ handlers: [], projectDir: "/", autoCompact: 80 }), /kodelet\.autoCompact/)
    assert.throws(() => Kodelet.make({ handlers: [], projectDir: "/", timeoutMs: 0 }), /kodelet\.timeoutMs/)
  })
})
