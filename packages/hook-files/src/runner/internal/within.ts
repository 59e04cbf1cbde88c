/**
 * Shared by the runners that start no process: their results have the form of a command's result, they have a timeout,
 * and they never fail.
 */
import * as Deadline from "@belay/core/Deadline"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type { Finished } from "../../process/Command.ts"

/** The result without its duration. */
export type Ended = Omit<Finished, "durationMs">

/** The most characters that are kept of the answer of a server, a tool or a model. */
export const maxOutput = 1_048_576

/** A result with exit code 0. */
export const said = (stdout: string): Ended =>
  stdout.length > maxOutput
    ? { exitCode: undefined, stdout: "", stderr: "", timedOut: false, overflowed: true }
    : { exitCode: 0, stdout, stderr: "", timedOut: false, overflowed: false }

/** A result with exit code 1. */
export const broke = (stderr: string): Ended => ({
  exitCode: 1,
  stdout: "",
  stderr,
  timedOut: false,
  overflowed: false
})

/**
 * Runs an Effect until its timeout, even if it ignores the interruption. Failures and defects become a message; an
 * interruption from outside remains one.
 */
export const within = (timeoutMs: number, work: Effect.Effect<Ended, unknown>): Effect.Effect<Finished> =>
  Effect.gen(function*() {
    const begin = yield* Deadline.now
    const ended = yield* Deadline.until(
      Effect.catchCause(
        work,
        (cause) =>
          Cause.hasInterruptsOnly(cause) ? Effect.interrupt : Effect.succeed(broke(messageOf(Cause.squash(cause))))
      ),
      () => begin + timeoutMs,
      () => Effect.succeed(late)
    )
    return { ...ended, durationMs: Math.round((yield* Deadline.now) - begin) }
  })

const late: Ended = { exitCode: undefined, stdout: "", stderr: "", timedOut: true, overflowed: false }

/** The message of an error. */
export const messageOf = (error: unknown): string => {
  const message: unknown = typeof error === "object" && error !== null && "message" in error ? error.message : error
  return typeof message === "string" && message !== "" ? message : "it failed and did not say why"
}
