/** Reads what callers of a host pass. */
import { messageOf } from "@belay/core/ErrorMessage"
import type { Json } from "@belay/core/Json"
import { Message, whyInvalid } from "@belay/core/Message"
import { checkKinds, checkOptions, oneOf, type OptionKinds } from "@belay/core/OptionCheck"
import { isDecision } from "@belay/core/RunState"
import type { Decisions } from "@belay/core/Session"
import { TurnInput } from "@belay/core/Turn"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { HostError } from "../../HostError.ts"

/** Turns the failure of a store or of an engine into an error of the host, and what it trips over in a stored value. */
export const stored = <A>(effect: Effect.Effect<A, unknown>): Effect.Effect<A, HostError> =>
  Effect.catchCause(effect, (failed) => {
    if (Cause.hasInterruptsOnly(failed)) return Effect.failCause(failed as Cause.Cause<never>)
    const cause = Cause.squash(failed)
    if (cause instanceof HostError) return Effect.fail(cause)
    const message = `the host could not use its store or engine: ${messageOf(cause)}. Try again with the same key`
    return Effect.fail(new HostError({ problem: "store", message, cause }))
  })

export const wrongInput = (sessionId: string | undefined, message: string): HostError =>
  new HostError({
    problem: "wrong-input",
    message,
    ...(typeof sessionId === "string" ? { sessionId: sessionId.slice(0, 128) } : {})
  })

export const isSessionId = (id: unknown): boolean =>
  typeof id === "string" && /^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/.test(id)

export const checkSessionId = (sessionId: string): Effect.Effect<void, HostError> =>
  isSessionId(sessionId)
    ? Effect.void
    : Effect.fail(wrongInput(
      sessionId,
      "the session id must be 1 to 128 letters, digits, \"_\", \"-\" or \".\", and begin with a letter or digit"
    ))

/** Refuses what is not a text, for calls that only look something up. */
export const checkTexts = (texts: { readonly [name: string]: unknown }): Effect.Effect<void, HostError> => {
  const wrong = Object.entries(texts).find(([, value]) => typeof value !== "string")
  return wrong === undefined
    ? Effect.void
    : Effect.fail(wrongInput(texts["session id"] as string | undefined, `the ${wrong[0]} must be a text`))
}

/** Checks the options of a call, which are passed on if they are valid. */
export const checkCall = <A extends object>(
  sessionId: string,
  name: string,
  options: A,
  kinds: OptionKinds<A>
): Effect.Effect<A, HostError> =>
  Effect.suspend(() => {
    const checked = Result.flatMap(
      checkKinds(name, options, kinds),
      () => checkOptions(name, oneOf("mode", "mode" in options ? options.mode : undefined, ["queue", "steer"]))
    )
    if (Result.isSuccess(checked) && "key" in options && String(options.key).startsWith("cancel ")) {
      const message = `${name}.key: a key cannot begin with "cancel ", because cancellations have such keys`
      return Effect.fail(wrongInput(sessionId, message))
    }
    return Result.isFailure(checked)
      ? Effect.fail(wrongInput(sessionId, checked.failure.message))
      : Effect.succeed(options)
  })

const decodeInput = Schema.decodeUnknownResult(TurnInput)
const decodeHistory = Schema.decodeUnknownResult(Schema.Array(Message))

export const readMessage = (
  sessionId: string,
  message: string | TurnInput,
  at: number | Date | undefined,
  history: ReadonlyArray<Message> = []
): Effect.Effect<Json, HostError> =>
  Effect.andThen(
    checkSessionId(sessionId),
    Effect.suspend(() => {
      if (at !== undefined && !isTime(at)) {
        return Effect.fail(wrongInput(sessionId, "at: expected a date, or milliseconds since the epoch"))
      }
      if (typeof message !== "string" && typeof message !== "object") {
        return Effect.fail(wrongInput(sessionId, "the message: expected a text or { message }"))
      }
      const decoded = decodeInput(typeof message === "string" ? { message } : message)
      if (Result.isFailure(decoded)) {
        return Effect.fail(wrongInput(sessionId, `the message: ${decoded.failure.message}`))
      }
      const past = decodeHistory(history)
      if (Result.isFailure(past)) return Effect.fail(wrongInput(sessionId, `the history: ${past.failure.message}`))
      const invalid = whyInvalid(past.success)
      if (invalid !== undefined) return Effect.fail(wrongInput(sessionId, `the history is not valid: ${invalid}`))
      const { key: _key, part: _part, steer: _steer, ...input } = decoded.success
      // The input of a turn is JSON. The compiler cannot check that, because an interface has no index signature.
      return Effect.succeed((past.success.length === 0 ? input : { ...input, history }) as unknown as Json)
    })
  )

const isTime = (at: unknown): boolean => (typeof at === "number" || at instanceof Date) && Number.isFinite(Number(at))

export const readDecisions = (sessionId: string, decisions: Decisions): Effect.Effect<Json, HostError> =>
  Effect.andThen(
    checkSessionId(sessionId),
    Effect.suspend(() => {
      const all = Object.entries(Object(decisions))
      const wrong = all.find(([, decision]) => !isDecision(decision))
      if (all.length > 0 && wrong === undefined) {
        // Decisions are JSON. The compiler cannot check that.
        return Effect.succeed(decisions as unknown as Json)
      }
      const what = wrong === undefined ? "there are none" : `that of ${wrong[0]} is not a decision`
      return Effect.fail(wrongInput(
        sessionId,
        `decisions: ${what}; expected tool call ids with decisions such as { type: "approve" }`
      ))
    })
  )
