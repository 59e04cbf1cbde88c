/** Writes the entries of the guard into the settings of a system, and removes them. What is not ours stays as it is. */
import type { JsonObject } from "@belay/core/Json"
import type { Wire, WireEvent } from "@belay/hook-files/Wires"
import * as Result from "effect/Result"
import { parse, type ParseError, printParseErrorCode, stripComments } from "jsonc-parser"
import { isFields } from "../fields.ts"
import { usageError } from "../flags.ts"
import type { Usage } from "../usage.ts"
import { addElement, addProperty, isEmpty, keysAt, type Path, remove } from "./jsonEdit.ts"

/** How many seconds an entry may take, if the system lets it say so. The guard itself decides sooner. */
const seconds = 30

/** An element of a list in the settings that belongs to the guard. */
const isOurs = (value: unknown, system: string): boolean =>
  commandsIn(value).some((command) => command.includes(`guard run --system ${system}`))

const commandsIn = (value: unknown): ReadonlyArray<string> => {
  const { bash, command } = Object(value) as { readonly bash?: unknown; readonly command?: unknown }
  return [command, bash].filter((one): one is string => typeof one === "string")
}

/** The element that calls the guard at an event. */
const elementOf = (wire: Wire, event: string, row: WireEvent, command: string): JsonObject => {
  const { settings: { entry = {}, form, timeout } } = wire
  const limit = Math.min(seconds, row.maxLimit ?? seconds)
  const time = timeout === undefined ? {} : { [timeout.key]: timeout.unit === "ms" ? limit * 1_000 : limit }
  const line = `${command} guard run --system ${wire.system} --event ${event}${refusing(wire, row)}`
  if (form === "bash") return { type: "command", bash: line, powershell: powershell(line), ...entry, ...time }
  if (form === "list") return { command: line, ...entry, ...time }
  return { hooks: [{ type: "command", command: line, ...entry, ...time }] }
}

/** The shell refuses where the command is missing or was killed. An agent that may not stop would go on for ever. */
export const refusing = ({ settings: { refusesWithText } }: Wire, { means }: WireEvent): string => {
  if (means === "stop" || means === "agentStop") return ""
  return refusesWithText === true
    ? " || { [ $? -eq 2 ] || echo 'belay guard is missing or was killed' >&2; exit 2; }"
    : " || exit 2"
}

const powershell = (line: string): string => line.replace(/ \|\| exit 2$/, "; if ($LASTEXITCODE -ne 0) { exit 2 }")

/** Returns the settings with the entries of the guard. Entries that are there already stay where they are. */
export const withEntries = (
  wire: Wire,
  file: string,
  text: string,
  command: string
): Result.Result<string, Usage> =>
  Result.flatMap(readable(wire, file, text), () => {
    const key = strangeKey(wire, text)
    return key === undefined
      ? Result.succeed(added(wire, text, command))
      : Result.fail(
        usageError(`${wire.name} runs no hook of ${file} while it has ${JSON.stringify(key)}: remove that first`)
      )
  })

const added = (wire: Wire, text: string, command: string): string => {
  const { events, settings: { frame = {} } } = wire
  let now = text.trim() === "" ? "{}\n" : text
  for (const [key, value] of Object.entries(frame)) {
    if (valueAt(now, [key]) === undefined) now = addProperty(now, [key], value)
  }
  for (const [event, row] of Object.entries(events)) {
    const wanted = elementOf(wire, event, row, command)
    const list = listAt(now, event)
    const own = list.flatMap((one, index) => isOurs(entryOf(one), wire.system) ? [index] : [])
    if (own.length === 1 && JSON.stringify(list[own[0]!]) === JSON.stringify(wanted)) continue
    now = without(wire, now, event)
    now = valueAt(now, ["hooks", event]) === undefined
      ? addProperty(now, ["hooks", event], [wanted])
      : addElement(now, ["hooks", event], wanted)
  }
  return now
}

/** Returns the settings without the entries of the guard, or undefined if nothing of others is left. */
export const withoutEntries = (
  wire: Wire,
  file: string,
  text: string
): Result.Result<string | undefined, Usage> => Result.map(readable(wire, file, text), () => removed(wire, text))

const removed = (wire: Wire, text: string): string | undefined => {
  const { settings: { frame = {} } } = wire
  let now = text
  if (now.trim() === "") return text
  const events = Object.keys(Object(valueAt(now, ["hooks"])))
  const own = events.filter((event) => listAt(now, event).some((one) => hasOurs(one, wire.system)))
  if (own.length === 0) return text
  for (const event of own) {
    now = without(wire, now, event)
    if (isEmpty(now, ["hooks", event])) now = remove(now, ["hooks", event])
  }
  if (isEmpty(now, ["hooks"])) now = remove(now, ["hooks"])
  const rest = Object.keys(Object(valueAt(now, []))).filter((key) => !Object.hasOwn(frame, key))
  return rest.length === 0 && stripComments(now) === now ? undefined : now
}

/** How the settings call the guard at an event. */
export interface Entry {
  readonly line: string
  /** The calls at which it is called, if not at all. */
  readonly matcher?: string
}

