/** Reads hook files of GitHub Copilot. */
import type { Entry, Warning } from "../../engine/Dialect.ts"
import { type Fields, isFields, isText, parseCommented } from "../../internal/fields.ts"
import { whyNoObject } from "../../internal/jsonError.ts"
import type { CommandWork, HttpWork, PromptWork } from "../../runner/Runners.ts"
import { type EventNames, readEventLists, type Warn, warningsOf } from "../shared/eventLists.ts"
import * as Pattern from "../shared/pattern.ts"
import { byName, type EventName, names, rowOf } from "./events.ts"

export interface Handler extends Entry {
  /** The name of the event as the file writes it. */
  readonly event: string
  readonly point: EventName
  /**
   * Whether the file writes the event in Pascal case. The entry then reads fields in snake case, and tools have the
   * names of Claude Code.
   */
  readonly pascal: boolean
  readonly work: CommandWork | HttpWork | PromptWork
  /** Whether the matcher accepts a value of its event. A tool can match by the name of Copilot or of Claude Code. */
  readonly matches: (value: string, claude?: string) => boolean
  /** The folder in which a command runs, relative to the project. */
  readonly cwd?: string
  readonly env?: { readonly [name: string]: string }
  readonly timeoutMs: number
}

export interface Decoded {
  readonly handlers: ReadonlyArray<Handler>
  readonly warnings: ReadonlyArray<Warning>
  readonly disableAllHooks: boolean
}

const eventNames: EventNames<EventName> = { names, known: [...byName.keys()], eventOf: (name) => byName.get(name) }

export const decode = (text: string, file: string): Decoded => {
  const { warn, warnings } = warningsOf(file)
  const nothing = { handlers: [], warnings, disableAllHooks: false }
  const settings = parseCommented(text)
  if (!isFields(settings)) return warn("", whyNoObject(text, true)) ?? nothing
  const { disableAllHooks, hooks, version = 1 } = settings
  if (version !== 1) return warn("version", "expected 1, so the whole file is ignored") ?? nothing
  if (disableAllHooks !== undefined && typeof disableAllHooks !== "boolean") {
    warn("disableAllHooks", "expected true or false")
  }
  const handlers = readEventLists(
    hooks,
    eventNames,
    warn,
    (point, entry, key, event) => readEntry({ event, point, file }, entry, key, undefined, warn)
  )
  return { handlers, warnings, disableAllHooks: disableAllHooks === true }
}

interface Where {
  readonly event: string
  readonly point: EventName
  readonly file: string
}

/** Reads one entry, or a group of entries with one matcher, as other systems write them. */
const readEntry = (
  where: Where,
  entry: unknown,
  key: string,
  outer: string | undefined,
  warn: Warn
): ReadonlyArray<Handler> => {
  if (!isFields(entry)) return warn(key, "expected an object") ?? []
  const { hooks, matcher = outer } = entry
  if (matcher !== undefined && !isText(matcher)) return warn(`${key}.matcher`, "expected a text") ?? []
  if (Array.isArray(hooks) && outer === undefined) {
    return hooks.flatMap((one: unknown, index) => readEntry(where, one, `${key}.hooks[${index}]`, matcher ?? "", warn))
  }
  const pascal = where.event !== where.point
  const matches = compile(matcher, where.point, pascal, `${key}.matcher`, warn)
  const work = matches === undefined ? undefined : readWork(entry, where.point, key, warn)
  if (matches === undefined || work === undefined) return []
  const { cwd, env, timeout, timeoutSec = timeout ?? 30 } = entry
  const fits = typeof timeoutSec === "number" && timeoutSec > 0 && Number.isFinite(timeoutSec)
  if (!fits) warn(`${key}.timeoutSec`, "expected a number of seconds above 0")
  if (cwd !== undefined && !isText(cwd)) return warn(`${key}.cwd`, "expected a folder") ?? []
  return [{
    ...where,
    key,
    pascal,
    matches,
    work,
    timeoutMs: (fits ? timeoutSec : 30) * 1_000,
    ...(isText(matcher) ? { matcherText: matcher } : {}),
    ...(cwd === undefined ? {} : { cwd }),
    ...(env === undefined ? {} : { env: textsOf(env, `${key}.env`, warn) })
  }]
}

