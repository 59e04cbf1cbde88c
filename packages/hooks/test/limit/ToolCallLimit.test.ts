import { ConfigError } from "@belay/core/AgentError"
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import * as HookAction from "@belay/core/HookAction"
import * as HookChain from "@belay/core/HookChain"
import * as HookState from "@belay/core/HookState"
import * as Approval from "@belay/hooks/Approval"
import * as ToolCallLimit from "@belay/hooks/ToolCallLimit"
import * as Scripted from "@belay/testing/Scripted"
import * as TestScope from "@belay/testing/TestScope"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { call } from "../../../../test/support/events.ts"

const count = (n: number, options: ToolCallLimit.Options, scope = TestScope.make()) => {
  const slow = { name: "slow", priority: 1, preToolCall: () => Effect.as(Effect.yieldNow, undefined) }
  const chain = HookChain.makeUnsafe([ToolCallLimit.make(options), slow])
  return Effect.map(
    Effect.forEach(
      Array.from({ length: n }),
      (_, id) => chain.run("preToolCall", call("look", {}, `call-${id}`), scope),
      {
        concurrency: "unbounded"
      }
    ),
    (outcomes) => outcomes.filter(({ action }) => action._tag === "Continue").length
  )
}

const search = (ran: Array<unknown>) =>
  defineTool({ name: "search", description: "Search", input: Schema.Struct({}), execute: () => `found ${ran.push(0)}` })

const asks = (n: number) => Scripted.toolCalls(...Array.from({ length: n }, () => ({ name: "search" })))

describe("ToolCallLimit", () => {
  it.effect.prop(
    "allows exactly `perTurn` concurrent calls",
    [Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 20 }))],
    ([limit]) =>
      Effect.gen(function*() {
        assert.strictEqual(yield* count(15, { perTurn: limit }), Math.min(15, limit))
      })
  )

  it.effect("counts each turn separately, and the whole session", () =>
    Effect.gen(function*() {
      const state = HookState.make()
      const options = { perTurn: 3, perSession: 5 }
      const passed: Array<number> = []
      for (const turnNumber of [1, 1, 2, 3]) {
        passed.push(yield* count(2, options, TestScope.make({ turnNumber, state })))
      }
      assert.deepEqual(passed, [2, 1, 2, 0])
    }))

  it.effect("calls the function for the limit of the turn, and allows nothing when it returns NaN", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* count(5, { perTurn: ({ agent }) => agent.name === "tester" ? 2 : 0 }), 2)
      assert.strictEqual(yield* count(5, { perTurn: () => Number.NaN }), 0)
      const broken = () => {
        throw new Error("oops")
      }
      assert.strictEqual(yield* count(5, { perSession: broken }), 0)
    }))

  it.effect("does not count calls that another hook rejects", () =>
    Effect.gen(function*() {
      const scope = TestScope.make()
      let refuse = true
      const strict = { name: "strict", preToolCall: () => refuse ? HookAction.reject("no") : undefined }
      const chain = HookChain.makeUnsafe([ToolCallLimit.make({ perTurn: 1 }), strict])
      yield* chain.run("preToolCall", call("look"), scope)
      refuse = false
      assert.strictEqual((yield* chain.run("preToolCall", call("look"), scope)).action._tag, "Continue")
      assert.deepEqual((yield* chain.run("preToolCall", call("look"), scope)).action, {
        _tag: "Reject",
        reason: "tool call limit of 1 per turn reached: look was not called. Continue without it."
      })
    }))

  it("gives the model the reason for its own tools, and the turn continues", async () => {
    const ran: Array<unknown> = []
    const provider = Scripted.make([asks(3), "done"])
    const hooks = [
      ToolCallLimit.make({ tools: "sea*", perTurn: 2 }),
      ToolCallLimit.make({ name: "other", tools: "!sea*", perTurn: 0 })
    ]
    await using agent = createAgent({ provider, tools: [search(ran)], hooks })
    const result = await agent.run("go")
    assert.deepInclude(result, { status: "completed", text: "done" })
    assert.lengthOf(ran, 2)
    assert.include(
      JSON.stringify(provider.requests[1]?.messages),
      "tool call limit of 2 per turn reached: search was not called"
    )
  })

  it("ends the turn if the option is set, and keeps counting after a resume", async () => {
    const ran: Array<unknown> = []
    const make = (script: ReadonlyArray<Scripted.Entry>) =>
      createAgent({
        provider: Scripted.make(script),
        tools: [search(ran)],
        hooks: [Approval.make({ tools: "*" }), ToolCallLimit.make({ perTurn: 2, onLimit: "abort" })]
      })
    await using first = make([asks(2)])
    const asked = await first.run("go")
    if (asked.status !== "suspended") return assert.fail(asked.status)
    await using second = make([asks(1)])
    const approve = (pending: ReadonlyArray<{ readonly callId: string }>) =>
      Object.fromEntries(pending.map(({ callId }) => [callId, { type: "approve" as const }]))
    const ended = await second.resume(JSON.stringify(asked.snapshot), approve(asked.pending))
    // Nobody is asked about the third call, because it would not run anyway.
    assert.deepInclude(ended, { status: "aborted", by: "tool-call-limit" })
    assert.lengthOf(ran, 2)
  })

  it("counts a call once whose arguments a person changes", async () => {
    const ran: Array<unknown> = []
    await using agent = createAgent({
      provider: Scripted.make([asks(1), asks(1), asks(1), "done"]),
      tools: [search(ran)],
      hooks: [
        Approval.make({ tools: "*", ask: () => ({ type: "edit", args: { query: "other" } }) }),
        ToolCallLimit.make({ perTurn: 2 })
      ]
    })
    await agent.run("go")
    assert.lengthOf(ran, 2)
  })

  it("rejects missing and invalid limits", () => {
    assert.throws(
      () => ToolCallLimit.make({}),
      ConfigError,
      /tool-call-limit\.perTurn: expected a limit here or as perSession, found nothing/
    )
    assert.throws(() => ToolCallLimit.make({ perTurn: -1 }), ConfigError, /whole number/)
    assert.throws(() => ToolCallLimit.make({ perSession: 0.5 }), ConfigError, /perSession/)
    assert.throws(() => ToolCallLimit.make({ perTurn: 1, onLimit: "stop" as "abort" }), ConfigError, /onLimit/)
  })
})
