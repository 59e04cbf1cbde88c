/** Reads the payload of a system: what has happened or is about to happen. */
import { canonical, digest, type Json, type JsonObject } from "@belay/core/Json"
import type { Path, Wire, WireCall, WireEvent } from "@belay/hook-files/Wires"
import { isFields } from "../../fields.ts"
import { messageOf, Refusal } from "./refusal.ts"

/** A tool call, in the words of Claude Code. */
export interface Call {
  readonly id: string
  /** Whether the system gave the call no id of its own, so that equal calls have the same one. */
  readonly isGuessed: boolean
  readonly name: string
  readonly args: Json
}

/** What a payload says. */
export interface Occasion {
  readonly event: string
  readonly row: WireEvent
  /** The id of the session in the system. */
  readonly session: string
  /** The sub-agent in which it happens. */
  readonly agent?: { readonly id: string; readonly name: string }
  readonly cwd?: string
  /** The call of events about calls. Absent if another event decides about it. */
  readonly call?: Call
  readonly output: Json
  readonly error?: string
  readonly prompt: string
  readonly answer: string
  /** Whether the agent already goes on because a hook wanted it. */
  readonly isAgain: boolean
}

/** The most bytes of a payload. Larger ones are refused, because a system must not wait for them. */
export const maxPayload = 16_777_216

const maxId = 256

/** Reads a payload. Throws a `Refusal` that names what is wrong with it. `given` is the event that the entry names. */
export const occasionOf = (wire: Wire, text: string, given: string | undefined): Occasion => {
  const payload = objectIn(wire, text)
  const { fields } = wire
  const event = textAt(payload, fields.event) ?? given
  if (event === undefined) {
    throw new Refusal(`the payload is not one of ${wire.name}: it has no ${[fields.event].flat().join(" or ")}`)
  }
  if (!Object.hasOwn(wire.events, event)) {
    throw new Refusal(
      `${wire.name} sent the event ${JSON.stringify(event.slice(0, 80))}, which this guard does not know`
    )
  }
  const row = wire.events[event]!
  const session = idIn(wire, payload, fields.session, "session")
  const agent = fields.agent === undefined || at(payload, fields.agent) === undefined
    ? undefined
    : { id: idIn(wire, payload, fields.agent, "sub-agent"), name: textAt(payload, fields.agentType) ?? "agent" }
  const error = errorIn(at(payload, fields.error))
  const cwd = textAt(payload, fields.cwd)
  const call = callIn(wire, row, payload)
  return {
    event,
    row,
    session,
    ...(agent === undefined ? {} : { agent }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(call === undefined ? {} : { call }),
    output: at(payload, fields.output) ?? null,
    ...(error === undefined ? {} : { error }),
    prompt: textAt(payload, fields.prompt) ?? "",
    answer: textAt(payload, fields.answer) ?? "",
    isAgain: at(payload, fields.again) === true
  }
}

const objectIn = (wire: Wire, text: string): JsonObject => {
  let value: unknown
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ""))
  } catch (error) {
    throw new Refusal(`the payload is not JSON: ${messageOf(error).slice(0, 200)}`)
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new Refusal(`the payload is not one of ${wire.name}: expected a JSON object`)
  }
  // It was parsed from JSON.
  return value as JsonObject
}

/** Systems choose ids that are short. Anything else is not an id. */
const idIn = (wire: Wire, payload: JsonObject, path: Path, what: string): string => {
  const name = [path].flat().join(" or ")
  const id = textAt(payload, path)
  if (id === undefined) throw new Refusal(`the payload of ${wire.name} has no ${what} id (${name})`)
  if (id.length > maxId) {
    throw new Refusal(`the ${what} id has ${id.length} characters: at most ${maxId} are allowed`)
  }
  if (id === "__proto__") throw new Refusal(`the ${what} id "__proto__" is not allowed`)
  return id
}

// The call.

const callIn = (wire: Wire, row: WireEvent, payload: JsonObject): Call | undefined => {
  const { call: shape, except = [], means } = row
  if (means !== "toolCall" && means !== "toolResult" && means !== "toolFailure") return undefined
  const own = shape === undefined ? textAt(payload, wire.fields.tool) : filledIn(shape, payload)
  if (own === undefined) {
    throw new Refusal(`the payload of ${wire.name} names no tool (${wire.fields.tool?.toString()})`)
  }
  if (except.some((pattern) => isCalled(own, pattern))) return undefined
  const name = shape === undefined ? nameOf(wire, own, payload) : own
  const given = parsed(at(payload, wire.fields.input)) ?? null
  const args = shape === undefined ? argsOf(wire, name, given) : argsIn(shape, payload)
  if (means === "toolCall") {
    if (shape !== undefined) requireFirst(wire, shape, payload)
    else requireFields(wire, name, given === null ? null : args)
  }
  const id = wire.withoutIds?.some((pattern) => isCalled(name, pattern)) === true
    ? undefined
    : textAt(payload, wire.fields.call)
  const isGuessed = id === undefined
  return { id: isGuessed ? `call-${digest([name, args])}` : safeId(id), isGuessed, name, args }
}

/** The guard uses slashes for the calls of sub-agents. */
const safeId = (id: string): string =>
  id.length > maxId || id.includes("/") || id === "__proto__" ? `call-${digest(id)}` : id

