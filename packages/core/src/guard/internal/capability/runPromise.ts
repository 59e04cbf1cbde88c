/** `ctx.promise`: runs an Effect as a promise, with the services of the turn. It is interrupted when the turn ends. */
import * as Effect from "effect/Effect"
import * as Awaitable from "../../../data/effect/Awaitable.ts"
import type { GuardTurn } from "../point/guardTurn.ts"

export const runPromise = <A, E>({ io: { services, signal } }: GuardTurn, effect: Effect.Effect<A, E>): Promise<A> => {
  // Effect would run it up to its first pause, which can be its end.
  if (signal.aborted) return Promise.reject(signal.reason as DOMException)
  return services === undefined
    ? Effect.runPromise(effect, { signal })
    : Effect.runPromiseWith(services)(effect, { signal })
}

/** Makes the Effect of a capability awaitable. */
export const awaitable = <A, E>(turn: GuardTurn, effect: Effect.Effect<A, E>): Awaitable.Awaitable<A, E> =>
  Awaitable.make(effect, (one) => runPromise(turn, one))
