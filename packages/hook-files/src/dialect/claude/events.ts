/** Lists the events of Claude Code and their rules. */

/** The rules of one event. */
export interface EventRow {
  /** The field of the payload that the matcher is compared with. Absent if the event ignores matchers. */
  readonly field?: string
  /**
   * How a list of names is written. `strict`: names consist of letters, digits and `_`, separated by `|`. `literal`:
   * every matcher is a list of file names, separated by `|`.
   */
  readonly names?: "strict" | "literal"
  /** The event is about one tool call. Only such events support `if`. */
  readonly tool?: true
  /** Exit code 2 and `decision: "block"` block the operation. */
  readonly blocks?: true
  /** Who reads the standard error of a script that ends with exit code 2, if the event cannot be blocked. */
  readonly two?: "model" | "user"
  /** The model reads standard output that is not JSON. */
  readonly plain?: true
  /** The timeout of a command, an HTTP request or an MCP tool, in seconds, if the entry has none. Default 600. */
  readonly timeout?: number
  /**
   * Which types of entries may run. `local`: commands and MCP tools. `models`: all types. If absent: commands, HTTP
   * requests and MCP tools.
   */
  readonly runs?: "models" | "local"
  /** The answers of entries are ignored. */
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
  PostModelSwitch: {},
  // Only Codex has it.
  Interrupt: { ignoresAnswers: true }
})

/** The name of an event of Claude Code or of Codex. @category models @since 0.1.0 */
export type EventName = keyof typeof table

export const names = (Object.keys(table) as ReadonlyArray<EventName>).filter((name) => name !== "Interrupt")

export const rowOf = (event: EventName): EventRow => table[event]

export const isEvent = (name: string): name is EventName => Object.hasOwn(table, name)
