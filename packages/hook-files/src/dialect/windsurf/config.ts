/** Reads the `hooks.json` of Windsurf. */
import type { Entry, Warning } from "../../engine/Dialect.ts"
import { type Fields, isFields, isText, parseCommented } from "../../internal/fields.ts"
import { whyNoObject } from "../../internal/jsonError.ts"
import type { CommandWork } from "../../runner/Runners.ts"
import { type EventNames, readEventLists, type Warn, warningsOf } from "../shared/eventLists.ts"
import { type EventName, isEvent, names } from "./events.ts"

export interface Handler extends Entry {
  readonly event: EventName
  readonly work: CommandWork
  /** Whether the user sees the output. */
  readonly showsOutput: boolean
  /** The folder in which the command runs, relative to the project. */
  readonly cwd?: string
}

export interface Decoded {
  readonly handlers: ReadonlyArray<Handler>
  readonly warnings: ReadonlyArray<Warning>
  readonly disableAllHooks: boolean
}

const eventNames: EventNames<EventName> = { names, eventOf: (name) => isEvent(name) ? name : undefined }

export const decode = (text: string, file: string): Decoded => {
  const { warn, warnings } = warningsOf(file)
  const settings = parseCommented(text)
  const nothing = { handlers: [], warnings, disableAllHooks: false }
  if (!isFields(settings)) return warn("", whyNoObject(text, true)) ?? nothing
  const { hooks } = settings
  const handlers = readEventLists(hooks, eventNames, warn, (event, entry, key): Handler | undefined => {
    const read = readEntry(entry, key, warn)
    return read && { event, file, key, ...read }
  })
  return { handlers, warnings, disableAllHooks: false }
}

const readEntry = (
  entry: unknown,
  key: string,
  warn: Warn
): Omit<Handler, "event" | "file" | "key"> | undefined => {
  if (!isFields(entry)) return warn(key, "expected an object with a command")
  const work = readWork(entry, key, warn)
  if (work === undefined) return undefined
  const { show_output: shown, working_directory: folder } = entry
  if (shown !== undefined && typeof shown !== "boolean") warn(`${key}.show_output`, "expected true or false")
  if (folder !== undefined && !isText(folder)) return warn(`${key}.working_directory`, "expected a folder")
  return { work, showsOutput: shown === true, ...(folder === undefined || folder === "" ? {} : { cwd: folder }) }
}

const isWindows = process.platform === "win32"

const readWork = (entry: Fields, key: string, warn: Warn): CommandWork | undefined => {
  const { command, powershell } = entry
  for (const [name, value] of Object.entries({ command, powershell })) {
    if (value !== undefined && (!isText(value) || value.trim() === "")) return warn(`${key}.${name}`, "expected a text")
  }
  // Both are texts, which was checked above.
  const line = (isWindows ? powershell ?? command : command) as string | undefined
  if (line === undefined) {
    return warn(key, `has no ${isWindows ? "powershell or command" : "command"}, so it never runs here`)
  }
  return {
    type: "command",
    command: line,
    ...(isWindows && powershell !== undefined ? { shell: "powershell" as const } : {})
  }
}
