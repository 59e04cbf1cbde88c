/**
 * One user message in, one answer out.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { FilePart, JsonValue } from "./Message.ts"
import { Usage } from "./Usage.ts"

/** The user's message, and what belongs to it. @category models @since 0.1.0 */
export interface TurnInput extends Schema.Schema.Type<typeof TurnInput> {}
/** @category schemas @since 0.1.0 */
export const TurnInput = Schema.Struct({
  message: Schema.String,
  attachments: Schema.optionalKey(Schema.Array(FilePart)),
  /** The host's own facts about this turn; hooks may read them, the model never sees them. */
  metadata: Schema.optionalKey(Schema.Record(Schema.String, JsonValue))
})

/** Why a model stopped. `unknown` when the vendor does not say. @category models @since 0.1.0 */
export type FinishReason = "stop" | "length" | "tool-calls" | "content-filter" | "unknown"
/** @category schemas @since 0.1.0 */
export const FinishReason = Schema.Literals(["stop", "length", "tool-calls", "content-filter", "unknown"])

/** What the turn ends with. @category models @since 0.1.0 */
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
