/**
 * The events of Gemini CLI: the field that their matchers are compared with, and the fields of answers that are used.
 */
import type { UsedFields } from "../shared/strayAnswer.ts"

/** The field that the matcher of each event is compared with. Undefined if the event ignores matchers. */
export const events = {
  BeforeTool: "tool_name",
  AfterTool: "tool_name",
  BeforeAgent: undefined,
  AfterAgent: undefined,
  BeforeModel: undefined,
  BeforeToolSelection: undefined,
  AfterModel: undefined,
  SessionStart: "source",
  SessionEnd: "reason",
  Notification: "notification_type",
  PreCompress: "trigger"
} as const

export type EventName = keyof typeof events

const denials = ["decision", "continue", "systemMessage"]
const message = { top: ["systemMessage"], inner: [] }

/** The fields of an answer that are used at each event. An event without `decision` cannot be denied or stopped. */
export const countingFields: { readonly [E in EventName]: UsedFields } = {
  SessionStart: { top: ["systemMessage"], inner: ["additionalContext"] },
  SessionEnd: message,
  BeforeAgent: { top: denials, inner: ["additionalContext"] },
  AfterAgent: { top: denials, inner: [] },
  BeforeModel: { top: denials, inner: [] },
  BeforeToolSelection: { top: [], inner: [] },
  AfterModel: { top: denials, inner: [] },
  BeforeTool: { top: denials, inner: [] },
  AfterTool: { top: denials, inner: ["additionalContext", "tailToolCallRequest"] },
  PreCompress: message,
  Notification: message
}
