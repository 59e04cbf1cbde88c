/** Budgets: nothing that a model does goes past them. */
import { agentTool, createAgent, defineHook, HookAction } from "@belay/core"
import type { LlmResponse } from "@belay/core/LlmCall"
import type { LlmProvider } from "@belay/core/LlmProvider"
import * as ProviderError from "@belay/core/ProviderError"
import * as Budget from "@belay/hooks/Budget"
import { random } from "@belay/testing/SeededRandom"
import * as Seeded from "@belay/testing/SeededScheduler"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Scheduler from "effect/Scheduler"

import { budgetScope, calls, look, nextOf, request, text } from "../support/budget.ts"

describe("Budget with calls at the same time", () => {
  it(
    "never lets more be spent than the limit and one reserved call: 10,000 interleavings of parallel agents, retries and hooks",
    async () => {
      const limits: ReadonlyArray<Budget.Limit> = [{ scope: "run", tokens: 2_000 }]
      const reserved = 50 + 200
      let most = 0
      for (let seed = 0; seed < 10_000; seed++) {
        const { below } = random(seed)
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
      const { below } = random(seed)
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
