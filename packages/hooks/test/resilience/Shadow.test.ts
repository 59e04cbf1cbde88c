import { type AgentHook, defineHook } from "@belay/core/AgentHook"
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import * as HookAction from "@belay/core/HookAction"
import * as HookChain from "@belay/core/HookChain"
import * as HookState from "@belay/core/HookState"
import * as CostTracker from "@belay/hooks/CostTracker"
import * as LoopDetector from "@belay/hooks/LoopDetector"
import * as OutputGuardrail from "@belay/hooks/OutputGuardrail"
import * as Shadow from "@belay/hooks/Shadow"
import * as ToolCallLimit from "@belay/hooks/ToolCallLimit"
import * as UsageReport from "@belay/hooks/UsageReport"
import * as Scripted from "@belay/testing/Scripted"
import * as TestScope from "@belay/testing/TestScope"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { answer, call } from "../../../../test/support/events.ts"

const at = (hook: AgentHook, others: ReadonlyArray<AgentHook> = [], scope = TestScope.make()) => {
  const diffs: Array<Shadow.Diff> = []
  const chain = HookChain.makeUnsafe([Shadow.make(hook, { onDiff: (one) => void diffs.push(one) }), ...others])
  return {
    chain,
    diffs,
    scope,
    before: Effect.suspend(() => chain.run("preToolCall", call("deploy", { to: "production" }), scope))
  }
}

const says = (answered: ReturnType<NonNullable<AgentHook["preToolCall"]>>) =>
  defineHook({ name: "candidate", preToolCall: () => answered })
const other = (action: HookAction.Reject | HookAction.Abort | HookAction.Ask) =>
  defineHook({ name: "other", preToolCall: () => action })

