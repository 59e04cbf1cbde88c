/** Reads `hooks.json` and `mcp.json` of Base Coat. */
import { checked } from "@belay/core/ArgumentCheck"
import { nearest } from "@belay/core/NamePattern"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { basename } from "node:path"
import type { Warning } from "../../engine/Dialect.ts"
import { type Fields, isFields } from "../../internal/fields.ts"
import { whyNoObject } from "../../internal/jsonError.ts"
import type { Work } from "../../runner/Runners.ts"
import { objectOf } from "../shared/jsonAnswer.ts"
import { type EventName, events, type Handler } from "./events.ts"

const Entry = Schema.Struct({
  command: Schema.optionalKey(Schema.String.check(Schema.isMinLength(1))),
  args: Schema.optionalKey(Schema.Array(Schema.String)),
  /** The name of an MCP tool: `server.tool`. */
  tool: Schema.optionalKey(Schema.String.check(Schema.isPattern(/^[^.\s]+\.\S+$/))),
  priority: Schema.optionalKey(Schema.Finite),
  kind: Schema.optionalKey(Schema.Literals(["policy", "advisory", "telemetry"])),
  /** In seconds. */
  timeout: Schema.optionalKey(Schema.Finite.check(Schema.isGreaterThan(0))),
  enabled: Schema.optionalKey(Schema.Boolean)
})

const decodeEntry = Schema.decodeUnknownOption(Entry)

/** Reads a file. Keys that other programs use, such as `mcpServers`, are ignored. */
export const decode = checked("BaseCoat.decode", ["text", "file"], (
  text: string,
  file: string
): { readonly handlers: ReadonlyArray<Handler>; readonly warnings: ReadonlyArray<Warning> } => {
  const warnings: Array<Warning> = []
  const warn: Warn = (key, reason, entry) =>
    void warnings.push({
      file,
      key,
      reason,
      ...(isFields(entry) && entry["kind"] === "policy" ? { policy: true } : {})
    })
  const parsed = objectOf(text)
  if (Result.isFailure(parsed) || parsed.success === undefined) {
    warn("", `${whyNoObject(text)}: the whole file is ignored`)
    return { handlers: [], warnings }
  }
  const root = parsed.success
  // `mcp.json` may omit the version, because it is the file of the MCP servers.
  const version = root["version"]
  if (version === undefined ? !basename(file).endsWith("mcp.json") : version !== 1) {
    warn("version", `expected 1, found ${JSON.stringify(version) ?? "nothing"}: the whole file is ignored`)
    return { handlers: [], warnings }
  }
  const hooks = root["hooks"]
  if (hooks === undefined) return { handlers: [], warnings }
  if (!isFields(hooks)) {
    warn("hooks", "expected an object")
    return { handlers: [], warnings }
  }
  const handlers = Object.entries(hooks).flatMap(([event, list]) => {
    const key = `hooks.${event.slice(0, 100)}`
    if (!isEvent(event)) {
      const near = nearest(event, events)
      warn(key, `unknown event${near === undefined ? "" : `; did you mean ${near}?`}`)
      return []
    }
    if (Array.isArray(list)) {
      return list.flatMap((entry: unknown, index) => handlerOf(entry, event, file, `${key}[${index}]`, warn))
    }
    warn(key, "expected an array")
    return []
  })
  return { handlers, warnings }
})

type Warn = (key: string, reason: string, entry?: unknown) => void

const isEvent = (name: string): name is EventName => (events as ReadonlyArray<string>).includes(name)

const known = Object.keys(Entry.fields)

const handlerOf = (
  entry: unknown,
  event: EventName,
  file: string,
  key: string,
  warn: Warn
): ReadonlyArray<Handler> => {
  const decoded = decodeEntry(entry)
  if (Option.isNone(decoded)) {
    warn(key, isFields(entry) ? `does not count: ${problemOf(entry)}` : "expected an object", entry)
    return []
  }
  for (const other of Object.keys(entry as Fields)) {
    if (!known.includes(other)) warn(`${key}.${other.slice(0, 100)}`, "is not known")
  }
  const { args, command, enabled, kind, priority = 100, timeout, tool } = decoded.value
  if ((command === undefined) === (tool === undefined)) {
    warn(key, "expected a command or a tool", entry)
    return []
  }
  if (enabled === false) return []
  const dot = tool?.indexOf(".") ?? 0
  const work: Work = tool === undefined
    ? { type: "command", command: command!, ...(args === undefined ? {} : { args }) }
    : { type: "mcp_tool", server: tool.slice(0, dot), tool: tool.slice(dot + 1) }
  return [{
    event,
    file,
    key,
    priority,
    work,
    ...(kind === undefined ? {} : { kind }),
    ...(timeout === undefined ? {} : { timeoutMs: timeout * 1_000 })
  }]
}

const expected: { readonly [key: string]: string } = {
  command: "a text",
  args: "an array of texts",
  tool: "`server.tool`",
  priority: "a number",
  kind: "policy, advisory or telemetry",
  timeout: "a number of seconds",
  enabled: "true or false"
}

/** Finds the first field that is invalid by itself. */
const problemOf = (entry: Fields): string => {
  const key = known.find((one) => Object.hasOwn(entry, one) && Option.isNone(decodeEntry({ [one]: entry[one] })))
  return key === undefined ? "it is invalid" : `${key} is not ${expected[key]}`
}
