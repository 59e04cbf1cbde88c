import { agentTool } from "@belay/core/agentTool"
import { createAgent } from "@belay/core/createAgent"
import * as HookAction from "@belay/core/HookAction"
import type { Json } from "@belay/core/Json"
import { text } from "@belay/core/Message"
import * as Kodelet from "@belay/hook-files/Kodelet"
import * as Runners from "@belay/hook-files/Runners"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { calls, scripted } from "../../support/agent.ts"
import { records, script, world } from "../../support/kodelet.ts"
import { alive, folder, until, write } from "../../support/processes.ts"

const hooks = ".kodelet/hooks"
const bash = (command: string) => calls(["bash", { command }])

describe("Kodelet", () => {
  // rows: D-04, D-10
  it("leaves out what does not say one of the types, and asks nobody before the hook runs", async () => {
    const good = Object.fromEntries(
      ["before_tool_call", "after_tool_call", "user_message_send", "after_turn", "turn_end", "agent_stop"].map((
        type
      ) => [
        `${hooks}/${type}`,
        records(type)
      ])
    )
    const { agent, told } = world({
      ...good,
      [`${hooks}/broken`]: "#!/bin/bash\nexit 3",
      [`${hooks}/odd`]: script("before_lunch", ""),
      [`${hooks}/missing`]: "#!/nowhere/interpreter\n"
    })
    const { agent: made, warnings } = agent([bash("ls"), { text: "all done" }])
    await using _ = made
    assert.deepEqual(told(), [])
    await made.run("go")
    assert.deepEqual(told().map(({ event }) => event), [
      "user_message_send",
      "before_tool_call",
      "after_tool_call",
      "after_turn",
      "turn_end",
      "after_turn",
      "turn_end",
      "agent_stop"
    ])
    assert.deepEqual(warnings.map((one) => one.split(" ")[0]), ["broken", "missing", "odd"])
    assert.match(warnings[2]!, /asked what it is for, it ended with 0 and said "before_lunch"/)
  })

  // rows: D-04
  it.effect("gives the question five seconds, and asks all at once", () =>
    Effect.gen(function*() {
      const { found } = world({ [`${hooks}/a`]: "#!/bin/bash\n", [`${hooks}/b`]: "#!/bin/bash\n" })
      const asked: Array<readonly [Json, number]> = []
      let waiting = 0
      const runners: Runners.Runners = ({ timeoutMs, work }) =>
        Effect.promise(async () => {
          asked.push([work.type === "command" ? [...work.args ?? []] : [], timeoutMs])
          waiting++
          await until(() => waiting === 2)
          return { exitCode: undefined, stdout: "", stderr: "", timedOut: true, overflowed: false, durationMs: 5_000 }
        })
      const hook = Kodelet.make({ handlers: found.handlers, projectDir: "/", runners })
      const { provider } = scripted([])
      const agent = createAgent({ provider, hooks: [hook] })
      const warnings: Array<string> = []
      agent.on((event) => void (event.type === "warning" && warnings.push(event.message)))
      yield* Effect.promise(() => agent.run("go"))
      assert.deepEqual(asked, [[["hook"], 5_000], [["hook"], 5_000]])
      assert.match(warnings.join("\n"), /^a .* it took too long\nb .* it took too long$/)
    }))

  // rows: D-11, D-12
  it("a before_tool_call hook is told the call and may replace its input", async () => {
    const { agent, cwd, told } = world({
      [`${hooks}/x`]: records("before_tool_call", `{"blocked":false,"input":{"command":"ls -la"}}`)
    })
    const { agent: made, ran } = agent([bash("ls")])
    await using _ = made
    await using session = await made.session({ id: "s1" })
    await session.run({ message: "go", metadata: { recipe: "intro" } })
    assert.deepEqual(told(), [{
      event: "before_tool_call",
      conv_id: "s1",
      cwd,
      invoked_by: "main",
      recipe_name: "intro",
      tool_name: "bash",
      tool_input: { command: "ls" },
      tool_user_id: "call-0"
    }])
    assert.deepEqual(ran, ["ls -la"])
    await session.run("again")
    assert.isFalse("recipe_name" in (told()[1] ?? {}))
  })

  // rows: D-12, D-24
  it("the first that blocks decides, and the others are not run", async () => {
    const { agent, told } = world({
      [`${hooks}/1`]: records("before_tool_call"),
      [`${hooks}/2`]: records("before_tool_call", `{"blocked":true,"reason":"not on main"}`),
      [`${hooks}/3`]: records("before_tool_call", `{"blocked":true,"reason":"never asked"}`)
    })
    const { agent: made, ran } = agent([bash("git push")])
    await using _ = made
    const { messages } = await made.run("go")
    assert.lengthOf(told(), 2)
    assert.deepEqual(ran, [])
    assert.match(messages.filter(({ role }) => role === "tool").map(text).join(), /not on main/)
  })

  // rows: D-12
  it("what blocks without a reason, or with one that is no text, blocks", async () => {
    for (const answer of [`{"blocked":true}`, `{"blocked":true,"reason":5,"input":[]}`]) {
      const { agent } = world({ [`${hooks}/x`]: records("before_tool_call", answer) })
      const { agent: made, ran } = agent([bash("ls")])
      await using _ = made
      await made.run("go")
      assert.deepEqual(ran, [])
    }
  })

  // rows: D-27
  it("each is told what the one before made of the input, and a later one that changes nothing keeps it", async () => {
    const { agent, told } = world({
      [`${hooks}/1`]: records("before_tool_call", `{"blocked":false,"input":{"command":"one"}}`),
      [`${hooks}/2`]: records("before_tool_call", `{"blocked":false}`),
      [`${hooks}/3`]: records("before_tool_call")
    })
    const { agent: made, ran } = agent([bash("zero")])
    await using _ = made
    await made.run("go")
    assert.deepEqual(told().map(({ tool_input }) => tool_input), [{ command: "zero" }, { command: "one" }, {
      command: "one"
    }])
    assert.deepEqual(ran, ["one"])
  })

  // rows: D-13
  it("an after_tool_call hook is told the result, of failures too, and may replace it", async () => {
    const redact = `#!/usr/bin/env python3
import json, sys
if sys.argv[1] == "hook":
    print("after_tool_call")
    sys.exit(0)
payload = json.load(sys.stdin)
with open("told.jsonl", "a") as log:
    log.write(json.dumps(payload) + "\\n")
output = payload["tool_output"]
if output["success"]:
    output["metadata"]["output"] = output["metadata"]["output"].replace("done", "[redacted]")
else:
    output["error"] = "it failed, nobody may know why"
print(json.dumps({"output": output}))
`
    const { agent, told } = world({ [`${hooks}/redact`]: redact })
    const { agent: made } = agent(
      [bash("ls"), calls(["read_file", { path: 7 }]), calls(["bash", { command: "x" }])],
      {},
      {
        hooks: [{
          name: "fails",
          priority: 200,
          postToolCall: ({ call }) =>
            (call.args as { command?: string }).command === "x"
              ? HookAction.transform({ ok: false as const, error: "disk full" })
              : undefined
        }]
      }
    )
    await using _ = made
    const { messages } = await made.run("go")
    const said = messages.filter(({ role }) => role === "tool").map(text)
    assert.match(said[0]!, /\[redacted\]/)
    assert.notInclude(said[0]!, "done")
    assert.match(said[2]!, /nobody may know why/)
    const [first, second] = told()
    assert.match((first!["tool_output"] as { timestamp: string }).timestamp, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
    assert.deepInclude(first!["tool_output"] as object, {
      toolName: "bash",
      success: true,
      metadata: { output: "done" }
    })
    assert.deepInclude(second!["tool_output"] as object, { toolName: "bash", success: false, error: "disk full" })
    assert.lengthOf(told(), 2, "what was not run has no result")
  })

  // rows: D-13
  it("takes a new result from wherever it stands", async () => {
    const outputs: ReadonlyArray<readonly [answer: object, expected: RegExp]> = [
      [{ toolName: "bash", success: true, result: "short" }, /^short$/],
      [{ toolName: "bash", success: true, metadata: { output: { lines: 2 } } }, /lines.*2/],
      [{ toolName: "bash", success: true, metadata: { exit: 0 } }, /exit.*0/],
      [{ toolName: "bash", success: true }, /^done$/],
      [{ toolName: "bash", success: true, metadata: null }, /^done$/],
      [{}, /^done$/],
      [{ toolName: "bash", success: false }, /withheld by a hook/]
    ]
    for (const [output, expected] of outputs) {
      const { agent } = world({ [`${hooks}/x`]: records("after_tool_call", JSON.stringify({ output })) })
      const { agent: made } = agent([bash("ls")])
      await using _ = made
      const { messages } = await made.run("go")
      assert.match(messages.filter(({ role }) => role === "tool").map(text).join(), expected)
    }
  })

  // rows: D-14
  it("a user_message_send hook blocks a message, which is not kept", async () => {
    const { agent, told } = world({
      [`${hooks}/1`]: records(
        "user_message_send",
        `{"blocked":true,"reason":"no secrets"}`,
        `grep -q secret told.jsonl || exit 0`
      ),
      [`${hooks}/2`]: records("user_message_send", `{"blocked":true,"reason":"second"}`)
    })
    const { agent: made, requests } = agent([])
    await using _ = made
    await using session = await made.session()
    const failed = await session.run("my secret").then(() => "", (error: Error) => error.message)
    assert.match(failed, /message blocked by hook: no secrets/)
    assert.deepEqual(session.messages, [])
    assert.lengthOf(requests, 0)
    assert.deepEqual(told().map(({ event, message }) => [event, message]), [["user_message_send", "my secret"]])
  })

  // rows: D-20, D-21, D-23
  it("what says nothing, fails or writes nonsense decides nothing", async () => {
    const { agent } = world({
      [`${hooks}/1`]: script("before_tool_call", "cat > /dev/null"),
      [`${hooks}/2`]: script("before_tool_call", `echo '{"blocked":true,"reason":"x"}'; echo oops >&2; exit 2`),
      [`${hooks}/3`]: script("before_tool_call", "echo '{blocked'"),
      [`${hooks}/4`]: script("before_tool_call", "echo '[1]'"),
      [`${hooks}/5`]: script("before_tool_call", `echo '{"input":"ls"}'`),
      [`${hooks}/6`]: script("before_tool_call", `echo '{"input":null,"reason":null}'`)
    })
    const { agent: made, events, ran, warnings } = agent([bash("ls")])
    await using _ = made
    await made.run("go")
    assert.deepEqual(ran, ["ls"])
    assert.lengthOf(warnings, 4)
    assert.match(
      warnings.join("\n"),
      /2 .* ended with 2: oops\n3 .* no JSON\n4 .* no object\n5 .* does not fit before_tool_call/
    )
    const outcomes = events.map((event) => [(event as { key: string }).key, (event as { outcome: string }).outcome])
    assert.deepEqual(
      outcomes.map(([, outcome]) => outcome).join(),
      "success,nonBlockingError,nonBlockingError,nonBlockingError,nonBlockingError,success"
    )
  })

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
    assert.match(warnings.join("\n"), /^x .* was not asked what it is for: it was changed\n/)
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
