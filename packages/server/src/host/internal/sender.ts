/**
 * The connection through which a process wakes sessions. It is opened when it is needed, and closed when it is idle.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as RcRef from "effect/RcRef"
import * as Scope from "effect/Scope"
import type { Engine } from "../Engine.ts"
import { EngineFailure } from "./engineFailure.ts"

/** How long a connection stays open that nobody uses. A process that only sends cannot end before. */
const idleTime = "5 seconds"

/** How long a wake-up may take. A server that cannot be reached must not hold up whoever sends. */
const patience = "30 seconds"

/** Returns the `wake` of an engine. `open` connects. */
export const senderOf = (open: Effect.Effect<Engine["wake"], unknown, Scope.Scope>): Engine["wake"] => {
  const shared = Effect.runSync(Scope.provide(
    RcRef.make({ acquire: failing(open), idleTimeToLive: idleTime }),
    Scope.makeUnsafe()
  ))
  return (sessionId, at) =>
    Effect.scoped(Effect.flatMap(RcRef.get(shared), (wake) => wake(sessionId, at))).pipe(
      // A new request gets another id, if that was the reason.
      Effect.retry({ times: 1 }),
      Effect.timeout(patience),
      Effect.mapError((cause) =>
        new EngineFailure({ message: `the wake-up of session ${sessionId} was not stored: ${reasonOf(cause)}`, cause })
      )
    )
}

/** The message of the first cause. Those of libraries in between only say that something has failed. */
const reasonOf = (error: unknown): string => {
  const { cause, message } = Object(error) as { readonly cause?: unknown; readonly message?: unknown }
  return typeof Object(cause).message === "string" ? reasonOf(cause) : String(message ?? error)
}

/** Turns a defect of a library into a failure, because a database that is away is not a bug. */
export const failing = <A, R>(effect: Effect.Effect<A, unknown, R>): Effect.Effect<A, EngineFailure, R> =>
  Effect.catchCause(effect, (failed) => {
    const cause = Cause.squash(failed)
    return Effect.fail(new EngineFailure({ message: reasonOf(cause), cause }))
  })

/** Imports a module that needs an optional package. Fails with what to install, if the package is missing. */
export const needing = <A>(packages: string, load: () => Promise<A>): Effect.Effect<A, unknown> =>
  Effect.mapError(
    Effect.tryPromise({ try: load, catch: (error) => error }),
    (error) =>
      Object(error).code === "ERR_MODULE_NOT_FOUND"
        ? new Error(`the engine needs packages that are not installed: npm install ${packages}`)
        : error
  )
