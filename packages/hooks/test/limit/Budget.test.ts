/** Budgets of runs and sessions: calls, tokens, money and time. */
import { createAgent, defineHook, HookAction } from "@belay/core"
import { ConfigError } from "@belay/core/AgentError"
import type { LlmProvider } from "@belay/core/LlmProvider"
import * as ProviderError from "@belay/core/ProviderError"
import * as SessionStore from "@belay/core/SessionStore"
import * as Budget from "@belay/hooks/Budget"
import * as Ledger from "@belay/hooks/Ledger"
import { Scripted, VirtualClock } from "@belay/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { calls, endless, look, price, run, text } from "../support/budget.ts"

describe("Budget", () => {
  it("stops a run at its calls, tokens or money, and says what was used of what", async () => {
    const byCalls = await run({ limits: [{ scope: "run", calls: 3 }] })
    assert.strictEqual(byCalls.asked, 3)
    assert.match(byCalls.error.message, /the run budget of 3 calls is used up: 3/)
    const byTokens = await run({ limits: [{ scope: "run", tokens: 600 }], assumeOutputTokens: 50 })
    assert.strictEqual(byTokens.asked, 4)
    const byMoney = await run({ ...price, limits: [{ scope: "run", money: 25 }], assumeOutputTokens: 50 })
    assert.strictEqual(byMoney.asked, 3)
    assert.match(byMoney.error.message, /the run budget of \$25\.00 is used up: \$30\.00/)
    const ended = await run({ limits: [{ scope: "run", calls: 1 }], onLimit: "abort" })
    assert.strictEqual(ended.error._tag, "aborted")
  })

  it("calls onBudget hooks once for each threshold, and one of them can end the turn", async () => {
    const { levels } = await run({ limits: [{ scope: "run", calls: 10 }] })
    assert.deepStrictEqual(levels, [
      { level: "warn", kind: "calls", scope: "run", used: 7, limit: 10 },
      { level: "exceeded", kind: "calls", scope: "run", used: 8, limit: 10 }
    ])
    const ended = await run({ limits: [{ scope: "run", calls: 10 }] }, {
      hooks: [
        Budget.make({ limits: [{ scope: "run", calls: 10 }] }),
        defineHook({
          name: "hand-over",
          onBudget: ({ level }) => level === "exceeded" ? HookAction.abort("hand over") : undefined
        })
      ]
    })
    assert.deepStrictEqual([ended.asked, ended.error._tag, ended.error.message], [8, "aborted", "hand over"])
  })

  it("stops the run when its time is used up, whatever the order of the limits", async () => {
    await using clock = VirtualClock.make()
    for (const scope of ["run", "session"]) {
      const other = { scope, time: "1 hour" } as const
      const short = { scope, time: 40 } as const
      for (
        const limits of [[short], [other, short], [short, other], [
          { scope: "session", time: "1 hour" } as const,
          short
        ]]
      ) {
        const provider = endless()
        let asked = 0
        const complete: LlmProvider["complete"] = (request) =>
          Effect.gen(function*() {
            asked++
            yield* Effect.promise(() => clock.advance(50))
            return yield* provider.complete(request)
          })
        const { error } = await run({ limits }, { provider: { ...provider, complete }, layer: clock.layer })
        assert.match(error.message, new RegExp(`the ${scope} budget of 40 ms is used up: \\d+ ms`))
        assert.strictEqual(asked, 1)
      }
    }
  })

  it("does not treat an unknown price as free", async () => {
    const unknown = await run({ limits: [{ scope: "run", money: 1 }] })
    assert.strictEqual(unknown.asked, 0)
    assert.match(unknown.error.message, /is not known, so the budget cannot be kept/)
    const counted = await run({ limits: [{ scope: "run", money: 1, calls: 2 }], onUnknownPrice: "count" })
    assert.strictEqual(counted.asked, 2)
    const dearest = await run({
      limits: [{ scope: "run", money: 15 }],
      prices: { m: price, cheap: { costPerInputToken: 1e-9, costPerOutputToken: 1e-9 } },
      assumeOutputTokens: 50
    })
    assert.strictEqual(dearest.asked, 3)
  })

  it("counts retries, and charges nothing for calls that the vendor refused", async () => {
    let made = 0
    const error = new ProviderError.Overloaded({ provider: "p", message: "busy" })
    const failing: LlmProvider = { name: "p", complete: () => Effect.suspend(() => (made++, Effect.fail(error))) }
    const retry = defineHook({ name: "again", onLlmError: () => HookAction.transform({ type: "retry", delayMs: 0 }) })
    await using agent = createAgent({
      provider: failing,
      hooks: [Budget.make({ limits: [{ scope: "run", calls: 2 }] }), retry]
    })
    const failed = await agent.run("go").catch((cause: { readonly message: string }) => cause)
    assert.strictEqual(made, 2)
    assert.match((failed as { readonly message: string }).message, /budget of 2 calls is used up/)
  })

  it("charges the model calls of hooks and compactors", async () => {
    const seen: Array<ReadonlyArray<Budget.Remaining>> = []
    const limits: ReadonlyArray<Budget.Limit> = [{ scope: "run", calls: 4 }]
    await using agent = createAgent({
      provider: Scripted.make([calls({ name: "look" }), text("yes"), text("done")]),
      tools: [look],
      hooks: [
        Budget.make({ limits }),
        defineHook({
          name: "judge",
          postToolCall: async (_event, ctx) => {
            const { text } = await ctx.promise(ctx.llm({ prompt: "is it good?" }))
            assert.strictEqual(text, "yes")
            seen.push(Budget.remaining(ctx, limits))
          }
        })
      ]
    })
    const { usage: spent } = await agent.run("go")
    assert.deepStrictEqual(seen, [[{ scope: "run", calls: 2 }]])
    assert.strictEqual(spent.inputTokens, 300)
  })

  it("survives suspension, and the end of the process with a store", async () => {
    const store = SessionStore.inMemory()
    const make = () =>
      createAgent({
        provider: endless(),
        tools: [look],
        store,
        hooks: [
          Budget.make({ limits: [{ scope: "run", calls: 3 }, { scope: "session", calls: 5 }] }),
          defineHook({ name: "ask", preToolCall: () => HookAction.ask("?") })
        ]
      })
    const sessions = await make().session({ id: "s" })
    let result = await sessions.run("go")
    let asked = 1
    const failure = await (async () => {
      while (result.status === "suspended") {
        const other = await make().session({ id: "s" })
        result = await other.resume(
          Object.fromEntries(other.pending.map(({ callId }) => [callId, { type: "approve" }]))
        )
        asked++
      }
    })().catch((error: { readonly message: string }) => error)
    assert.strictEqual(asked, 3)
    assert.match(failure!.message, /run budget of 3 calls/)
    const again = await make().session({ id: "s" })
    const next = await again.run("more")
    assert.strictEqual(next.status, "suspended")
    const last = await again.resume(
      Object.fromEntries(again.pending.map(({ callId }) => [callId, { type: "approve" }]))
    )
      .catch((error: { readonly message: string }) => error)
    assert.strictEqual((last as { readonly status?: string }).status, "suspended")
    const end = await again.resume(Object.fromEntries(again.pending.map(({ callId }) => [callId, { type: "approve" }])))
      .catch((error: { readonly message: string }) => error)
    assert.match((end as { readonly message: string }).message, /session budget of 5 calls/)
  })

  it("has one account for all sessions of a user, and a new one in each window", async () => {
    const ledger = Ledger.inMemory()
    const options: Budget.Options = {
      limits: [{
        scope: "user",
        calls: 3,
        window: "1 day",
        key: ({ metadata }) => typeof metadata?.["user"] === "string" ? metadata["user"] : undefined
      }],
      ledger
    }
    const make = () =>
      createAgent({ provider: endless(), tools: [look], limits: { steps: 2 }, hooks: [Budget.make(options)] })
    const as = (user: string) => ({ message: "go", metadata: { user } })
    assert.strictEqual((await make().run(as("ada"))).status, "limited")
    const over = await make().run(as("ada")).catch((error: { readonly message: string }) => error)
    assert.match((over as { readonly message: string }).message, /the user budget of 3 calls/)
    assert.strictEqual((await make().run(as("bob"))).status, "limited")
    assert.strictEqual((await make().run("nobody")).status, "limited")
  })

  it("does not hold a limit of a user for a turn without a user", async () => {
    const limits: ReadonlyArray<Budget.Limit> = [
      { scope: "user", calls: 1, key: ({ message }) => message === "go" ? undefined : "ada" },
      { scope: "run", calls: 3 }
    ]
    const { asked, error } = await run({ limits })
    assert.strictEqual(asked, 3)
    assert.include(error.message, "the run budget of 3 calls is used up")
  })

  it("charges the reserved amount for a call that was cut off", async () => {
    const controller = new AbortController()
    const limits: ReadonlyArray<Budget.Limit> = [{ scope: "session", tokens: 10_000 }]
    let left: ReadonlyArray<Budget.Remaining> = []
    let first = true
    await using agent = createAgent({
      provider: {
        name: "slow",
        complete: () =>
          Effect.suspend(() => {
            if (!first) return Effect.succeed(text("ok"))
            first = false
            controller.abort()
            return Effect.never
          })
      },
      hooks: [
        Budget.make({ limits, assumeOutputTokens: 1_000 }),
        defineHook({ name: "look", preTurn: (_input, ctx) => void (left = Budget.remaining(ctx, limits)) })
      ]
    })
    await using session = await agent.session()
    await session.run("x".repeat(400), { signal: controller.signal }).catch(() => {})
    assert.strictEqual(left[0]!.tokens, 10_000)
    await session.run("next")
    assert.strictEqual(left[0]!.tokens, 10_000 - 1_000 - 100)
  })

  it("rejects invalid limits, and names them", () => {
    const wrong = (options: Partial<Budget.Options>, key: string) => {
      const error = assert.throws(
        () => Budget.make({ limits: [{ scope: "run", calls: 1 }], ...options }),
        ConfigError
      ) as unknown
      void error
      try {
        Budget.make({ limits: [{ scope: "run", calls: 1 }], ...options })
      } catch (cause) {
        assert.strictEqual((cause as ConfigError).key, key)
      }
    }
    wrong({ limits: [] }, "budget.limits")
    wrong({ limits: [{ scope: "run" }] }, "budget.limits[0]")
    wrong({ limits: [{ scope: "user", calls: 1 }] }, "budget.limits[0].key")
    wrong({ limits: [{ scope: "run", calls: 1, window: "1 day" }] }, "budget.limits[0].window")
    wrong({ limits: [{ scope: "run", money: Number.NaN }] }, "budget.limits[0].money")
    wrong({ warnAt: 0.9 }, "budget.exceededAt")
    wrong({ costPerInputToken: 1 }, "budget.costPerInputToken")
  })
})
