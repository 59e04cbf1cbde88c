/**
 * The events of GitHub Copilot: their other names, the field that their matchers are compared with, and the fields of
 * answers that are used.
 */
import type { UsedFields } from "../shared/strayAnswer.ts"

/** One event. */
interface EventRow {
  readonly others: ReadonlyArray<string>
  /** The field that the matcher is compared with. Absent if the event ignores matchers. */
  readonly field?: string
  /** Whether an entry that fails can deny at this event. */
  readonly guards?: true
  /**
   * The fields of an answer that are read at the top level (`top`), in `hookSpecificOutput` (`inner`), or at both
   * places (`either`).
   */
  readonly top?: ReadonlyArray<string>
  readonly inner?: ReadonlyArray<string>
  readonly either?: ReadonlyArray<string>
  /** Whether `continue: false` ends the turn, if the file writes the event in Pascal case. */
  readonly stops?: true
}

const context = ["additionalContext"]

const table = {
  sessionStart: { others: ["SessionStart"], either: context, stops: true },
  sessionEnd: { others: ["SessionEnd"] },
  userPromptSubmitted: {
    others: ["UserPromptSubmit", "UserPromptSubmitted"],
    guards: true,
    either: ["modifiedPrompt", ...context],
    stops: true
  },
  userPromptTransformed: { others: ["UserPromptTransformed"], guards: true, either: ["modifiedTransformedPrompt"] },
  preToolUse: {
    others: ["PreToolUse"],
    field: "toolName",
    guards: true,
    either: ["permissionDecision", "modifiedArgs", ...context],
    top: ["decision"],
    inner: ["updatedInput"],
    stops: true
  },
  preMcpToolCall: { others: ["PreMcpToolCall"], field: "toolName", guards: true },
  postToolUse: { others: ["PostToolUse"], field: "toolName", either: ["modifiedResult", ...context], stops: true },
  postToolUseFailure: { others: ["PostToolUseFailure"], field: "toolName", either: context, stops: true },
  agentStop: { others: ["Stop", "AgentStop"], either: ["decision"], stops: true },
  subagentStart: { others: ["SubagentStart"], field: "agentName", either: context },
  subagentStop: { others: ["SubagentStop"], field: "agentName", either: ["decision", "modifiedResponse"], stops: true },
  errorOccurred: { others: ["ErrorOccurred"], top: ["errorHandling"] },
  preCompact: { others: ["PreCompact"], field: "trigger" },
  permissionRequest: {
    others: ["PermissionRequest"],
    field: "toolName",
    guards: true,
    either: ["decision"],
    top: ["behavior"]
  },
  notification: { others: ["Notification"], field: "notification_type", either: context }
} as const satisfies { readonly [event: string]: EventRow }

/** The name of an event in camel case. */
export type EventName = keyof typeof table

export const names = Object.keys(table) as ReadonlyArray<EventName>

const rows: { readonly [E in EventName]: EventRow } = table

export const rowOf = (event: EventName): EventRow => rows[event]

/** Maps each name of an event that files can use to its camel case name. */
export const byName: ReadonlyMap<string, EventName> = new Map(
  names.flatMap((name) => [name, ...table[name].others].map((one) => [one, name] as const))
)

/** The events at which an entry that fails can deny. */
export const guards: ReadonlySet<EventName> = new Set(names.filter((name) => rows[name].guards === true))

/**
 * Returns the fields that are read at an event. If the file writes the event in Pascal case, the fields of Claude Code
 * are read as well.
 */
export const countingFields = (event: EventName, pascal: boolean): UsedFields => {
  const { either = [], inner = [], stops, top = [] } = rows[event]
  const more = [
    "systemMessage",
    ...(stops === true ? ["continue"] : []),
    ...(event === "postToolUse" ? ["decision"] : [])
  ]
  return { top: [...either, ...top, ...(pascal ? more : [])], inner: [...either, ...inner] }
}
