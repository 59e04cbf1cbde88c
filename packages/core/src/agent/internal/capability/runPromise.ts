/** `ctx.promise`: runs an Effect for async functions, with the services of the turn. Ends with the turn. */
import * as Effect from "effect/Effect"
import type { Turn } from "../turn/turn.ts"

export const runPromise = <A, E>({ io: { services, signal } }: Turn, effect: Effect.Effect<A, E>): Promise<A> =>
  services === undefined
    ? Effect.runPromise(effect, { signal })
    : Effect.runPromiseWith(services)(effect, { signal })
