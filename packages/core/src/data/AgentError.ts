/**
 * The errors of an agent. Each kind has its own tag. Messages are for people, fields are for programs.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { TaggedError } from "./effect/TaggedError.ts"
import type { ProviderError } from "./ProviderError.ts"
import { TurnPartial } from "./TurnPartial.ts"

const ofTurn = {
  /** What the turn had said and spent before. Present if the error ended a turn. */
  partial: Schema.optionalKey(TurnPartial)
}

/** A hook rejected an operation. @category errors @since 0.1.0 */
export class HookRejected extends TaggedError<HookRejected>()("HookRejected", {
  ...ofTurn,
  hook: Schema.String,
  point: Schema.String,
  reason: Schema.String,
  /** The message for the user. Default: the reason. */
  userMessage: Schema.optionalKey(Schema.String),
  message: Schema.String
}) {}

/**
 * A fail-closed hook failed: it threw, timed out, or returned an illegal answer. Its failure policy ended the
 * operation.
 *
 * @category errors
 * @since 0.1.0
 */
export class HookFailed extends TaggedError<HookFailed>()("HookFailed", {
  ...ofTurn,
  hook: Schema.String,
  point: Schema.String,
  kind: Schema.Literals(["threw", "rejected", "failed", "died", "timeout", "interrupted", "illegal"]),
  policy: Schema.Literals(["reject", "abort"]),
  message: Schema.String
}) {}

/**
 * The hooks cannot be made into a chain: an unknown point, a duplicate name, a constraint cycle.
 *
 * @category errors
 * @since 0.1.0
 */
export class ChainError extends TaggedError<ChainError>()("ChainError", {
  hook: Schema.String,
  message: Schema.String
}) {}

/** The configuration of the agent is wrong; `key` names the option. @category errors @since 0.1.0 */
export class ConfigError extends TaggedError<ConfigError>()("ConfigError", {
  ...ofTurn,
  key: Schema.String,
  message: Schema.String
}) {}

/**
 * A snapshot cannot be resumed: it is not valid JSON, has the wrong shape or a newer version, or does not fit this
 * agent. Nothing was changed.
 *
 * @category errors
 * @since 0.1.0
 */
export class SnapshotError extends TaggedError<SnapshotError>()("SnapshotError", {
  ...ofTurn,
  problem: Schema.Literals(["not-json", "not-a-snapshot", "newer-version", "wrong-decision", "finished", "forged"]),
  message: Schema.String
}) {}

/**
 * A session cannot do what was asked:
 * - `busy`: another turn runs, in this process or in another one
 * - `closed`: it was closed or released
 * - `parked`: it was parked before the turn began, so nothing of the turn was done
 * - `exists`: it has its own messages, so it cannot be opened with other ones
 * - `not-stored`: the agent has no store, so releasing the session would lose it
 * - `wrong-input`: the input of a turn is neither a text nor an object with a message
 * - `wrong-options`: an option of the session is unknown or wrong, such as an id that is not allowed
 *
 * @category errors
 * @since 0.1.0
 */
export class SessionError extends TaggedError<SessionError>()("SessionError", {
  ...ofTurn,
  sessionId: Schema.String,
  problem: Schema.Literals(["busy", "closed", "exists", "parked", "not-stored", "wrong-options", "wrong-input"]),
  message: Schema.String
}) {}

/** A component that the program passed in failed: memory, policy, store or core. @category errors @since 0.1.0 */
export class PortFailed extends TaggedError<PortFailed>()("PortFailed", {
  ...ofTurn,
  port: Schema.String,
  message: Schema.String,
  cause: Schema.optionalKey(Schema.Defect())
}) {}

/** The answer does not fit the agent's `output`, and the retries are used up. @category errors @since 0.1.0 */
export class OutputMismatch extends TaggedError<OutputMismatch>()("OutputMismatch", {
  ...ofTurn,
  /** Name of the output. */
  output: Schema.String,
  /** The places where the answer does not fit. An empty path means the whole answer. */
  problems: Schema.Array(Schema.Struct({ path: Schema.String, message: Schema.String })),
  /** The text of the last answer. */
  text: Schema.String,
  message: Schema.String
}) {}

/**
 * All errors of a turn. Limits, suspension and `Abort` are results, not errors.
 *
 * @category errors
 * @since 0.1.0
 */
export type AgentError =
  | HookRejected
  | HookFailed
  | SessionError
  | SnapshotError
  | ConfigError
  | PortFailed
  | OutputMismatch
  | ProviderError
