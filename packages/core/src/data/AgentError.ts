/**
 * The errors of an agent, one tag per kind. The message is for people, the fields are for programs.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import type { ProviderError } from "./ProviderError.ts"

/** A hook refused an operation. @category errors @since 0.1.0 */
export class HookRejected extends Schema.TaggedError<HookRejected>()("HookRejected", {
  hook: Schema.String,
  point: Schema.String,
  reason: Schema.String,
  /** The message for the user, where it should not be the reason. */
  userMessage: Schema.optionalKey(Schema.String),
  message: Schema.String
}) {}

/**
 * A fail-closed hook broke (it threw, timed out, or gave an illegal answer), and its policy ends the operation.
 *
 * @category errors
 * @since 0.1.0
 */
export class HookFailed extends Schema.TaggedError<HookFailed>()("HookFailed", {
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
export class ChainError extends Schema.TaggedError<ChainError>()("ChainError", {
  hook: Schema.String,
  message: Schema.String
}) {}

/** The agent's configuration is wrong; `key` says where. @category errors @since 0.1.0 */
export class ConfigError extends Schema.TaggedError<ConfigError>()("ConfigError", {
  key: Schema.String,
  message: Schema.String
}) {}

/**
 * A snapshot cannot be resumed: broken JSON, wrong shape, newer version, or an agent that does not fit it. Nothing was
 * changed.
 *
 * @category errors
 * @since 0.1.0
 */
export class SnapshotError extends Schema.TaggedError<SnapshotError>()("SnapshotError", {
  problem: Schema.Literals(["not-json", "not-a-snapshot", "newer-version", "wrong-decision", "finished", "forged"]),
  message: Schema.String
}) {}

/** The session is busy with a turn, or was closed. @category errors @since 0.1.0 */
export class SessionError extends Schema.TaggedError<SessionError>()("SessionError", {
  sessionId: Schema.String,
  problem: Schema.Literals(["busy", "closed", "exists"]),
  message: Schema.String
}) {}

/** Memory, policy, a store or a custom core failed. @category errors @since 0.1.0 */
export class PortFailed extends Schema.TaggedError<PortFailed>()("PortFailed", {
  port: Schema.String,
  message: Schema.String,
  cause: Schema.optionalKey(Schema.Defect())
}) {}

/** The answer does not fit the agent's `output`, and the retries are used up. @category errors @since 0.1.0 */
export class OutputMismatch extends Schema.TaggedError<OutputMismatch>()("OutputMismatch", {
  /** Name of the output. */
  output: Schema.String,
  /** Where the answer does not fit; the path of the whole answer is empty. */
  problems: Schema.Array(Schema.Struct({ path: Schema.String, message: Schema.String })),
  /** The last answer. */
  text: Schema.String,
  message: Schema.String
}) {}

/**
 * Every error a turn can end with. Limits, suspension and `Abort` are outcomes, not errors.
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
