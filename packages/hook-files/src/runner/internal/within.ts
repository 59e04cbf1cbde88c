/** What the runners that start no process share: they end as a command does, in time, and never fail. */
import { until } from "@belay/core/Deadline"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Finished } from "../../process/Command.ts"

/** What came of it, without the time it took. */
export type Ended = Omit<Finished, "durationMs">

/** Most characters of what a server, a tool or a model says. */
export const maxOutput = 1_048_576

/** It said something, and that counts. */
export const said = (stdout: string): Ended =>
  stdout.length > maxOutput
    ? { exitCode: undefined, stdout: "", stderr: "", timedOut: false, overflowed: true }
    : { exitCode: 0, stdout, stderr: "", timedOut: false, overflowed: false }

/** It broke. */
export const broke = (stderr: string): Ended => ({
  exitCode: 1,
  stdout: "",
  stderr,
  timedOut: false,
  overflowed: false
})

/**
 * Runs it until its time is up, whatever it does with its interruption. Failures and defects are a text; an
 * interruption stays one.
 */
export const within = (timeoutMs: number, work: Effect.Effect<Ended, unknown>): Effect.Effect<Finished> =>
  Effect.gen(function*() {
    const begin = yield* Clock.currentTimeMillis
    const ended = yield* until(
      Effect.catchCause(
        work,
        (cause) =>
          Cause.hasInterruptsOnly(cause) ? Effect.interrupt : Effect.succeed(broke(messageOf(Cause.squash(cause))))
      ),
      () => begin + timeoutMs,
      () => Effect.succeed(late)
    )
    return { ...ended, durationMs: (yield* Clock.currentTimeMillis) - begin }
  })

const late: Ended = { exitCode: undefined, stdout: "", stderr: "", timedOut: true, overflowed: false }

/** The words of an error. */
export const messageOf = (error: unknown): string => {
  const message: unknown = typeof error === "object" && error !== null && "message" in error ? error.message : error
  return typeof message === "string" && message !== "" ? message : "it failed and did not say why"
}
