import { createAgent } from "@belay/core/createAgent"
import * as HookAction from "@belay/core/HookAction"
import type { Json } from "@belay/core/Json"
import { text } from "@belay/core/Message"
import * as Kodelet from "@belay/hook-files/Kodelet"
import * as Runners from "@belay/hook-files/Runners"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { calls, scripted } from "../../../../../test/support/agent.ts"
import { until } from "../../support/processes.ts"
import { records, script, world } from "./support.ts"

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
    assert.match(warnings[2]!, /because its event is unknown: it ended with 0 and printed "before_lunch"/)
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
  it("a before_tool_call hook reads the call and may replace its input", async () => {
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
  it("a hook that blocks without a reason, or with a reason that is not a text, blocks", async () => {
    for (const answer of [`{"blocked":true}`, `{"blocked":true,"reason":5,"input":[]}`]) {
      const { agent } = world({ [`${hooks}/x`]: records("before_tool_call", answer) })
      const { agent: made, ran } = agent([bash("ls")])
      await using _ = made
      await made.run("go")
      assert.deepEqual(ran, [])
    }
  })

  // rows: D-27
  it("each hook reads the input as the one before left it, and one that changes nothing keeps it", async () => {
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
  it("an after_tool_call hook reads the result, also of failures, and may replace it", async () => {
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
      /2 .* ended with 2: oops\n3 .* not JSON\n4 .* not an object\n5 .* does not fit before_tool_call/
    )
    const outcomes = events.map((event) => [(event as { key: string }).key, (event as { outcome: string }).outcome])
    assert.deepEqual(
      outcomes.map(([, outcome]) => outcome).join(),
      "success,nonBlockingError,nonBlockingError,nonBlockingError,nonBlockingError,success"
    )
  })
})
