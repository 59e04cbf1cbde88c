/**
 * A clock that stands still until a test advances it, for hooks and agents that wait.
 *
 * @since 0.1.0
 */
import { assertArguments } from "@belay/core/ArgumentCheck"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as TestClock from "effect/testing/TestClock"

/** A clock that starts at 0 milliseconds since the epoch. @category models @since 0.1.0 */
export interface VirtualClock extends AsyncDisposable {
  /** Advances the clock by `ms` milliseconds. Everything that waits for a time until then continues, in order. */
  readonly advance: (ms: number) => Promise<void>
  /** Milliseconds since the epoch. */
  readonly now: () => Promise<number>
  /** Runs an Effect with this clock. */
  readonly run: <A, E>(effect: Effect.Effect<A, E>) => Promise<A>
  /** For `layer` of `createAgent`. Turns, tools, hooks and retries then use this clock. */
  readonly layer: Layer.Layer<never>
  /** Ends the clock. Agents that use it must be closed before. */
  readonly close: () => Promise<void>
}

/**
 * Creates a clock.
 *
 * @example
 * ```ts
 * import { createAgent, defineHook } from "@belay/core"
 * import { Scripted, VirtualClock } from "@belay/testing"
 *
 * const clock = VirtualClock.make()
 * const slow = defineHook({
 *   name: "slow",
 *   kind: "policy",
 *   timeout: "1 minute",
 *   preTurn: () => new Promise<never>(() => {})
 * })
 * const agent = createAgent({ provider: Scripted.make(["hi"]), hooks: [slow], layer: clock.layer })
 * const turn = agent.run("hello").catch((error: unknown) => error)
 * await clock.advance(60_000)
 * console.log(await turn)
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (): VirtualClock => {
  const runtime = ManagedRuntime.make(TestClock.layer({ warningDelay: "1 hour" }))
  return {
    advance: async (ms) => {
      assertArguments(typeof ms === "number" && ms >= 0, "advance", ["ms"], [ms])
      // Gives code with promises the time to reach the next wait.
      await yieldToPromises()
      await runtime.runPromise(TestClock.adjust(ms))
      await yieldToPromises()
    },
    now: () => runtime.runPromise(Effect.clockWith(({ currentTimeMillis }) => currentTimeMillis)),
    run: (effect) => runtime.runPromise(effect),
    // The layer provides no service, only a clock.
    layer: Layer.effectContext(Effect.promise(() => runtime.context() as Promise<Context.Context<never>>)),
    close: () => runtime.dispose(),
    [Symbol.asyncDispose]: () => runtime.dispose()
  }
}

const yieldToPromises = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
}
