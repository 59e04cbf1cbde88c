/**
 * A setting: files of a project, what a model does there, and what Claude Code is documented to do. A program and Belay
 * both run it, and their outcomes are compared.
 */

/** A call that the model makes. */
export interface Call {
  readonly tool: "Agent" | "Bash" | "Edit" | "Glob" | "Grep" | "Read" | "Write"
  readonly input: { readonly [field: string]: unknown }
}

/** What a command of a hook prints, and how it ends. */
export interface Answer {
  /** Printed as JSON. */
  readonly json?: unknown
  readonly stdout?: string
  readonly stderr?: string
  readonly code?: number
}

/** A hook in a settings file. */
export interface Entry {
  readonly event: string
  readonly answer?: Answer
  readonly matcher?: string
  /** The settings file that has it. Default: that of the project. */
  readonly file?: "local" | "user"
  /** More fields of the handler, such as `if` and `timeout`. With `command`, this runs in place of the answer. */
  readonly more?: { readonly [field: string]: unknown }
}

/** What has happened. */
export interface Outcome {
  /** The entries that have run, by their position in the setting. */
  readonly hooks: ReadonlyArray<number>
  /** What the tools have done: commands, and files that were written. */
  readonly ran: ReadonlyArray<string>
  /** The words of hooks and tools that the model of the lead agent has read. */
  readonly read: ReadonlyArray<string>
  /** The words that the model of the sub-agent has read. */
  readonly child: ReadonlyArray<string>
  /** The requests of the lead agent. */
  readonly requests: number
}

export interface Setting {
  readonly name: string
  readonly entries: ReadonlyArray<Entry>
  readonly permissions?: { readonly [list: string]: ReadonlyArray<string> }
  /** What the model does, one step after the other. Then it says that it is done. */
  readonly steps: ReadonlyArray<ReadonlyArray<Call>>
  /** What the model of the sub-agent does. */
  readonly child: ReadonlyArray<ReadonlyArray<Call>>
  /** Whether every tool is allowed without a question. Nobody is there to answer questions. */
  readonly isAllowed: boolean
  readonly expected: Outcome
}

/** The words that tell outcomes apart. No other text has them. */
export const wordsIn = (text: string): ReadonlyArray<string> => [...new Set(text.match(/\bw-[a-z0-9-]+/g) ?? [])].sort()

/** Runs a program that is in the project: it prints `w-ran-WORD`, or fails if the word is `fail`. */
export const bash = (word = "one"): Call => ({ tool: "Bash", input: { command: `note ${word}` } })

export const write = (name = "new.txt"): Call => ({ tool: "Write", input: { file_path: name, content: "text" } })

export const read = (name = "notes.txt"): Call => ({ tool: "Read", input: { file_path: name } })

export const agent: Call = {
  tool: "Agent",
  input: { description: "look", prompt: "look around", subagent_type: "general-purpose" }
}

/** The answer with fields for one event. */
export const specific = (hookEventName: string, fields: object): Answer => ({
  json: { hookSpecificOutput: { hookEventName, ...fields } }
})

/** The tool has run, and the model reads its result and these words. */
export const went = (...words: ReadonlyArray<string>): Partial<Outcome> => ({ read: ["w-ran-one", ...words] })

/** The tool has not run, and the model reads why. */
export const refused = (...words: ReadonlyArray<string>): Partial<Outcome> => ({ ran: [], read: words })

/** The turn ends before the tool runs, and before the model reads anything more. */
export const ended: Partial<Outcome> = { ran: [], read: [], requests: 1 }

/**
 * The requests that count. With a sub-agent, Claude Code asks the model of the lead once more, whatever the hooks do,
 * because its sub-agents run in the background.
 */
export const countedRequests = ({ steps }: Pick<Setting, "steps">, requests: number): number =>
  steps.flat().some(({ tool }) => tool === "Agent") ? Math.min(requests, steps.length + 1) : requests

export interface Parts extends Partial<Omit<Setting, "expected" | "name">> {}

/** Makes a setting. Without steps, the model runs one command, and it may. */
export const setting = (name: string, parts: Parts, expected: Partial<Outcome> = went()): Setting => {
  const { child = [], entries = [], isAllowed = true, permissions, steps = [[bash()]] } = parts
  const outcome: Outcome = {
    hooks: entries.map((_, index) => index),
    ran: ["note one"],
    child: [],
    requests: steps.length + 1,
    read: [],
    ...expected
  }
  return {
    name,
    entries,
    ...(permissions === undefined ? {} : { permissions }),
    steps,
    child,
    isAllowed,
    expected: { ...outcome, read: [...outcome.read].sort(), child: [...outcome.child].sort() }
  }
}

/** The content of a settings file. `command` is what runs the entry at a position. */
const settingsFile = (
  { entries, permissions }: Pick<Setting, "entries" | "permissions">,
  command: (index: number) => string,
  file?: Entry["file"]
): object => {
  const own = entries.map((entry, index) => ({ ...entry, index })).filter((entry) => entry.file === file)
  const groups = [...Map.groupBy(own, ({ event }) => event)].map(([event, list]) => [
    event,
    list.map(({ index, matcher, more = {} }) => ({
      ...(matcher === undefined ? {} : { matcher }),
      hooks: [{ type: "command", command: command(index), ...more }]
    }))
  ])
  return {
    ...(groups.length === 0 ? {} : { hooks: Object.fromEntries(groups) }),
    ...(permissions === undefined || file !== undefined ? {} : { permissions })
  }
}

/** The settings files of a setting that are there, below the home of the user and the folder of the project. */
export const settingsFiles = (
  setting: Setting,
  { cwd, home }: { readonly cwd: string; readonly home: string },
  command: (index: number) => string
): ReadonlyArray<readonly [path: string, content: object]> =>
  ([
    [undefined, `${cwd}/.claude/settings.json`],
    ["local", `${cwd}/.claude/settings.local.json`],
    ["user", `${home}/.claude/settings.json`]
  ] as const).flatMap(([file, path]) => {
    const content = settingsFile(setting, command, file)
    return Object.keys(content).length === 0 ? [] : [[path, content] as const]
  })

/** What an answer prints on standard output. */
export const printed = ({ json, stdout = "" }: Answer): string => json === undefined ? stdout : JSON.stringify(json)

/** A setting of a program in whose project the model only runs the command `./note`. */
export interface NotedSetting {
  readonly name: string
  /** What the commands answer, by their position. */
  readonly answers: ReadonlyArray<Answer>
  /** The file with the hooks, below the folder of the project, and its text. `command` makes what an entry runs. */
  readonly file: (command: (index: number) => string) => readonly [path: string, text: string]
  /** The words of the command `./note` that the model runs. */
  readonly words: ReadonlyArray<string>
}

/** What has happened: the entries that ran, the commands that ran, the words that the model read, and its requests. */
export interface NotedOutcome {
  readonly hooks: ReadonlyArray<number>
  readonly ran: ReadonlyArray<string>
  readonly read: ReadonlyArray<string>
  readonly requests: number
}
