/** Lists the events of Claude Code and of Codex, and their rules. */

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
  /** Codex has the event too. */
  readonly codex?: true
}

const row = <const R extends { readonly [event: string]: EventRow }>(rows: R): R => rows

const table = row({
  SessionStart: { field: "source", two: "user", plain: true, runs: "local", codex: true },
  SessionEnd: { field: "reason", ignoresAnswers: true, codex: true },
  Setup: { field: "trigger", two: "user", runs: "local" },
  UserPromptSubmit: { blocks: true, plain: true, timeout: 30, runs: "models", codex: true },
  UserPromptExpansion: { field: "command_name", blocks: true, plain: true, runs: "models" },
  PreToolUse: { field: "tool_name", tool: true, blocks: true, runs: "models", codex: true },
  PermissionRequest: { field: "tool_name", tool: true, runs: "models", codex: true },
  PermissionDenied: { field: "tool_name", tool: true, runs: "models" },
  PostToolUse: { field: "tool_name", tool: true, blocks: true, runs: "models", codex: true },
  PostToolUseFailure: { field: "tool_name", tool: true, two: "model", runs: "models" },
  PostToolBatch: { blocks: true, runs: "models" },
  Stop: { blocks: true, runs: "models", codex: true },
  StopFailure: { field: "error", names: "strict", ignoresAnswers: true },
  SubagentStart: { field: "agent_type", two: "user", codex: true },
  SubagentStop: { field: "agent_type", blocks: true, runs: "models", codex: true },
  TeammateIdle: { blocks: true, runs: "models" },
  TaskCreated: { blocks: true, runs: "models" },
  TaskCompleted: { blocks: true, runs: "models" },
  PreCompact: { field: "trigger", blocks: true, codex: true },
  PostCompact: { field: "trigger", two: "user", codex: true },
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
  Interrupt: { ignoresAnswers: true, codex: true }
})

/** The name of an event of Claude Code or of Codex. @category models @since 0.1.0 */
export type EventName = keyof typeof table

const all = Object.keys(table) as ReadonlyArray<EventName>

export const rowOf = (event: EventName): EventRow => table[event]

/** The name of an event of Codex. */
export type CodexEvent = { [E in EventName]: (typeof table)[E] extends { readonly codex: true } ? E : never }[EventName]

/** The names of all events of Codex. @category events @since 0.1.0 */
export const codexEvents: ReadonlyArray<EventName> = all.filter((name) => rowOf(name).codex === true)

/** The names of all events of Claude Code. */
export const names: ReadonlyArray<EventName> = all.filter((name) => name !== "Interrupt")

export const isEvent = (name: string): name is EventName => Object.hasOwn(table, name)