const isCalled = (name: string, pattern: string): boolean =>
  pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern

const filledIn = ({ name }: WireCall, payload: JsonObject): string =>
  name.replaceAll(/\{([^}]+)\}/g, (_, path: string) => textAt(payload, path) ?? "unknown")

const nameOf = ({ fields: { mcp }, tools }: Wire, own: string, payload: JsonObject): string => {
  const [server, tool] = mcp === undefined ? [] : [textAt(payload, mcp[0]), textAt(payload, mcp[1])]
  if (server !== undefined && tool !== undefined) return `mcp__${server}__${tool}`
  const ofCursor = /^MCP:(.+)$/.exec(own)?.[1]
  if (ofCursor !== undefined) return `mcp__cursor__${ofCursor}`
  return Object.hasOwn(tools, own) ? tools[own]! : own
}

const argsIn = ({ args }: WireCall, payload: JsonObject): Json => {
  if (typeof args === "string" || Array.isArray(args)) return parsed(at(payload, args as Path)) ?? {}
  return Object.fromEntries(
    Object.entries(args).flatMap(([argument, path]) => {
      const value = at(payload, path as Path)
      return value === undefined ? [] : [[argument, value]]
    })
  )
}

/** The first argument is what a call is about: the command, or the file. Without it, rules would let the call pass. */
const requireFirst = (wire: Wire, { args }: WireCall, payload: JsonObject): void => {
  if (typeof args === "string" || Array.isArray(args)) return
  const [first] = Object.values(args)
  if (textAt(payload, first) === undefined) {
    throw new Refusal(`the payload of ${wire.name} has no ${String(first)}, so nobody knows what it is about to do`)
  }
}

/** Tools whose arguments rules read by their names. */
const readByName: ReadonlySet<string> = new Set(
  ["Agent", "Bash", "Edit", "MultiEdit", "NotebookEdit", "Read", "WebFetch", "Write", "apply_patch"]
)

/** Rules would find nothing in arguments that are missing, a list or a text. */
const requireFields = (wire: Wire, name: string, args: Json): void => {
  if (isFields(args) || !readByName.has(name)) return
  throw new Refusal(
    `${wire.name} sent arguments of ${name} that are not an object, so nobody knows what it is about to do`
  )
}

/** Some systems write arguments as text. */
const parsed = (value: Json | undefined): Json | undefined => {
  if (typeof value !== "string") return value
  try {
    return JSON.parse(value) as Json
  } catch {
    return value
  }
}

/** Arguments with the fields of Claude Code. Where a system declares fields, only those are compared and shown. */
const argsOf = (wire: Wire, name: string, given: Json | null): Json => {
  const value = given ?? {}
  if (typeof value === "string" && value.startsWith("*** Begin Patch")) return patchOf({ command: value })
  if (!isFields(value)) return value
  if (name === "apply_patch") return patchOf(value)
  const known = fieldsOf(wire, name)
  if (known === undefined) return value
  const isExact = wire.withoutIds?.includes(name) === true
  const own = Object.entries(value).flatMap(([field, one]) => Object.hasOwn(known, field) ? [[known[field]!, one]] : [])
  const others = isExact ? [] : Object.entries(value).filter(([field]) => !Object.hasOwn(known, field))
  // The field that the system reads counts, whatever else the model has written.
  return Object.fromEntries([...others, ...own])
}

/** Arguments as the system wrote them, from those of Claude Code. */
export const givenArgs = (wire: Wire, name: string, args: Json): Json => {
  if (!isFields(args)) return args
  if (name === "apply_patch") {
    const { paths: _paths, patch, ...rest } = args
    return { ...rest, command: patch ?? "" }
  }
  const known = fieldsOf(wire, name)
  if (known === undefined) return args
  const back = new Map(Object.entries(known).map(([own, field]) => [field, own]))
  return Object.fromEntries(Object.entries(args).map(([field, value]) => [back.get(field) ?? field, value]))
}

const fieldsOf = ({ toolFields = {} }: Wire, name: string): { readonly [field: string]: string } | undefined =>
  Object.hasOwn(toolFields, name) ? toolFields[name] : undefined

/** A patch is not a command: hooks see the files that it writes. */
const patchOf = ({ command, ...rest }: JsonObject): JsonObject => {
  if (typeof command !== "string") return command === undefined ? rest : { command, ...rest }
  const paths = [...command.matchAll(/^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$/gm)].map(([, path]) =>
    path!
  )
  return { ...rest, patch: command, paths }
}

// Fields.

/** Returns the value at a path. Inherited fields do not count. */
const at = (payload: Json, path: Path | undefined): Json | undefined => {
  if (path === undefined) return undefined
  for (const one of typeof path === "string" ? [path] : path) {
    let value: Json | undefined = payload
    for (const key of one.split(".")) {
      value = typeof value === "object" && value !== null && Object.hasOwn(value, key)
        ? (value as { readonly [key: string]: Json })[key]
        : undefined
    }
    if (value !== undefined && value !== null && value !== "") return value
  }
  return undefined
}

const textAt = (payload: JsonObject, path: Path | undefined): string | undefined => {
  const value = at(payload, path)
  return typeof value === "string" ? value : undefined
}

const errorIn = (value: Json | undefined): string | undefined =>
  value === undefined ? undefined : typeof value === "string" ? value : canonical(value)
