import { ConfigError } from "@belay/core/AgentError"
import { defineHook } from "@belay/core/AgentHook"
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import * as HookAction from "@belay/core/HookAction"
import { text } from "@belay/core/Message"
import * as Approval from "@belay/hooks/Approval"
import * as TestScope from "@belay/testing/TestScope"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { scripted } from "../../../../test/support/agent.ts"
import { call } from "../../../../test/support/events.ts"
import { approving, run } from "../support/approvals.ts"

describe("Approval", () => {
  // rows: A-63
  it("runs an approved call as it is", async () => {
    const { ran } = await run([Approval.make({ tools: "deploy", ask: () => ({ type: "approve" }) })], ["deploy", {
      to: "staging"
    }])
    assert.deepEqual(ran, [{ to: "staging" }])
  })

  // rows: A-63
  it("rejects a denied call with the person's reason", async () => {
    const ask = async (): Promise<Approval.Answer> => ({ type: "deny", reason: "not today" })
    const { ran, results } = await run([Approval.make({ tools: "deploy", ask })], ["deploy", {}])
    assert.deepEqual([ran, results], [[], ["not today"]])
  })

  // rows: A-63
  it("runs an edited call with the person's arguments", async () => {
    const ask = () => Effect.succeed<Approval.Answer>({ type: "edit", args: { to: "staging" } })
    const { ran } = await run([Approval.make({ tools: "deploy", ask })], ["deploy", { to: "production" }])
    assert.deepEqual(ran, [{ to: "staging" }])
  })

  it("returns the answer of the person as the result of the tool", async () => {
    const ask = (): Approval.Answer => ({ type: "respond", output: "deployed by hand" })
    const { ran, results } = await run([Approval.make({ tools: "deploy", ask })], ["deploy", {}])
    assert.deepEqual([ran, results], [[], ["deployed by hand"]])
  })

  it("returns a question, and does not call `ask`, in a chain without a runtime", async () => {
    let questions = 0
    const ask = (): Approval.Answer => {
      questions++
      return { type: "approve" }
    }
    const outcome = await Effect.runPromise(
      approving({ tools: "deploy", ask }).run("preToolCall", call("deploy"), TestScope.make())
    )
    assert.deepEqual([outcome.action._tag, outcome.by, questions], ["Ask", "human-approval", 0])
  })

  it.effect("returns a question for the host without `ask`", () =>
    Effect.gen(function*() {
      const chain = approving({ tools: "deploy", reason: ({ name }) => `may ${name} run?` })
      const { action } = yield* chain.run("preToolCall", call("deploy"), TestScope.make())
      const details = { description: "The tool deploy.", readOnly: false, destructive: false, sandbox: "none" }
      assert.deepEqual(action, { _tag: "Ask", reason: "may deploy run?", details })
      const event = call("deploy")
      const hinted = { ...event, tool: { ...event.tool, destructive: true } }
      const asked = yield* chain.run("preToolCall", hinted, TestScope.make())
      assert.deepInclude(Object(asked.action).details, { readOnly: false, destructive: true })
    }))

  it.effect("asks only for the tools that `tools` selects", () =>
    Effect.gen(function*() {
      const tags = (tools: Approval.Options["tools"]) =>
        Effect.forEach(
          ["read_file", "write_file", "deploy"],
          (name) =>
            Effect.map(
              approving({ tools }).run("preToolCall", call(name), TestScope.make()),
              ({ action }) => action._tag
            )
        )
      assert.deepEqual(yield* tags("*"), ["Ask", "Ask", "Ask"])
      assert.deepEqual(yield* tags(["*", "!read_*"]), ["Continue", "Ask", "Ask"])
      assert.deepEqual(yield* tags(["!read_*", "*_file"]), ["Continue", "Ask", "Continue"])
      assert.deepEqual(yield* tags("!deploy"), ["Ask", "Ask", "Continue"])
      assert.throws(() => approving({ tools: [] }), /tools: expected the names of the tools that need approval/)
      assert.deepEqual(yield* tags("re.d_file"), ["Continue", "Continue", "Continue"])
    }))

  it.effect("asks only if `when` does not return false, or throws", () =>
    Effect.gen(function*() {
      const scope = TestScope.make()
      const chain = approving({
        tools: "*",
        when: ({ args, name }) =>
          name === "broken" ? assert.fail("cannot tell") : JSON.stringify(args).includes("production")
      })
      const tag = (event: ReturnType<typeof call>) =>
        Effect.map(chain.run("preToolCall", event, scope), ({ action }) => action._tag)
      assert.strictEqual(yield* tag(call("deploy", { to: "staging" })), "Continue")
      assert.strictEqual(yield* tag(call("deploy", { to: "production" })), "Ask")
      assert.strictEqual(yield* tag(call("broken")), "Ask")
      assert.lengthOf(scope.warnings, 1)
    }))

  it.effect("asks if `when` returns nothing, as in a program without types", () =>
    Effect.gen(function*() {
      const chain = approving({ tools: "*", when: () => undefined as never })
      const { action } = yield* chain.run("preToolCall", call("deploy", {}), TestScope.make())
      assert.strictEqual(action._tag, "Ask")
    }))

  const nonsense: ReadonlyArray<unknown> = [
    undefined,
    null,
    true,
    "approve",
    {},
    { type: "yes" },
    { type: "edit" },
    {
      type: "edit",
      args: () => 1
    },
    {
      _tag: "Continue"
    },
    { type: "respond" },
    { type: "delegate" },
    { type: "delegate", to: ["ada", 1] }
  ]
  for (const answer of nonsense) {
    it(`denies the call if the answer is ${answer === undefined ? "nothing" : JSON.stringify(answer)}`, async () => {
      const ask = () => answer as Approval.Answer
      const { ran, warnings } = await run([Approval.make({ tools: "*", ask })], ["deploy", {}])
      assert.deepEqual(ran, [])
      assert.lengthOf(warnings, 1)
    })
  }

  for (
    const [how, ask] of [
      ["throws", () => assert.fail("no terminal")],
      ["rejects", () => Promise.reject(new Error("no terminal"))],
      ["fails", () => Effect.fail("no terminal")],
      ["dies", () => Effect.die("no terminal")],
      ["interrupts itself", () => Effect.interrupt]
    ] as const
  ) {
    it(`denies the call if \`ask\` ${how}, even if the hook fails open`, async () => {
      const { ran, results } = await run([{ ...Approval.make({ tools: "*", ask }), failOpen: true }], ["deploy", {}])
      assert.deepEqual([ran, results], [[], ["deploy was denied: its approval failed"]])
    })
  }

  it("can use a service of the application in `ask`", async () => {
    class Office extends Context.Service<Office, { readonly open: boolean }>()("test/Office") {}
    const hook = Approval.make({
      tools: "*",
      ask: () =>
        Effect.map(
          Office,
          ({ open }): Approval.Answer => open ? { type: "approve" } : { type: "deny", reason: "closed" }
        )
    })
    const { provider } = scripted([{ toolCalls: [{ id: "1", name: "deploy", args: {} }] }])
    const deploy = defineTool({
      name: "deploy",
      description: "Deploys",
      input: { type: "object" },
      execute: () => assert.fail("it ran")
    })
    await using agent = createAgent({
      provider,
      tools: [deploy],
      hooks: [hook],
      layer: Layer.succeed(Office, { open: false })
    })
    const { messages } = await agent.run("go")
    assert.deepEqual(messages.filter(({ role }) => role === "tool").map(text), ["closed"])
  })

  // rows: A-63
  it("runs first, fails closed and has no timeout", () => {
    assert.deepInclude(Approval.make({ tools: "*" }), {
      name: "human-approval",
      priority: 5,
      kind: "policy",
      timeout: "none",
      reinvoke: "ifChanged"
    })
  })

  it.effect("asks although an earlier hook replaces the call", () =>
    Effect.gen(function*() {
      const first = defineHook({
        name: "first",
        priority: 1,
        preToolCall: ({ id, name }) => HookAction.replace({ id, name, args: { to: "x" } })
      })
      const { action } = yield* approving({ tools: "*" }, first).run("preToolCall", call("deploy"), TestScope.make())
      assert.strictEqual(action._tag, "Ask")
    }))

  it.effect("asks with the reason of the option, of its function, or with the name of the tool", () =>
    Effect.gen(function*() {
      const reasons: ReadonlyArray<readonly [Approval.Options["reason"], string]> = [
        [undefined, "deploy needs approval"],
        ["it costs money", "it costs money"],
        [({ name }, ctx) => `${name} in ${ctx.sessionId}`, "deploy in session-1"]
      ]
      for (const [reason, expected] of reasons) {
        const chain = approving(reason === undefined ? { tools: "*" } : { tools: "*", reason })
        const { action } = yield* chain.run("preToolCall", call("deploy", {}), TestScope.make())
        assert.strictEqual(action._tag === "Ask" ? action.reason : action._tag, expected)
      }
    }))

  it("rejects invalid options", () => {
    const wrong: ReadonlyArray<readonly [Partial<Approval.Options>, RegExp]> = [
      [{ concurrency: 0 }, /human-approval\.concurrency: expected a whole number from 1, or Infinity, found 0/],
      [{ allowed: ["aprove" as never] }, /human-approval\.allowed: expected a list of approve, deny/],
      [{ standing: "nowhere" as never }, /human-approval\.standing: expected session, or a store of rules/],
      [{ standing: {} as never }, /human-approval\.standing: expected session, or a store of rules/],
      [{ quorum: 1.5 }, /human-approval\.quorum: expected a whole number from 1, found 1\.5/]
    ]
    for (const [options, message] of wrong) {
      assert.throws(() => Approval.make({ tools: "*", ...options }), ConfigError, message)
    }
  })
})
