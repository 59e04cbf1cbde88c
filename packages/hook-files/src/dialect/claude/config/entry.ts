/** Reads a group of entries in a settings file. */
import { defined } from "@belay/core/Fields"
import { whyNot } from "@belay/core/Json"
import { nearest } from "@belay/core/NamePattern"
import * as Condition from "@belay/hooks/Condition"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { type Fields, isFields } from "../../../internal/fields.ts"
import type { Work } from "../../../runner/Runners.ts"
import type { Origin } from "../../shared/system.ts"
import { type EventName, rowOf } from "../event/events.ts"
import type { Handler, ReadOptions } from "./handler.ts"
import * as Matcher from "./Matcher.ts"

/** Adds a warning about a key. Returns undefined, so that a function can end with `return warn(…)`. */
export type Warn = (key: string, reason: string) => undefined

export const own = (record: { readonly [key: string]: unknown }, key: string): unknown =>
  Object.hasOwn(record, key) ? record[key] : undefined

/** Where a group is: its event and its file. */
export interface Place {
  readonly event: EventName
  readonly file: string
  readonly options: ReadOptions
  readonly warn: Warn
}

export const readGroup = (place: Place, group: unknown, key: string): ReadonlyArray<Handler> => {
  const { event, file, options: { flavor, folder, origin }, warn } = place
  const refuse = (at: string, reason: string) => {
    warn(at, reason)
    return []
  }
  if (!isFields(group)) return refuse(key, "expected an object with hooks")
  const { hooks } = group
  // Codex takes `null` for a missing key.
  const matcher = flavor === "codex" && group["matcher"] === null ? undefined : group["matcher"]
  if (matcher !== undefined && typeof matcher !== "string") return refuse(`${key}.matcher`, "expected a string")
  if (!Array.isArray(hooks)) return refuse(`${key}.hooks`, "expected a list of hooks")
  const compiled = Matcher.compile(matcher, event, flavor)
  if (compiled.warning !== undefined) warn(`${key}.matcher`, compiled.warning)
  return (hooks as ReadonlyArray<unknown>).flatMap((hook, index) => {
    const at = `${key}.hooks[${index}]`
    const entry = readEntry(place, hook, at)
    if (entry === undefined) return []
    const { async: isAsync, asyncRewake, if: rule, once, statusMessage, timeout } = entry.when
    const compiledRule = flavor === "codex"
      ? ignoredRule(rule, `${at}.if`, warn)
      : readRule(rule, event, `${at}.if`, folder, warn)
    // A `Stop` entry in the file of an agent runs when that sub-agent stops.
    const own = origin?.type === "agent" && event === "Stop" ? "SubagentStop" : event
    if (entry.when === always && origin === undefined) {
      const plain = { event: own, file, key: at, matcher: compiled, work: entry.work }
      return [matcher === undefined ? plain : { ...plain, matcherText: matcher }]
    }
    return [{
      event: own,
      file,
      key: at,
      matcher: compiled,
      work: entry.work,
      ...defined({
        matcherText: matcher,
        rule: compiledRule,
        timeout,
        async: isAsync === true || asyncRewake === true || undefined,
        rewake: asyncRewake === true || undefined,
        // Claude Code reads it in the front matter of skills only.
        once: (once === true && origin?.type === "skill") || undefined,
        status: statusMessage?.slice(0, 200),
        origin
      })
    }]
  })
}

const Text = Schema.String.check(Schema.isMinLength(1))
const Names = Schema.Array(Schema.String)

const When = Schema.Struct({
  if: Schema.optionalKey(Schema.String),
  timeout: Schema.optionalKey(Schema.Finite.check(Schema.isGreaterThan(0))),
  async: Schema.optionalKey(Schema.Boolean),
  asyncRewake: Schema.optionalKey(Schema.Boolean),
  once: Schema.optionalKey(Schema.Boolean),
  statusMessage: Schema.optionalKey(Schema.String)
})

const types = {
  command: Schema.Struct({
    type: Schema.Literal("command"),
    command: Text,
    args: Schema.optionalKey(Names),
    shell: Schema.optionalKey(Schema.Literals(["bash", "powershell"]))
  }),
  http: Schema.Struct({
    type: Schema.Literal("http"),
    url: Text,
    headers: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
    allowedEnvVars: Schema.optionalKey(Names)
  }),
  mcp_tool: Schema.Struct({
    type: Schema.Literal("mcp_tool"),
    server: Text,
    tool: Text,
    input: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json))
  }),
  prompt: Schema.Struct({
    type: Schema.Literal("prompt"),
    prompt: Text,
    model: Schema.optionalKey(Text),
    continueOnBlock: Schema.optionalKey(Schema.Boolean)
  }),
  agent: Schema.Struct({ type: Schema.Literal("agent"), prompt: Text, model: Schema.optionalKey(Text) })
}

const decoders = {
  when: Schema.decodeUnknownResult(When),
  command: Schema.decodeUnknownResult(types.command),
  http: Schema.decodeUnknownResult(types.http),
  mcp_tool: Schema.decodeUnknownResult(types.mcp_tool),
  prompt: Schema.decodeUnknownResult(types.prompt),
  agent: Schema.decodeUnknownResult(types.agent)
}

const kinds = Object.keys(types) as ReadonlyArray<Work["type"]>

