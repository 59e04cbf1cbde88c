/** Budgets: nothing that a model does goes past them. */
import { agentTool, createAgent, defineHook, HookAction, type HookPoint } from "@belay/core"
import type { AgentConfig } from "@belay/core/AgentConfig"
import { ConfigError } from "@belay/core/AgentError"
import type { BudgetLevel } from "@belay/core/Compaction"
import { defineTool } from "@belay/core/defineTool"
import type { LlmRequest, LlmResponse } from "@belay/core/LlmCall"
import type { LlmProvider } from "@belay/core/LlmProvider"
import * as ProviderError from "@belay/core/ProviderError"
import * as SessionStore from "@belay/core/SessionStore"
import * as Budget from "@belay/hooks/Budget"
import * as Ledger from "@belay/hooks/Ledger"
import { Scripted } from "@belay/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Scheduler from "effect/Scheduler"
import * as Seeded from "../../../core/test/SeededScheduler.ts"

const usage = { inputTokens: 100, outputTokens: 50 }
const text = (words: string): LlmResponse => ({ model: "m", text: words, toolCalls: [], finishReason: "stop", usage })
const calls = (
  ...all: ReadonlyArray<{ readonly name: string; readonly args?: HookPoint.In<"preToolCall">["args"] }>
): LlmResponse => ({
  ...Scripted.toolCalls(...all),
  usage
})
/** Ten dollars a call of 150 tokens. */
const price = { costPerInputToken: 0.05, costPerOutputToken: 0.1 }

const look = defineTool({ name: "look", description: "Looks", input: { type: "object" }, execute: () => "seen" })

const endless = (): LlmProvider => {
  let made = 0
  return {
    name: "endless",
    complete: () => Effect.sync(() => calls({ name: "look", args: { n: ++made } }))
  }
}

