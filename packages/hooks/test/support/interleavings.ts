/** Parallel agents that share a budget, in an order that a seed chooses. */
import type { LlmProvider } from "@belay/core/LlmProvider"
import * as ProviderError from "@belay/core/ProviderError"
import * as Budget from "@belay/hooks/Budget"
import { random } from "@belay/testing/SeededRandom"
import * as SeededScheduler from "@belay/testing/SeededScheduler"
import { assert } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Scheduler from "effect/Scheduler"
import { budgetScope, nextOf, request, text } from "./budget.ts"

const limit = 2_000
const reserved = 50 + 200

/** Runs up to four agents with one budget and some failing calls. Returns the number of tokens that they spent. */
const spendInParallel = (seed: number): Effect.Effect<number> =>
  Effect.suspend(() => {
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
    const budget = Budget.make({
      limits: [{ scope: "run", tokens: limit }],
      tokenizer: { count: () => 0 },
      assumeOutputTokens: reserved
    })
    const scope = budgetScope()
    const call = Effect.suspend(() =>
      Effect.matchCause(
        budget.wrapLlmCall!(request, nextOf(provider), scope as never) as Effect.Effect<unknown, unknown>,
        {
          onSuccess: () => undefined,
          // Only what was really spent can stop a call; reservations only make it wait.
          onFailure: (cause) => {
            const stopped = (Cause.squash(cause) as { readonly reason?: string }).reason?.includes("is used up")
            if (stopped === true) assert.isAtLeast(spent, limit)
          }
        }
      )
    )
    const agent = Effect.gen(function*() {
      for (let n = 0; n < 8; n++) {
        yield* call
        for (let pause = below(3); pause > 0; pause--) yield* Effect.yieldNow
      }
    })
    return Effect.all(Array.from({ length: agents }, () => agent), { concurrency: "unbounded", discard: true }).pipe(
      Effect.map(() => spent)
    )
  })

/** Tries `count` interleavings. None may spend more than the limit and one reserved call; some must exceed the limit. */
export const tryInterleavings = async (count: number): Promise<void> => {
  let most = 0
  for (let seed = 0; seed < count; seed++) {
    const spent = await Effect.runPromise(
      Effect.provideService(spendInParallel(seed), Scheduler.Scheduler, SeededScheduler.make(seed))
    )
    most = Math.max(most, spent)
    assert.isAtMost(spent, limit + reserved, `seed ${seed}`)
  }
  assert.isAbove(most, limit)
}