const codexKinds: ReadonlyArray<Work["type"]> = ["command", "mcp_tool"]

const isKind = (type: unknown): type is Work["type"] => kinds.includes(type as Work["type"])

/** Returns the types of entries that may run at an event. */
const runsAt = (event: EventName): ReadonlyArray<Work["type"]> => {
  const { runs } = rowOf(event)
  return runs === "models" ? kinds : runs === "local" ? ["command", "mcp_tool"] : ["command", "http", "mcp_tool"]
}

interface ReadEntry {
  readonly work: Work
  readonly when: typeof When.Type
}

const readEntry = (
  { event, options: { flavor, origin }, warn }: Place,
  hook: unknown,
  key: string
): ReadEntry | undefined => {
  if (!isFields(hook)) return warn(key, "expected an object with a type")
  const type = own(hook, "type")
  if (!isKind(type)) {
    const near = typeof type === "string" ? nearest(type, kinds) : undefined
    return warn(
      `${key}.type`,
      `expected one of ${kinds.join(", ")}${near === undefined ? "" : `; did you mean ${near}?`}`
    )
  }
  if (flavor === "codex" && !codexKinds.includes(type)) {
    return warn(`${key}.type`, `Codex runs no hooks of type ${type}; expected one of ${codexKinds.join(", ")}`)
  }
  if (!runsAt(event).includes(type)) {
    return warn(
      `${key}.type`,
      `hooks of type ${type} do not run at ${event}; expected one of ${runsAt(event).join(", ")}`
    )
  }
  const entry = plainCommand(hook) ?? decodeEntry(flavor === "codex" ? asInCodex(hook) : hook, type, key, warn)
  const variable = entry === undefined ? undefined : variableWithoutValue(entry.work, origin)
  if (variable !== undefined) return warn(`${key}.command`, `${variable}… has no value here, so the hook never runs`)
  return entry
}

/** A timeout of 0 is one second in Codex. */
const asInCodex = (hook: Fields): Fields => own(hook, "timeout") === 0 ? { ...hook, timeout: 1 } : hook

/** Codex has no `if`, so the entry runs at every call that its matcher allows. */
const ignoredRule = (rule: string | undefined, key: string, warn: Warn): undefined =>
  rule === undefined ? undefined : warn(key, "Codex ignores it, so the hook runs for every call")

const decodeEntry = (hook: Fields, type: Work["type"], key: string, warn: Warn): ReadEntry | undefined => {
  const why = whyNot(hook, key)
  if (why !== undefined) return warn(key, `expected JSON, ${why}`)
  const when = decoders.when(hook)
  const work: Result.Result<Work, { readonly message: string }> = decoders[type](hook)
  if (Result.isFailure(when)) return warn(key, line(when.failure.message))
  if (Result.isFailure(work)) return warn(key, `${line(work.failure.message)}${spellingHint(hook, type)}`)
  return { work: work.success, when: when.success }
}

/** What a plain entry says about when it runs. */
const always: typeof When.Type = {}

/**
 * Reads an entry that has only a command. Most have no more, and with a schema a large file takes three times as long.
 */
const plainCommand = (hook: Fields): ReadEntry | undefined => {
  for (const key of Object.keys(hook)) if (key !== "type" && key !== "command") return undefined
  const { command, type } = hook
  return type === "command" && typeof command === "string" && command !== ""
    ? { work: { type, command }, when: always }
    : undefined
}

/** Returns a hint if an unknown key looks like a known one. */
const spellingHint = (hook: Fields, type: Work["type"]): string => {
  const known = [...Object.keys(types[type].fields), ...Object.keys(When.fields)]
  const [near] = Object.keys(hook).flatMap((key) => known.includes(key) ? [] : nearest(key, known) ?? [])
  return near === undefined ? "" : `; did you mean ${near}?`
}

const line = (message: string): string => message.replaceAll(/\s*\n\s*/g, " ")

/** Returns a variable in a command for which there is no value. */
const variableWithoutValue = (work: Work, origin: Origin | undefined): string | undefined => {
  if (work.type !== "command") return undefined
  const { args = [], command } = work
  if (args.length === 0 && !/\$\{|PLUGIN_/.test(command)) return undefined
  const known = origin === undefined ? [] : ["ROOT", ...((origin.plugin ?? origin).data === undefined ? [] : ["DATA"])]
  return [command, ...args].flatMap((text) => [
    ...(/\$\{(?:user_config|tool_input)\./.exec(text) ?? []),
    ...[...text.matchAll(/\$\{?CLAUDE_PLUGIN_(ROOT|DATA)(?!\w|:?-)/g)].flatMap(([found, name = ""]) =>
      known.includes(name) ? [] : [found]
    )
  ])[0]
}

const readRule = (
  text: string | undefined,
  event: EventName,
  key: string,
  folder: string | undefined,
  warn: Warn
): Condition.Rule | "never" | undefined => {
  if (text === undefined) return undefined
  if (rowOf(event).tool === undefined) {
    warn(key, `works only at events about one tool call, so the hook never runs at ${event}`)
    return "never"
  }
  const rules = Condition.parseAll([text], key, folder)
  if (Result.isSuccess(rules)) return rules.success[0]!
  // `warn` adds the key, so it is removed from the message.
  warn(key, `${rules.failure.message.slice(`${key}[0]: `.length)}, so the hook never runs`)
  return "never"
}
