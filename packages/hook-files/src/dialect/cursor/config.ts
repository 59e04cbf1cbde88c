/** Reads the `hooks.json` of Cursor. */
import type { Entry, Warning } from "../../engine/Dialect.ts"
import { type Fields, isFields, isText, parseCommented } from "../../internal/fields.ts"
import { whyNoObject } from "../../internal/jsonError.ts"
import type { CommandWork, PromptWork } from "../../runner/Runners.ts"
import { type EventNames, readEventLists, type Warn, warningsOf } from "../shared/eventLists.ts"
import * as Pattern from "../shared/pattern.ts"
import { type EventName, isEvent, names, rowOf } from "./events.ts"

export interface Handler extends Entry {
  readonly event: EventName
  readonly work: CommandWork | PromptWork
  readonly matches: (value: string) => boolean
  readonly timeoutMs: number
  /** Whether the action is blocked if the entry fails. */
  readonly failClosed: boolean
  /** How many times in a row the entry can let the agent continue. Absent if there is no limit. */
  readonly loopLimit?: number
  /** The folder in which the command runs. */
  readonly cwd?: string
}

export interface Decoded {
  readonly handlers: ReadonlyArray<Handler>
  readonly warnings: ReadonlyArray<Warning>
  readonly disableAllHooks: boolean
}

/** Cursor calls its timeout the default of the platform, without a number. */
const defaultTimeout = 60

const defaultLoopLimit = 5

const eventNames: EventNames<EventName> = { names, eventOf: (name) => isEvent(name) ? name : undefined }

export const decode = (text: string, file: string, folder?: string): Decoded => {
  const { warn, warnings } = warningsOf(file)
  const settings = parseCommented(text)
  const nothing = { handlers: [], warnings, disableAllHooks: false }
  if (!isFields(settings)) return warn("", whyNoObject(text, true)) ?? nothing
  const { hooks, version = 1 } = settings
  if (version !== 1) warn("version", "expected 1")
  const handlers = readEventLists(hooks, eventNames, warn, (event, entry, key): Handler | undefined => {
    const read = readEntry(event, entry, key, warn)
    return read && { event, file, key, ...read, ...(folder === undefined ? {} : { cwd: folder }) }
  })
  return { handlers, warnings, disableAllHooks: false }
}

const readEntry = (
  event: EventName,
  entry: unknown,
  key: string,
  warn: Warn
): Omit<Handler, "event" | "file" | "key"> | undefined => {
  if (!isFields(entry)) return warn(key, "expected an object with a command")
  const work = readWork(entry, key, warn)
  if (work === undefined) return undefined
  const { failClosed, loop_limit: limit = defaultLoopLimit, matcher, timeout = defaultTimeout } = entry
  if (matcher !== undefined && !isText(matcher)) warn(`${key}.matcher`, "expected a text, so it matches everything")
  if (failClosed !== undefined && typeof failClosed !== "boolean") warn(`${key}.failClosed`, "expected true or false")
  const isTime = typeof timeout === "number" && timeout > 0 && Number.isFinite(timeout)
  if (!isTime) warn(`${key}.timeout`, "expected a number of seconds above 0")
  const isLimit = limit === null || (typeof limit === "number" && Number.isSafeInteger(limit) && limit >= 0)
  if (!isLimit) warn(`${key}.loop_limit`, "expected a whole number or null")
  const { test, warning } = compile(isText(matcher) ? matcher : "", event)
  if (warning !== undefined) warn(`${key}.matcher`, warning)
  const loopLimit = limit === null ? undefined : isLimit ? limit as number : defaultLoopLimit
  return {
    work,
    matches: test,
    timeoutMs: (isTime ? timeout : defaultTimeout) * 1_000,
    failClosed: failClosed === true,
    ...(loopLimit === undefined ? {} : { loopLimit }),
    ...(isText(matcher) ? { matcherText: matcher } : {})
  }
}

const readWork = (entry: Fields, key: string, warn: Warn): Handler["work"] | undefined => {
  const { command, model, prompt, type = "command" } = entry
  if (type === "command") {
    return isText(command) && command.trim() !== ""
      ? { type: "command", command }
      : warn(`${key}.command`, "expected a shell command")
  }
  if (type !== "prompt") return warn(`${key}.type`, `expected "command" or "prompt", so this one never runs`)
  if (!isText(prompt) || prompt.trim() === "") return warn(`${key}.prompt`, "expected a text")
  return { type: "prompt", prompt, ...(isText(model) ? { model } : {}) }
}

/** A matcher is a pattern that is searched for. */
const compile = (
  matcher: string,
  event: EventName
): { readonly test: (value: string) => boolean; readonly warning?: string } => {
  if (matcher.trim() === "" || matcher === "*" || rowOf(event).matched !== true) return { test: () => true }
  const compiled = Pattern.compile(matcher)
  if (typeof compiled === "function") return { test: compiled }
  const why = compiled === "unsupported"
    ? "a pattern that RE2 can read (backreferences, most lookaround)"
    : "a valid pattern"
  return { test: () => true, warning: `${JSON.stringify(matcher)} is not ${why}, so it matches everything` }
}
