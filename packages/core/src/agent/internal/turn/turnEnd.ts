/** Ends: of a turn from within, and of a tool call in the conversation. */
import * as Effect from "effect/Effect"
import type { Message, ToolCall } from "../../../data/Message.ts"
import type { ToolResult } from "../../../data/Tool.ts"
import type { TurnEnded } from "../../TurnEnded.ts"

/** What is said of a call whose outcome nobody knows. */
export const interrupted = "interrupted while it ran: its outcome is unknown"

/** The message that carries a result. */
export const toolMessage = (call: ToolCall, result: ToolResult): Message =>
  result.ok
    ? { role: "tool", toolCallId: call.id, toolName: call.name, content: result.output }
    : { role: "tool", toolCallId: call.id, toolName: call.name, content: result.error, isError: true }

/** Ends the turn from within. A plain object: no stack is captured. */
export const ended = (end: TurnEnded["end"]): Effect.Effect<never, TurnEnded> => Effect.fail({ _tag: "TurnEnded", end })

/** Whether a failure is such an end. */
export const isEnded = (error: unknown): error is TurnEnded =>
  typeof error === "object" && error !== null && "_tag" in error && error._tag === "TurnEnded"