/** The events of the settings at which the guard is called. */
export const wiredEvents = (wire: Wire, text: string): ReadonlyMap<string, Entry> => {
  const entries = new Map<string, Entry>()
  for (const event of Object.keys(Object(valueAt(text, ["hooks"])))) {
    for (const one of listAt(text, event)) {
      const line = [one, ...innerOf(one)].flatMap(commandsIn)
        .find((command) => command.includes(`guard run --system ${wire.system}`))
      if (line === undefined || (entries.has(event) && entries.get(event)?.matcher === undefined)) continue
      const { matcher } = Object(one) as { readonly matcher?: unknown }
      // A system reads only texts as matchers.
      const isForAll = typeof matcher !== "string" || ["", "*", ".*"].includes(matcher)
      entries.set(event, isForAll ? { line } : { line, matcher })
    }
  }
  return entries
}

/** The settings that switch off the guard: all hooks, or its own lines. */
export const switchedOff = (
  { settings: { disabled = [], off = {} }, system }: Wire,
  text: string
): ReadonlyArray<string> => [
  ...Object.entries(off).flatMap(([path, value]) =>
    valueAt(text, path.split(".")) === value ? [`all hooks: remove ${path}: ${value}`] : []
  ),
  ...disabled.flatMap((path) => {
    const lines: unknown = valueAt(text, path.split("."))
    const own = (Array.isArray(lines) ? lines : []).filter((command: unknown) => isOurs({ command }, system))
    return own.map((line) => `the guard: remove ${JSON.stringify(line)} from ${path}`)
  })
]

/** A key with which the system runs no hook of the file. */
export const strangeKey = ({ settings: { keys } }: Wire, text: string): string | undefined =>
  keys === undefined ? undefined : Object.keys(Object(valueAt(text, []))).find((key) => !keys.includes(key))

const innerOf = (one: unknown): ReadonlyArray<unknown> => {
  const { hooks } = Object(one) as { readonly hooks?: unknown }
  return Array.isArray(hooks) ? hooks : []
}

/** A group with one entry is that entry. */
const entryOf = (one: unknown): unknown => innerOf(one).length === 1 ? innerOf(one)[0] : one

const hasOurs = (one: unknown, system: string): boolean => [one, ...innerOf(one)].some((entry) => isOurs(entry, system))

/** Removes the elements of the guard, and from groups with entries of others only its own. */
const without = (wire: Wire, text: string, event: string): string => {
  const list: unknown = valueAt(text, ["hooks", event])
  if (!Array.isArray(list)) return text
  let now = text
  for (const [index, one] of [...list.entries()].reverse()) {
    const inner = innerOf(one)
    const others = inner.filter((entry) => !isOurs(entry, wire.system))
    if (isOurs(one, wire.system) || (inner.length > 0 && others.length === 0)) {
      now = remove(now, ["hooks", event, index])
    } else {
      for (const [at, entry] of [...inner.entries()].reverse()) {
        if (isOurs(entry, wire.system)) now = remove(now, ["hooks", event, index, "hooks", at])
      }
    }
  }
  return now
}

const valueAt = (text: string, path: Path): unknown =>
  path.reduce((value: unknown, key) => {
    const fields = Object(value) as { readonly [key: string]: unknown }
    return Object.hasOwn(fields, key) ? fields[key] : undefined
  }, parse(text, [], { allowTrailingComma: true }))

const listAt = (text: string, event: string): ReadonlyArray<unknown> => {
  const list = valueAt(text, ["hooks", event])
  return Array.isArray(list) ? list : []
}

/** Settings that cannot be read are not touched. Returns why they cannot. */
const whyUnreadable = (wire: Wire, text: string): string | undefined => {
  if (text.trim() === "") return undefined
  const errors: Array<ParseError> = []
  const value: unknown = parse(text, errors, { allowTrailingComma: true })
  const [error] = errors
  if (error !== undefined) return `is not JSON (${printParseErrorCode(error.error)} at ${error.offset})`
  const { hooks = {} } = Object(value) as { readonly hooks?: unknown }
  if (!isFields(value) || !isFields(hooks)) return `is not a file of settings of ${wire.name}`
  const twice = repeated(keysAt(text, []).filter((key) => key === "hooks")) ?? repeated(keysAt(text, ["hooks"]))
  // Systems read the last of them, and what is written here could go into another one.
  if (twice !== undefined) return `has ${JSON.stringify(twice)} twice`
  const [wrong] = Object.entries(hooks).find(([, list]) => !Array.isArray(list)) ?? []
  // Some systems have switches beside the events.
  return wrong === undefined || !Object.hasOwn(wire.events, wrong) ? undefined : `: hooks.${wrong} is not a list`
}

const repeated = (keys: ReadonlyArray<string>): string | undefined =>
  keys.find((key, index) => keys.indexOf(key) !== index)

const readable = (wire: Wire, file: string, text: string): Result.Result<string, Usage> => {
  const why = whyUnreadable(wire, text)
  if (why === undefined) return Result.succeed(text)
  return Result.fail(usageError(`${file}${why.startsWith(":") ? "" : " "}${why}: correct it first`))
}
