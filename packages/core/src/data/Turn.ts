/**
 * A turn: one user message, and the answer to it.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { FilePart, JsonValue, Message } from "./Message.ts"
import { Usage } from "./Usage.ts"

/**
 * A tool that the sender of a message runs. A call of it suspends the turn. The sender continues the turn with the
 * result: a `respond` decision, or a `deny`.
 *
 * @category models
 * @since 0.1.0
 */
export interface ClientTool extends Schema.Schema.Type<typeof ClientTool> {}
/** @category schemas @since 0.1.0 */
export const ClientTool = Schema.Struct({
  name: Schema.String,
  description: Schema.String,
  /** The JSON Schema of the arguments, for the model. The client checks the arguments. */
  inputSchema: Schema.Record(Schema.String, JsonValue)
})

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
  steer: Schema.optionalKey(Schema.Literal(true)),
  /**
   * Messages that are added to the conversation before this one, such as the history that a client sends. The `preTurn`
   * hooks check each of them.
   */
  before: Schema.optionalKey(Schema.Array(Message)),
  /**
   * Instructions of the sender for this turn. The model reads them after those of the agent, with the same rank. The
   * `preTurn` hooks check them.
   */
  instructions: Schema.optionalKey(Schema.String),
  /**
   * Tools that the sender runs, for this turn. The `preTurn` hooks check their descriptions and schemas. For rules and
   * hooks, a call of one is a call like any other.
   */
  tools: Schema.optionalKey(Schema.Array(ClientTool)),
  /**
   * Set for `preTurn` hooks if `message` is not the message of the user but another part of the input: a message of
   * `before`, the `instructions`, a text of one of the `tools`, or the result of such a tool. The hooks run once for
   * each part.
   */
  part: Schema.optionalKey(Schema.Literals(["before", "instructions", "tools", "result"]))
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

/**
 * What became of a message to a running turn.
 *
 * - `delivered`: the model reads it with the call of this step. It is part of the conversation.
 * - `refused`: a `preTurn` hook rejected it. It is not part of the conversation, and the turn continues without it.
 * - `answered`: a `preTurn` hook answered it. It is not part of the conversation, and the turn continues without it.
 * - `missed`: the turn stopped before it could be delivered; `status` is that of the turn, or `failed` or `cancelled`.
 *   The message was not stored: send it again with `run` if it still matters.
 * - `notRunning`: no turn runs in this process. Nothing was done.
 *
 * @category models
 * @since 0.1.0
 */
export type SteerOutcome =
  | { readonly type: "delivered"; readonly turnNumber: number; readonly stepNumber: number }
  | { readonly type: "refused"; readonly by: string; readonly reason: string }
  | { readonly type: "answered"; readonly by: string; readonly text: string }
  | { readonly type: "missed"; readonly status: string }
  | { readonly type: "notRunning" }