const readWork = (entry: Fields, point: EventName, key: string, warn: Warn): Handler["work"] | undefined => {
  const { type = "command" } = entry
  if (type === "command") return readCommand(entry, key, warn)
  if (type === "http") return readHttp(entry, point, key, warn)
  if (type !== "prompt") return warn(`${key}.type`, `expected "command", "http" or "prompt"`)
  if (point !== "sessionStart") return warn(`${key}.type`, "prompts are for sessionStart only, so this one never runs")
  const { prompt } = entry
  return isText(prompt) && prompt.trim() !== "" ? { type: "prompt", prompt } : warn(`${key}.prompt`, "expected a text")
}

const isWindows = process.platform === "win32"

const readCommand = (entry: Fields, key: string, warn: Warn): CommandWork | undefined => {
  const { args = [], exec } = entry
  const lines = ["bash", "powershell", "command"] as const
  for (const name of [...lines, "exec"] as const) {
    if (entry[name] !== undefined && (!isText(entry[name]) || entry[name].trim() === "")) {
      return warn(`${key}.${name}`, "expected a text")
    }
  }
  if (exec !== undefined) {
    const other = lines.find((name) => entry[name] !== undefined)
    if (other !== undefined) return warn(`${key}.exec`, `cannot be combined with ${other}, so this one never runs`)
    return Array.isArray(args) && args.every(isText)
      ? { type: "command", command: exec as string, args }
      : warn(`${key}.args`, "expected a list of texts")
  }
  const command = entry[isWindows ? "powershell" : "bash"] ?? entry["command"]
  if (command === undefined) {
    return warn(key, `has no ${isWindows ? "powershell" : "bash"}, command or exec, so it never runs here`)
  }
  return { type: "command", command: command as string, ...(isWindows ? { shell: "powershell" as const } : {}) }
}

const readHttp = (entry: Fields, point: EventName, key: string, warn: Warn): HttpWork | undefined => {
  const { allowedEnvVars, headers, url } = entry
  const target = isText(url) ? URL.parse(url) : null
  if (target === null || (target.protocol !== "https:" && target.protocol !== "http:")) {
    return warn(`${key}.url`, "expected an http or https URL")
  }
  if (allowedEnvVars !== undefined && !(Array.isArray(allowedEnvVars) && allowedEnvVars.every(isText))) {
    return warn(`${key}.allowedEnvVars`, "expected a list of texts")
  }
  const why = point === "preToolUse" || point === "permissionRequest"
    ? `at ${point}`
    : allowedEnvVars === undefined
    ? ""
    : "with allowedEnvVars"
  if (target.protocol === "http:" && why !== "") {
    return warn(`${key}.url`, `expected https ${why}, so this one never runs`)
  }
  return {
    type: "http",
    url: url as string,
    ...(headers === undefined ? {} : { headers: textsOf(headers, `${key}.headers`, warn) }),
    ...(allowedEnvVars === undefined ? {} : { allowedEnvVars })
  }
}

const textsOf = (value: unknown, key: string, warn: Warn): { readonly [name: string]: string } => {
  if (!isFields(value)) return warn(key, "expected an object of texts") ?? {}
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, one]) =>
      isText(one) ? [[name, one]] : warn(`${key}.${name.slice(0, 80)}`, "expected a text") ?? []
    )
  )
}

/**
 * Compiles a matcher. It is a pattern for the whole value. For an event in Pascal case it can also be a list of tool
 * names with `|` between them. If the text is not a valid pattern, it adds a warning and returns undefined.
 */
const compile = (
  matcher: string | undefined,
  point: EventName,
  pascal: boolean,
  key: string,
  warn: Warn
): Handler["matches"] | undefined => {
  const field = rowOf(point).field
  if (matcher === undefined || field === undefined || matcher.trim() === "") return () => true
  const claudes = pascal && field === "toolName"
  if (claudes && (matcher === "*" || matcher === "**")) return () => true
  if (claudes && /^[\w-]+(\|[\w-]+)*$/.test(matcher)) {
    const names = new Set(matcher.split("|").map((name) => name === "Task" ? "Agent" : name))
    return (value, claude = value) => names.has(value) || names.has(claude)
  }
  // The pattern must be valid by itself. `)(` is invalid, although it would be valid within parentheses.
  const alone = Pattern.compile(matcher)
  const anchored = typeof alone === "function" ? Pattern.compile(`^(?:${matcher})$`) : alone
  if (typeof anchored === "function") return (value, claude = value) => anchored(claudes ? claude : value)
  const quoted = JSON.stringify(matcher)
  if (anchored === "invalid") return warn(key, `${quoted} is not a valid pattern, so this one never runs`)
  warn(key, `${quoted} is not a pattern that RE2 can read (backreferences, most lookaround), so it matches everything`)
  return () => true
}