describe("Shadow", () => {
  for (
    const [name, hook] of Object.entries({
      "at once": defineHook({ name: "candidate", preToolCall: () => HookAction.reject("no") }),
      "as a promise": defineHook({ name: "candidate", preToolCall: async () => HookAction.reject("no") }),
      "as an Effect": defineHook({
        name: "candidate",
        preToolCall: () => Effect.as(Effect.yieldNow, HookAction.reject("no"))
      }),
      "as a generator": defineHook({
        name: "candidate",
        *preToolCall() {
          yield* Effect.yieldNow
          return HookAction.reject("no")
        }
      })
    })
  ) {
    it.effect(`reports what a hook that answers ${name} would have rejected, and rejects nothing`, () =>
      Effect.gen(function*() {
        const { before, diffs, scope } = at(hook)
        assert.strictEqual((yield* before).action._tag, "Continue")
        assert.deepEqual(diffs, [{
          hook: "candidate",
          point: "preToolCall",
          kind: "stricter",
          subject: "deploy",
          would: { action: "Reject", reason: "no" },
          did: { action: "Continue" },
          sessionId: "session-1",
          turnNumber: 3,
          stepNumber: 2
        }])
        assert.deepInclude(scope.records[0]?.hooks[0], { hook: "candidate-shadow", answer: "Reject", shadow: true })
      }))
  }

  it.effect("compares with the decisions of the other hooks", () =>
    Effect.gen(function*() {
      const kinds: Array<ReadonlyArray<string>> = []
      const reject = HookAction.reject("no")
      const abort = HookAction.abort("stop")
      const ask = HookAction.ask("sure?")
      for (
        const [would, did] of [[undefined, reject], [reject, reject], [abort, reject], [reject, abort], [reject, ask], [
          ask,
          reject
        ]] as const
      ) {
        const { before, diffs } = at(says(would), [other(did)])
        yield* before
        kinds.push(diffs.map(({ kind }) => kind))
      }
      assert.deepEqual(kinds, [["laxer"], [], ["stricter"], ["laxer"], ["stricter"], ["laxer"]])
    }))

  it.effect("reports what it would have changed, but not an equal value", () =>
    Effect.gen(function*() {
      const to = (place: string) =>
        defineHook({ name: "candidate", preToolCall: (made) => HookAction.transform({ ...made, args: { to: place } }) })
      const changed = at(to("staging"))
      assert.deepEqual((yield* changed.before).event.args, { to: "production" })
      assert.deepEqual(changed.diffs.map(({ changes, kind }) => [kind, changes]), [["changed", [
        "to: \"production\" -> \"staging\""
      ]]])
      const same = at(to("production"))
      yield* same.before
      assert.deepEqual(same.diffs, [])
      const redacting = at(OutputGuardrail.make({ patterns: ["secret"], redact: "[x]" }))
      const { event } = yield* redacting.chain.run("postLlmCall", answer({ text: "a secret" }), redacting.scope)
      assert.strictEqual(event.response.text, "a secret")
      assert.deepEqual(redacting.diffs[0]?.changes, ["text: \"a secret\" -> \"a [x]\""])
    }))

  it.effect("does not deliver the texts of the hook, and separates its state from that of the real hook", () =>
    Effect.gen(function*() {
      const state = HookState.make()
      state.set(CostTracker.totalCost, 7)
      const injected: Array<string> = []
      const scope = TestScope.make({
        state,
        inject: (text) => void injected.push(text),
        notifyUser: (text) => void injected.push(text)
      })
      const reads: Array<number> = []
      const candidate = defineHook({
        name: "candidate",
        preToolCall: (_call, ctx) => {
          reads.push(ctx.state.get(CostTracker.totalCost))
          ctx.state.update(CostTracker.totalCost, (usd) => usd + 1)
          ctx.inject("psst")
          const { notifyUser } = ctx
          notifyUser("hey")
        }
      })
      const { before, diffs } = at(candidate, [], scope)
      yield* before
      yield* before
      assert.deepEqual([reads, state.get(CostTracker.totalCost), injected], [[7, 8], 7, []])
      assert.deepEqual(diffs[0]?.said, [{ how: "inject", text: "psst" }, { how: "notifyUser", text: "hey" }])

      const limits = [ToolCallLimit.make({ perTurn: 3 }), Shadow.make(ToolCallLimit.make({ perTurn: 1 }))]
      const chain = HookChain.makeUnsafe(limits)
      const both = TestScope.make()
      const actions: Array<string> = []
      for (let n = 0; n < 4; n++) actions.push((yield* chain.run("preToolCall", call("look"), both)).action._tag)
      assert.deepEqual(actions, ["Continue", "Continue", "Continue", "Reject"])
      assert.deepEqual(Shadow.report(both.state, "tool-call-limit-shadow"), [
        { point: "preToolCall", calls: 4, agreed: 2, stricter: 2, laxer: 0, changed: 0, said: 0, failed: 0 }
      ])
    }))

  it.effect("survives a hook and a listener that throw", () =>
    Effect.gen(function*() {
      const breaking = defineHook({
        name: "candidate",
        kind: "policy",
        preToolCall: () => {
          throw new Error("oops")
        },
        postLlmCall: () => Effect.die(new Error("oops"))
      })
      const { before, chain, scope } = at(breaking)
      assert.strictEqual((yield* before).action._tag, "Continue")
      assert.strictEqual((yield* chain.run("postLlmCall", answer(), scope)).action._tag, "Continue")
      assert.deepEqual(Shadow.report(scope.state, "candidate-shadow").map(({ failed, point }) => [point, failed]), [
        ["preToolCall", 1],
        ["postLlmCall", 1]
      ])
      assert.lengthOf(scope.failures, 2)
      const deaf = Shadow.make(says(HookAction.reject("no")), {
        onDiff: () => {
          throw new Error("deaf")
        }
      })
      assert.strictEqual(
        (yield* HookChain.makeUnsafe([deaf]).run("preToolCall", call("x"), scope)).action._tag,
        "Continue"
      )
    }))

  it.effect("counts an illegal answer as a failure, and ignores the answers of an observer", () =>
    Effect.gen(function*() {
      const illegal = {
        name: "candidate",
        preToolCall: () => "no" as never,
        postTurn: () => HookAction.ask("?") as never
      } satisfies AgentHook
      const { before, chain, diffs, scope } = at(illegal, [other(HookAction.reject("no"))])
      yield* before
      const output = {
        text: "",
        finishReason: "stop",
        usage: { inputTokens: 0, outputTokens: 0 },
        steps: 1,
        toolCalls: 0
      } as const
      yield* chain.run("postTurn", { input: { message: "" }, output, executed: true }, scope)
      assert.deepEqual([diffs, Shadow.report(scope.state, "candidate-shadow").map(({ failed }) => failed)], [[], [
        1,
        1
      ]])
      assert.lengthOf(scope.failures, 2)

      const seen: Array<unknown> = []
      const watcher = defineHook({
        name: "candidate",
        kind: "observer",
        preToolCall: (_call, ctx) => void seen.push(ctx.outcome?.action)
      })
      const watched = at(watcher, [other(HookAction.reject("no"))])
      yield* watched.before
      assert.deepEqual([seen, watched.diffs], [["Reject"], []])
    }))

  it("changes nothing in an agent, streamed or not, whatever the hook does", async () => {
    const wild = defineHook({
      name: "wild",
      hold: "untilPass",
      preTurn: () => HookAction.respond({ text: "no" }),
      preStop: (_stop, ctx) => ctx.followUp("more"),
      postTurn: () => HookAction.abort("no"),
      onLlmDelta: () => HookAction.reject("no"),
      wrapLlmCall: () => Effect.die(new Error("never runs"))
    })
    const look = defineTool({ name: "look", description: "Look", input: Schema.Struct({}), execute: () => "same" })
    const script = () =>
      Scripted.make([...Array.from({ length: 6 }, () => () => Scripted.toolCalls({ name: "look" })), "the answer"])
    const diffs: Array<Shadow.Diff> = []
    const onDiff = (one: Shadow.Diff) => void diffs.push(one)
    const hooks = [Shadow.make(wild, { onDiff }), Shadow.make(LoopDetector.make({ ladder: { stop: 6 } }), { onDiff })]
    await using plain = createAgent({ provider: script(), tools: [look] })
    await using shadowed = createAgent({ provider: script(), tools: [look], hooks })
    const expected = await plain.run("go")
    const stream = shadowed.stream("go")
    let shown = ""
    for await (const event of stream) if (event.type === "text-delta") shown += event.text
    const result = await stream.result
    const shape = (messages: typeof expected.messages) => messages.map(({ content, role }) => [role, content])
    assert.deepEqual([result.status, result.text, shown, shape(result.messages)], [
      "completed",
      "the answer",
      "the answer",
      shape(expected.messages)
    ])
    const told = new Set(diffs.map(({ hook, kind, point }) => `${hook} ${point} ${kind}`))
    assert.includeMembers([...told], [
      "wild preTurn stricter",
      "wild postTurn stricter",
      "wild preStop said",
      "wild onLlmDelta stricter",
      "loop-detector preToolCall stricter",
      "loop-detector postStep said",
      "loop-detector postStep stricter"
    ])
  })

  it("warns about nothing in the name of a hook that reads its event and its report as it should", async () => {
    const look = defineTool({ name: "look", description: "Look", input: Schema.Struct({}), execute: () => "seen" })
    const lines: Array<string> = []
    await using agent = createAgent({
      provider: Scripted.make([Scripted.toolCalls({ name: "look" }), "done"]),
      tools: [look],
      hooks: [ToolCallLimit.make({ perTurn: 0 }), UsageReport.make()].map((hook) =>
        Shadow.make(hook, { onDiff: () => {} })
      ),
      log: ({ message }) => void lines.push(message)
    })
    await agent.run("go")
    assert.deepEqual(lines, [])
  })

  it("continues to count after a resume, and renders the counts", async () => {
    const look = defineTool({ name: "look", description: "Look", input: Schema.Struct({}), execute: () => "seen" })
    const make = () =>
      createAgent({
        provider: Scripted.make([Scripted.toolCalls({ name: "look" })]),
        tools: [look],
        hooks: [Shadow.make(ToolCallLimit.make({ perTurn: 1 }))],
        limits: { steps: 1 }
      })
    await using first = make()
    const one = await first.run("go")
    if (one.status !== "limited") return assert.fail(one.status)
    await using second = make()
    const two = await second.resume(JSON.stringify(one.snapshot))
    if (two.status !== "limited") return assert.fail(two.status)
    assert.strictEqual(
      Shadow.render(Shadow.report(HookState.make(two.snapshot.hookState), "tool-call-limit-shadow")),
      [
        "point        calls  agreed  stricter  laxer  changed  said  failed",
        "preToolCall      2       1         1      0        0     0       0"
      ].join("\n")
    )
  })
})
