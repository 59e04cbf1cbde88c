/**
 * The events of settings files: what a matcher is compared with, who reads the output, and how long an entry may take.
 */

/** One event. */
export interface EventRow {
  /** The field of the payload that a matcher is held against; absent where matchers are ignored. */
  readonly field?: string
  /** Matchers that are lists of names use fewer characters. */
  readonly names?: "strict" | "literal"
  /** About one tool call: `if` counts here and nowhere else. */
  readonly tool?: true
  /** Exit code 2 and `decision: "block"` are obeyed. */
  readonly blocks?: true
  /** Who reads the standard error of a script that ends with 2 where that does not block. */
  readonly two?: "model" | "user"
  /** Plain standard output is context for the model. */
  readonly plain?: true
  /** Seconds that a command, a server or a tool may take unless the entry says otherwise. Default 600. */
  readonly timeout?: number
  /**
   * What may run here. Default `tools`: commands, servers and MCP tools; `models` too, or `local`: no servers either.
   */
  readonly runs?: "models" | "local"
  /** Answers do not count. */
  readonly ignoresAnswers?: true
}

const row = <const R extends { readonly [event: string]: EventRow }>(rows: R): R => rows

const table = row({
  SessionStart: { field: "source", two: "user", plain: true, runs: "local" },
  SessionEnd: { field: "reason", ignoresAnswers: true },
  Setup: { field: "trigger", two: "user", runs: "local" },
  UserPromptSubmit: { blocks: true, plain: true, timeout: 30, runs: "models" },
  UserPromptExpansion: { field: "command_name", blocks: true, plain: true, runs: "models" },
  PreToolUse: { field: "tool_name", tool: true, blocks: true, runs: "models" },
  PermissionRequest: { field: "tool_name", tool: true, runs: "models" },
  PermissionDenied: { field: "tool_name", tool: true, runs: "models" },
  PostToolUse: { field: "tool_name", tool: true, blocks: true, runs: "models" },
  PostToolUseFailure: { field: "tool_name", tool: true, two: "model", runs: "models" },
  PostToolBatch: { blocks: true, runs: "models" },
  Stop: { blocks: true, runs: "models" },
  StopFailure: { field: "error", names: "strict", ignoresAnswers: true },
  SubagentStart: { field: "agent_type", two: "user" },
  SubagentStop: { field: "agent_type", blocks: true, runs: "models" },
  TeammateIdle: { blocks: true, runs: "models" },
  TaskCreated: { blocks: true, runs: "models" },
  TaskCompleted: { blocks: true, runs: "models" },
  PreCompact: { field: "trigger", blocks: true },
  PostCompact: { field: "trigger", two: "user" },
  Notification: { field: "notification_type", two: "user" },
  MessageDisplay: { timeout: 10 },
  ConfigChange: { field: "source", blocks: true },
  InstructionsLoaded: { field: "load_reason", ignoresAnswers: true },
  CwdChanged: { two: "user" },
  DirectoryAdded: { field: "source" },
  FileChanged: { field: "file_path", names: "literal", two: "user" },
  WorktreeCreate: { blocks: true },
  WorktreeRemove: {},
  Elicitation: { field: "mcp_server_name", blocks: true },
  ElicitationResult: { field: "mcp_server_name", blocks: true },
  PreModelSwitch: { blocks: true },
  PostModelSwitch: {}
})

export type EventName = keyof typeof table

export const names = Object.keys(table) as ReadonlyArray<EventName>

export const rowOf = (event: EventName): EventRow => table[event]

export const isEvent = (name: string): name is EventName => Object.hasOwn(table, name)
