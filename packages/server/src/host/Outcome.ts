/**
 * What became of something that was sent to a session.
 *
 * @since 0.1.0
 */
import { checked } from "@belay/core/ArgumentCheck"
import { messageOf } from "@belay/core/ErrorMessage"
import type { Json } from "@belay/core/Json"
import type { RunResult } from "@belay/core/RunResult"
import { PendingAsk } from "@belay/core/RunState"
import { Usage } from "@belay/core/Usage"
import * as Schema from "effect/Schema"

/** What is known of the turn. @category models @since 0.1.0 */
export interface OfTurn {
  readonly turnNumber: number
  /** The answer, the reason of an Abort, or the partial answer if a limit was reached. */
  readonly text: string
  readonly usage: Usage
}

/**
 * Why a turn has failed: the tag and the message of the error, and the text for the user, if a hook has given one.
 *
 * @category models
 * @since 0.1.0
 */
export interface OutcomeError {
  readonly _tag: string
  readonly message: string
  readonly userMessage?: string
}

/**
 * What became of a message, of decisions or of a cancellation. It is plain JSON.
 *
 * - `completed`: the agent answered. `object` is the decoded answer of an agent with an `output`.
 * - `suspended`: the turn waits for people. Answer the `pending` questions with `decide`.
 * - `limited`: the turn reached a limit. The next message begins a new turn.
 * - `aborted`: a hook ended the turn.
 * - `failed`: the turn ended with an error, after the retries and fallbacks of the agent; or decisions were not valid.
 * - `cancelled`: somebody cancelled it.
 * - `dead`: the message was begun too often by processes that ended, so it was given up.
 * - `delivered`: a running turn has received this message or these decisions.
 * - `late`: there was no question to decide any more, or nothing to cancel.
 *
 * @category models
 * @since 0.1.0
 */
export type Outcome =
  | OfTurn & { readonly status: "completed"; readonly object?: unknown }
  | OfTurn & { readonly status: "suspended"; readonly pending: ReadonlyArray<PendingAsk> }
  | OfTurn & { readonly status: "limited"; readonly limit: string; readonly used: number; readonly max: number }
  | OfTurn & { readonly status: "aborted"; readonly by: string; readonly reason: string }
  | { readonly status: "failed"; readonly error: OutcomeError }
  | { readonly status: "cancelled" }
  | { readonly status: "dead"; readonly attempts: number; readonly reason: string }
  | { readonly status: "delivered"; readonly turnNumber?: number }
  | { readonly status: "late"; readonly reason: string }

/** Returns the outcome of a turn that ended or waits for people. @category constructors @since 0.1.0 */
export const ofResult = checked(
  "Outcome.ofResult",
  ["result"],
  (result: Exclude<RunResult, { readonly status: "parked" }>): Outcome => {
    const { text, turnNumber, usage } = result
    const turn = { turnNumber, text, usage }
    switch (result.status) {
      case "completed":
        return { status: "completed", ...turn, ...("object" in result ? { object: result.object } : {}) }
      case "suspended":
        return { status: "suspended", ...turn, pending: result.pending }
      case "limited":
        return { status: "limited", ...turn, limit: result.limit, used: result.used, max: result.max }
      case "aborted":
        return { status: "aborted", ...turn, by: result.by, reason: result.reason }
    }
  }
)

/** Returns the outcome of an error. @category constructors @since 0.1.0 */
export const ofError = (error: unknown): Outcome => {
  const { _tag, message, name, userMessage } = Object(error) as { readonly [field: string]: unknown }
  const tag = typeof _tag === "string" ? _tag : typeof name === "string" ? name : "Error"
  const text = typeof message === "string" ? message : messageOf(error)
  return {
    status: "failed",
    error: { _tag: tag, message: text, ...(typeof userMessage === "string" ? { userMessage } : {}) }
  }
}

/** Returns an outcome as JSON for the inbox. @category conversions @since 0.1.0 */
export const toJson = checked(
  "Outcome.toJson",
  ["outcome"],
  (outcome: Outcome): Json => JSON.parse(JSON.stringify(outcome)) as Json
)

/**
 * Returns the outcome that `toJson` has made, or nothing for any other value.
 *
 * @category conversions
 * @since 0.1.0
 */
export const fromJson = (json: Json | undefined): Outcome | undefined => isOutcome(json) ? json : undefined

const ofTurn = { turnNumber: Schema.Finite, text: Schema.String, usage: Usage }

/** Somebody may have changed the store. */
const isOutcome = Schema.is(Schema.Union([
  Schema.Struct({ status: Schema.Literal("completed"), ...ofTurn }),
  Schema.Struct({ status: Schema.Literal("suspended"), ...ofTurn, pending: Schema.Array(PendingAsk) }),
  Schema.Struct({
    status: Schema.Literal("limited"),
    ...ofTurn,
    limit: Schema.String,
    used: Schema.Finite,
    max: Schema.Finite
  }),
  Schema.Struct({ status: Schema.Literal("aborted"), ...ofTurn, by: Schema.String, reason: Schema.String }),
  Schema.Struct({
    status: Schema.Literal("failed"),
    error: Schema.Struct({
      _tag: Schema.String,
      message: Schema.String,
      userMessage: Schema.optionalKey(Schema.String)
    })
  }),
  Schema.Struct({ status: Schema.Literal("cancelled") }),
  Schema.Struct({ status: Schema.Literal("dead"), attempts: Schema.Finite, reason: Schema.String }),
  Schema.Struct({ status: Schema.Literal("delivered"), turnNumber: Schema.optionalKey(Schema.Finite) }),
  Schema.Struct({ status: Schema.Literal("late"), reason: Schema.String })
])) as (json: unknown) => json is Outcome
