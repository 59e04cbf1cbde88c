/** Calls functions of ports. Programs without types can return anything from them. */
import * as Effect from "effect/Effect"
import { show } from "../option/OptionCheck.ts"

/**
 * Says why a value is not what a port has to return. A fiber that gets something else than an Effect ends at once,
 * without its finalizers, so the value is checked before.
 */
export const whyNoEffect = (name: string, returned: unknown): string => {
  if (!isThenable(returned)) return `${name} returned ${show(returned)} where an Effect is expected`
  // Nobody waits for it.
  returned.then(undefined, () => {})
  return `${name} returned a promise where an Effect is expected: return Effect.promise(() => ...)`
}

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === "object" && value !== null && "then" in value && typeof value.then === "function"

/** A defect that says what a function of a port returned. */
export const noEffect = (name: string, returned: unknown): Effect.Effect<never> =>
  Effect.die(new TypeError(whyNoEffect(name, returned)))

/** Calls a function of a port. If it throws or returns no Effect, that is a defect. */
export const portEffect = <A, E, R>(name: string, call: () => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.suspend(() => {
    const returned = call()
    return Effect.isEffect(returned) ? returned : noEffect(name, returned)
  })
