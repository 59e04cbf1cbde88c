/**
 * Describes what a system and its hook commands say to each other: the events, the fields of their payloads, the names
 * of tools, and the answers that the system obeys. The same table is read in both directions: by the hooks that run
 * files of the system, and by a guard that is a hook command of the system.
 */
import type { JsonObject } from "@belay/core/Json"

/** What has happened or is about to happen, in words that all systems share. */
export type Meaning =
  | "sessionStart"
  | "userMessage"
  | "toolCall"
  | "toolResult"
  | "toolFailure"
  | "stop"
  | "agentStart"
  | "agentStop"
  | "compaction"
  | "sessionEnd"

/** The path of a field in a payload, such as `tool_info.cwd`. If there are several, the first that exists is used. */
export type Path = string | ReadonlyArray<string>

/**
 * An answer as JSON. `$reason` stands for the reason, `$value` for a value of any type, `$text` for the value as a
 * text, and `$event` for the name of the event. `exit` is exit code 2, with the reason on standard error.
 */
export type Template = JsonObject | "exit"

/** The call of an event that is about one kind of tool. */
export interface WireCall {
  /** The name of the tool in Claude Code. A part such as `{tool_name}` is a field of the payload. */
  readonly name: string
  /** The fields of the payload that are its arguments, or the one field that has all of them. */
  readonly args: { readonly [argument: string]: Path } | Path
}

/** One event, and the answers that the system obeys. An absent answer cannot be given. */
export interface WireEvent {
  readonly means: Meaning
  /**
   * After how many seconds the system goes on without an answer, if the entry sets no limit. Default: as the system.
   */
  readonly limit?: number
  /** The most seconds that an entry can set. */
  readonly maxLimit?: number
  /** The call, if the event is about one kind of tool. */
  readonly call?: WireCall
  /** Names of tools, or their beginnings with `*`, for which another event follows that decides. */
  readonly except?: ReadonlyArray<string>
  /** Refuses what is about to happen. */
  readonly deny?: Template
  /** The system asks the person. */
  readonly ask?: Template
  /** Changes the arguments of the call. */
  readonly change?: Template
  /** The system shows changed arguments when it asks. */
  readonly asksAboutChange?: true
  /** The model reads a text. */
  readonly context?: Template
  /** Takes the place of a tool's result. */
  readonly result?: Template
  /** The tools whose results can be replaced, if not all: the beginning of their names. */
  readonly resultOf?: string
  /** Ends the turn. */
  readonly stop?: Template
  /** The agent goes on in place of stopping. */
  readonly again?: Template
}

/** A path of a system that no hook sees, or on which a call runs although the guard did not allow it. */
export interface Hole {
  readonly what: string
  /** Where this is documented or was observed. */
  readonly source: string
}

/** The table of a system. */
export interface Wire {
  readonly system: string
  /** The name of the system for people. */
  readonly name: string
  readonly events: { readonly [event: string]: WireEvent }
  readonly fields: {
    readonly event: Path
    readonly session: Path
    readonly cwd?: Path
    /** The id and the type of the sub-agent. Absent in events of the main agent. */
    readonly agent?: Path
    readonly agentType?: Path
    readonly tool?: Path
    readonly input?: Path
    readonly call?: Path
    readonly output?: Path
    readonly error?: Path
    readonly prompt?: Path
    /** The answer with which the agent wants to stop. */
    readonly answer?: Path
    /** True if the agent goes on because a hook wanted it. */
    readonly again?: Path
    /** The server and the tool behind a call of MCP. */
    readonly mcp?: readonly [server: Path, tool: Path]
  }
  /** Maps the names of tools to those of Claude Code. */
  readonly tools: { readonly [tool: string]: string }
  /** Maps the fields of their arguments to those of Claude Code, by the name of Claude Code. */
  readonly toolFields?: { readonly [tool: string]: { readonly [field: string]: string } }
  /** Tools that reach only the agent itself, such as its notes and its sub-agents, by the name of Claude Code. */
  readonly own?: ReadonlyArray<string>
  /** Tools, by the name of Claude Code, whose events have different ids before and after the call. */
  readonly withoutIds?: ReadonlyArray<string>
  /** The variable with the folder of the project. */
  readonly projectVariable?: string
  /** The seconds that an entry has if it sets no limit. Absent if nothing is documented. */
  readonly limit?: number
  /** Where the entries of the project and of the user are, and how they are written. */
  readonly settings: {
    readonly project: string
    readonly user: string
    readonly form: "groups" | "list" | "bash"
    /** The key and the unit of the limit of an entry. */
    readonly timeout?: { readonly key: string; readonly unit: "s" | "ms" }
    /** Whether an exit code of 2 without a text on standard error lets the call run. */
    readonly refusesWithText?: true
    /** Settings that switch off all hooks, by their path, with the value that does it. */
    readonly off?: { readonly [path: string]: boolean }
    /** Lists of lines that do not run, by their path. */
    readonly disabled?: ReadonlyArray<string>
    /** The only keys at the top of the file. With another one, the system runs no hook of the file. */
    readonly keys?: ReadonlyArray<string>
    /** Files of the project beside the others whose settings count, too. */
    readonly beside?: ReadonlyArray<string>
    /** The same for the user. */
    readonly besideUser?: ReadonlyArray<string>
    /** What else the file has. */
    readonly frame?: JsonObject
    /** More fields of an entry. */
    readonly entry?: JsonObject
  }
  /** Whether its payloads and answers were tried with the program, or only read in its documentation. */
  readonly proof: "program" | "documentation"
  readonly holes: ReadonlyArray<Hole>
}
