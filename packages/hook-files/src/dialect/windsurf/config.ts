/** Reads the `hooks.json` of Windsurf. */
import { nearest } from "@belay/core/NamePattern"
import type { Entry, Warning } from "../../Dialect.ts"
import type { CommandWork } from "../../Runners.ts"
import { type Fields, isFields, isText, parseCommented } from "../shared/fields.ts"
import { whyNoObject } from "../shared/jsonError.ts"
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

type Warn = (key: string, reason: string) => undefined

export const decode = (text: string, file: string): Decoded => {
  const warnings: Array<Warning> = []
  const warn: Warn = (key, reason) => void warnings.push({ file, key, reason: reason.slice(0, 500) })
  const settings = parseCommented(text)
  const nothing = { handlers: [], warnings, disableAllHooks: false }
  if (!isFields(settings)) return warn("", whyNoObject(text, true)) ?? nothing
  const { hooks } = settings
  if (hooks !== undefined && !isFields(hooks)) warn("hooks", "expected an object of events")
  const handlers = Object.entries(isFields(hooks) ? hooks : {}).flatMap(([event, list]): ReadonlyArray<Handler> => {
    const key = `hooks.${event.slice(0, 80)}`
    if (!isEvent(event)) {
      const near = nearest(event, names)
      const hint = near === undefined ? `; events are ${names.join(", ")}` : `; did you mean ${near}?`
      return warn(key, `unknown event${hint}`) ?? []
    }
    if (!Array.isArray(list)) return warn(key, "expected a list of hooks") ?? []
    return list.flatMap((entry: unknown, index) => {
      const at = `${key}[${index}]`
      const read = readEntry(entry, at, warn)
      return read === undefined ? [] : [{ event, file, key: at, ...read }]
    })
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
