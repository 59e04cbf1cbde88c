/** The events of Cursor, what their matchers are compared with, and the fields of answers that are used. */

/** One event. */
interface EventRow {
  /** Whether the matcher selects by a value of the event. Without it, the entry runs each time. */
  readonly matched?: true
  /** Whether an entry can block what is about to happen. */
  readonly gate?: true
  /** The fields of an answer that are used. */
  readonly fields?: ReadonlyArray<string>
  /** The event is about the editor, and happens only if the host says so. */
  readonly ofHost?: true
}

const table = {
  sessionStart: { fields: ["env", "additional_context"] },
  sessionEnd: {},
  beforeSubmitPrompt: { matched: true, gate: true, fields: ["continue"] },
  preToolUse: { matched: true, gate: true, fields: ["permission", "updated_input", "hookSpecificOutput"] },
  postToolUse: { matched: true, fields: ["additional_context", "updated_mcp_tool_output"] },
  postToolUseFailure: { matched: true },
  beforeShellExecution: { matched: true, gate: true, fields: ["permission"] },
  afterShellExecution: { matched: true },
  beforeMCPExecution: { matched: true, gate: true, fields: ["permission"] },
  afterMCPExecution: { matched: true },
  beforeReadFile: { matched: true, gate: true, fields: ["permission"] },
  afterFileEdit: { matched: true },
  subagentStart: { matched: true, gate: true, fields: ["permission"] },
  subagentStop: { matched: true, fields: ["followup_message", "decision"] },
  stop: { matched: true, fields: ["followup_message", "decision"] },
  preCompact: { fields: ["user_message"] },
  afterAgentResponse: { matched: true },
  afterAgentThought: { matched: true },
  beforeTabFileRead: { gate: true, fields: ["permission"], ofHost: true },
  afterTabFileEdit: { ofHost: true },
  workspaceOpen: { ofHost: true }
} as const satisfies { readonly [event: string]: EventRow }

/** The name of an event. */
export type EventName = keyof typeof table

export const names = Object.keys(table) as ReadonlyArray<EventName>

export const isEvent = (name: string): name is EventName => Object.hasOwn(table, name)

export const rowOf = (event: EventName): EventRow => table[event]
