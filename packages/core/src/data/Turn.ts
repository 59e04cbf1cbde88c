/**
 * A turn: one user message, and the answer to it.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { FilePart, JsonValue } from "./Message.ts"
import { Usage } from "./Usage.ts"

/** The input of a turn: the user's message and data about it. @category models @since 0.1.0 */
export interface TurnInput extends Schema.Schema.Type<typeof TurnInput> {}
/** @category schemas @since 0.1.0 */
export const TurnInput = Schema.Struct({
  message: Schema.String,
  attachments: Schema.optionalKey(Schema.Array(FilePart)),
  /** Data of the host program about this turn. Hooks can read it; the model does not see it. */
  metadata: Schema.optionalKey(Schema.Record(Schema.String, JsonValue)),
  /**
   * The host program's id of this message. It is stored with the turn and with the message, so that the host can find
   * out whether the message was received. The model does not see it, and hooks cannot change it.
   */
  key: Schema.optionalKey(Schema.String),
  /**
   * Set for `preTurn` hooks if this message was sent to a turn that is running (`session.steer`). The turn continues
   * with it; a new turn does not begin.
   */
  steer: Schema.optionalKey(Schema.Literal(true))
})

/** Why a model stopped. `unknown` when the vendor does not report it. @category models @since 0.1.0 */
export type FinishReason = "stop" | "length" | "tool-calls" | "content-filter" | "unknown"
/** @category schemas @since 0.1.0 */
export const FinishReason = Schema.Literals(["stop", "length", "tool-calls", "content-filter", "unknown"])

/** The output of a turn. @category models @since 0.1.0 */
export interface TurnOutput extends Schema.Schema.Type<typeof TurnOutput> {}
/** @category schemas @since 0.1.0 */
export const TurnOutput = Schema.Struct({
  text: Schema.String,
  finishReason: FinishReason,
  usage: Usage,
  steps: Schema.Finite,
  toolCalls: Schema.Finite
})

/** A finished turn: what `postTurn` hooks receive. @category models @since 0.1.0 */
export interface PostTurnEvent {
  readonly input: TurnInput
  readonly output: TurnOutput
  /** False when a hook answered the turn (`Respond`). */
  readonly executed: boolean
}
