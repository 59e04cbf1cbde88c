/** The events of Gemini CLI: the subject of their matchers, and the fields of answers that count. */
import type { Counting } from "../shared/strayAnswer.ts"

/** The field that matchers are compared with; undefined where every matcher accepts. */
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

/** The fields that count at an event. Where no decision does, nothing is denied or stopped. */
export const countingFields: { readonly [E in EventName]: Counting } = {
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
