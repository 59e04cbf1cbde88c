/** The events of GitHub Copilot: their other names, the subject of their matchers, and the answers that count. */
import type { Counting } from "../shared/strayAnswer.ts"

/** One event. */
interface EventRow {
  readonly others: ReadonlyArray<string>
  /** The field that matchers are compared with; absent where matchers are ignored. */
  readonly field?: string
  /** Whether an entry that broke may deny here. */
  readonly guards?: true
  /** Fields that count at the top of an answer, in `hookSpecificOutput`, or in either. */
  readonly top?: ReadonlyArray<string>
  readonly inner?: ReadonlyArray<string>
  readonly either?: ReadonlyArray<string>
  /** `continue: false` ends the turn, in files with names in Pascal case. */
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

/** Events by every name that files use. */
export const byName: ReadonlyMap<string, EventName> = new Map(
  names.flatMap((name) => [name, ...table[name].others].map((one) => [one, name] as const))
)

/** Events at which an entry that broke may deny. */
export const guards: ReadonlySet<EventName> = new Set(names.filter((name) => rows[name].guards === true))

/** The fields that count at an event. Files with names in Pascal case have those of Claude Code as well. */
export const countingFields = (event: EventName, pascal: boolean): Counting => {
  const { either = [], inner = [], stops, top = [] } = rows[event]
  const more = [
    "systemMessage",
    ...(stops === true ? ["continue"] : []),
    ...(event === "postToolUse" ? ["decision"] : [])
  ]
  return { top: [...either, ...top, ...(pascal ? more : [])], inner: [...either, ...inner] }
}