const run = async (options: Budget.Options, more: Partial<AgentConfig> = {}) => {
  const levels: Array<BudgetLevel> = []
  const provider = endless()
  let asked = 0
  await using agent = createAgent({
    provider: {
      ...provider,
      complete: (request) => Effect.andThen(Effect.sync(() => asked++), provider.complete(request))
    },
    tools: [look],
    hooks: [Budget.make(options), defineHook({ name: "hear", onBudget: (level) => void levels.push(level) })],
    ...more
  })
  const error = await agent.run("go").then(
    (result) => ({ _tag: result.status, message: result.text }),
    (error: { readonly _tag: string; readonly message: string }) => error
  )
  return { asked, error, levels }
}

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

  it("tells onBudget hooks once of each threshold, and lets one of them end the turn", async () => {
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

  it("ends with its wall clock, wherever among several limits it stands", async () => {
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
          Effect.andThen(Effect.sync(() => asked++), Effect.andThen(Effect.sleep(50), provider.complete(request)))
        const { error } = await run({ limits }, { provider: { ...provider, complete } })
        assert.match(error.message, new RegExp(`the ${scope} budget of 40 ms is used up: \\d+ ms`))
        assert.strictEqual(asked, 1)
      }
    }
  })

  it("does not take an unknown price for nothing", async () => {
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

  it("counts retries, and takes nothing for what was refused at the door", async () => {
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

  it("charges what hooks and compactors ask a model for", async () => {
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

  it("keeps users apart, and one user's sessions together, in windows", async () => {
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

  it("counts a call that was cut off as reserved", async () => {
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

  it("refuses limits that make no sense, by name", () => {
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

  it(
    "never lets more be spent than the limit and one reserved call: 10,000 interleavings of parallel agents, retries and hooks",
    async () => {
      const limits: ReadonlyArray<Budget.Limit> = [{ scope: "run", tokens: 2_000 }]
      const reserved = 50 + 200
      let most = 0
      for (let seed = 0; seed < 10_000; seed++) {
        const random = Seeded.random(seed)
        const below = (n: number) => Math.floor(random() * n)
        let spent = 0
        const agents = 1 + below(4)
        const provider: LlmProvider = {
          name: "p",
          complete: () =>
            Effect.gen(function*() {
              for (let pause = below(4); pause > 0; pause--) yield* Effect.yieldNow
              const dice = below(10)
              if (dice === 0) return yield* new ProviderError.Overloaded({ provider: "p", message: "busy" })
              const cost = { inputTokens: below(50), outputTokens: below(200) }
              spent += cost.inputTokens + cost.outputTokens
              const partial = { text: "", usage: cost }
              if (dice === 1) return yield* new ProviderError.Connection({ provider: "p", message: "cut", partial })
              return { ...text("x"), usage: cost }
            })
        }
        const budget = Budget.make({ limits, tokenizer: { count: () => 0 }, assumeOutputTokens: reserved })
        const scope = budgetScope()
        const call = () =>
          Effect.ignore(
            budget.wrapLlmCall!(request, nextOf(provider), scope as never) as Effect.Effect<unknown, unknown>
          )
        const agent = Effect.gen(function*() {
          for (let n = 0; n < 8; n++) {
            yield* call()
            for (let pause = below(3); pause > 0; pause--) yield* Effect.yieldNow
          }
        })
        await Effect.runPromise(
          Effect.provideService(
            Effect.all(Array.from({ length: agents }, () => agent), { concurrency: "unbounded", discard: true }),
            Scheduler.Scheduler,
            Seeded.make(seed)
          )
        )
        most = Math.max(most, spent)
        assert.isAtMost(spent, 2_000 + reserved, `seed ${seed}`)
      }
      assert.isAbove(most, 2_000)
    },
    120_000
  )

  it("holds over sub-agents, retries and two approval pauses, in whole runs", async () => {
    for (let seed = 0; seed < 60; seed++) {
      const random = Seeded.random(seed)
      const below = (n: number) => Math.floor(random() * n)
      let spent = 0
      let turns = 0
      const provider = (name: string, first: LlmResponse): LlmProvider => ({
        name,
        complete: ({ messages }) =>
          Effect.suspend(() => {
            if (below(8) === 0) return Effect.fail(new ProviderError.Overloaded({ provider: name, message: "busy" }))
            const cost = { inputTokens: below(100), outputTokens: below(100) }
            spent += cost.inputTokens + cost.outputTokens
            turns++
            const last = messages.at(-1)!.role === "tool" && below(3) > 0
            return Effect.succeed({ ...(last ? text("done") : first), usage: cost })
          })
      })
      const make = () => {
        const worker = createAgent({
          name: "worker",
          provider: provider("w", calls({ name: "look", args: {} })),
          tools: [look]
        })
        return createAgent({
          provider: provider(
            "r",
            calls({ name: "work", args: { message: "a" } }, { name: "work", args: { message: "b" } }, {
              name: "look",
              args: {}
            })
          ),
          tools: [agentTool({ name: "work", description: "w", agent: worker }), look],
          limits: { steps: 12 },
          hooks: [
            Budget.make({
              limits: [{ scope: "run", tokens: 1_500 }],
              tokenizer: { count: () => 0 },
              assumeOutputTokens: 200
            }),
            defineHook({
              name: "ask",
              tools: "look",
              preToolCall: () => below(3) === 0 ? HookAction.ask("?") : undefined
            }),
            defineHook({ name: "again", onLlmError: () => HookAction.transform({ type: "retry", delayMs: 0 }) })
          ]
        })
      }
      let result = await make().run("go").catch(() => undefined)
      for (
        let pause = 0;
        pause < 6 && result !== undefined && (result.status === "suspended" || result.status === "limited");
        pause++
      ) {
        const snapshot = JSON.stringify(result.snapshot)
        const decisions = result.status === "suspended"
          ? Object.fromEntries(result.pending.map(({ callId }) => [callId, { type: "approve" as const }]))
          : {}
        result = await make().resume(snapshot, decisions).catch(() => undefined)
      }
      assert.isAtMost(spent, 1_500 + 200, `seed ${seed}`)
      assert.isAbove(turns, 0)
    }
  })
})

const request: LlmRequest = { messages: [], tools: [], parameters: {} }

const nextOf = (provider: LlmProvider) =>
  Object.assign((value: LlmRequest) => provider.complete(value), { promise: undefined as never })

/** What of a context a budget uses. */
const budgetScope = () => {
  const values = new Map<string, unknown>()
  const conversation = {
    get: (key: { readonly name: string; readonly initial: unknown }) => values.get(key.name) ?? key.initial,
    set: (key: { readonly name: string }, value: unknown) => void values.set(key.name, value)
  }
  return {
    hook: "budget",
    agent: { name: "a", depth: 0 },
    root: { sessionId: "s", turnNumber: 1 },
    state: { durable: { conversation } },
    warn: () => {},
    reportBudget: () => Effect.undefined
  }
}
