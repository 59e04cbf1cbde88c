/**
 * Settings files with hooks, as data: `{ "hooks": { "PreToolUse": [{ "matcher": "Bash", "hooks": [{ "type": "command",
 * "command": "…" }] }] } }`.
 *
 * @since 0.1.0
 */
import { whyNot } from "@belay/core/Json"
import { nearest } from "@belay/core/NamePattern"
import * as Condition from "@belay/hooks/Condition"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Warning } from "../../Dialect.ts"
import type { Work } from "../../Runners.ts"
import { type Fields, isFields, record } from "../shared/fields.ts"
import { whyNoObject } from "../shared/jsonError.ts"
import { type EventName, isEvent, names, rowOf } from "./events.ts"
import * as Matcher from "./Matcher.ts"

export { showWarning as show, type Warning } from "../../Dialect.ts"
export type { EventName } from "./events.ts"

/** One entry, with everything that says when it runs. @category models @since 0.1.0 */
export interface Handler {
  readonly event: EventName
  readonly file: string
  /** Where in the file, such as `hooks.PreToolUse[0].hooks[1]`. */
  readonly key: string
  readonly matcher: Matcher.Matcher
  /** The compiled `if`; `never` where there is none that could match. */
  readonly rule?: Condition.Rule | "never"
  readonly work: Work
  /** Seconds. */
  readonly timeout?: number
  readonly async?: boolean
  /** With `async`: exit code 2 wakes the agent. */
  readonly rewake?: boolean
  /** Once in a session. */
  readonly once?: boolean
  /** What the user reads while it runs. */
  readonly status?: string
  readonly origin?: Origin
  /** Whether the user wrote the file, or the project could have. Default `project`. */
  readonly trusted?: "user" | "project"
}

/** The plugin, skill or agent that an entry belongs to. @category models @since 0.1.0 */
export interface Origin {
  readonly type: "plugin" | "skill" | "agent"
  readonly name: string
  /** The folder of the plugin, the skill or the agent's file. */
  readonly root: string
  /** Where a plugin keeps what it writes. */
  readonly data?: string
}

/** What a file says. @category models @since 0.1.0 */
export interface HookConfig {
  readonly handlers: ReadonlyArray<Handler>
  readonly warnings: ReadonlyArray<Warning>
  readonly disableAllHooks: boolean
  /** Of a managed file: nobody else's hooks count. */
  readonly allowManagedHooksOnly: boolean
  /** Where entries of type `http` may send to, `*` for any characters. */
  readonly allowedHttpHookUrls?: ReadonlyArray<string>
  /** Variables that headers of such entries may name. */
  readonly httpHookAllowedEnvVars?: ReadonlyArray<string>
  /** Variables for commands. Those of a project do not count. */
  readonly env?: { readonly [name: string]: string }
}

/** How a file is to be read. @category models @since 0.1.0 */
export interface ReadOptions {
  /** Where rules such as `Edit(/docs/**)` start. */
  readonly folder?: string
  /** As Claude Code reads it (the default), or as Codex does. */
  readonly flavor?: "claude" | "codex"
  readonly origin?: Origin
  /** What goes before each key, such as `plugin.json: `. */
  readonly prefix?: string
}

/**
 * Reads the text of a settings file. What is malformed becomes a warning that names the key, and the rest counts.
 *
 * @example
 * ```ts
 * import * as HookConfig from "@belay/hook-files/HookConfig"
 *
 * const text = `{ "hooks": { "PreToolUs": [], "Stop": [{ "hooks": [{ "type": "command", "command": "./check.sh" }] }] } }`
 * const { handlers, warnings } = HookConfig.decode(text, "settings.json")
 * handlers[0]?.work // { type: "command", command: "./check.sh" }
 * warnings.map(HookConfig.show) // ['settings.json: hooks.PreToolUs: unknown event; did you mean PreToolUse?']
 * ```
 * @category decoding
 * @since 0.1.0
 */
export const decode = (text: string, file: string, options: ReadOptions = {}): HookConfig => {
  const settings = record(text)
  return settings === undefined
    ? { ...nothing, warnings: [{ file, key: "", reason: whyNoObject(text) }] }
    : fromValue(settings, file, options)
}

const nothing: HookConfig = { handlers: [], warnings: [], disableAllHooks: false, allowManagedHooksOnly: false }

/** Texts, numbers and truth values, as texts. */
const environment = (value: unknown, warn: Warn): { readonly [name: string]: string } | undefined => {
  if (value === undefined) return undefined
  if (!isFields(value)) return warn("env", "expected an object of variables")
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, one]) => {
      if (/^[A-Za-z_]\w{0,200}$/.test(name) && ["string", "number", "boolean"].includes(typeof one)) {
        return [[name, String(one)]]
      }
      warn(`env.${name.slice(0, 80)}`, "expected a name of letters, digits and _, and a text")
      return []
    })
  )
}

/** Reads what a file says, where something else has parsed it (front matter, TOML). @category decoding @since 0.1.0 */
export const fromValue = (
  settings: { readonly [key: string]: unknown },
  file: string,
  options: ReadOptions = {}
): HookConfig => {
  const handlers: Array<Handler> = []
  const warnings: Array<Warning> = []
  const warn: Warn = (key, reason) => {
    warnings.push({ file, key: `${options.prefix ?? ""}${key}`, reason: reason.slice(0, 500) })
    return undefined
  }
  const flag = (key: string): boolean => {
    const value = own(settings, key)
    if (value !== undefined && typeof value !== "boolean") warn(key, "expected true or false")
    return value === true
  }
  const list = (key: string): ReadonlyArray<string> | undefined => {
    const value = own(settings, key)
    if (value === undefined || isTexts(value)) return value
    warn(key, "expected a list of texts, so nothing is allowed")
    return []
  }
  const env = environment(own(settings, "env"), warn)
  const hooks = own(settings, "hooks")
  if (hooks !== undefined && !isFields(hooks)) warn("hooks", "expected an object of events")
  const known = options.flavor === "codex" ? codexEvents : names
  for (const [event, groups] of Object.entries(isFields(hooks) ? hooks : {})) {
    const key = `hooks.${event.slice(0, 80)}`
    if (!isEvent(event) || !known.includes(event)) {
      // Codex keeps what it remembers about its hooks beside them.
      if (options.flavor === "codex" && event === "state") continue
      const near = nearest(event, known)
      warn(key, `unknown event${near === undefined ? `; events are ${known.join(", ")}` : `; did you mean ${near}?`}`)
      continue
    }
    if (!Array.isArray(groups)) {
      warn(key, "expected a list of groups")
      continue
    }
    for (const [index, group] of (groups as ReadonlyArray<unknown>).entries()) {
      handlers.push(...readGroup({ event, file, options, warn }, group, `${key}[${index}]`))
    }
  }
  const urls = list("allowedHttpHookUrls")
  const variables = list("httpHookAllowedEnvVars")
  return {
    handlers,
    ...(env === undefined ? {} : { env }),
    disableAllHooks: flag("disableAllHooks"),
    allowManagedHooksOnly: flag("allowManagedHooksOnly"),
    ...(urls === undefined ? {} : { allowedHttpHookUrls: urls }),
    ...(variables === undefined ? {} : { httpHookAllowedEnvVars: variables }),
    warnings
  }
}

/** The events that Codex has. @category events @since 0.1.0 */
export const codexEvents: ReadonlyArray<EventName> = [
  "SessionStart",
  "UserPromptSubmit",
  "PreToolUse",
  "PermissionRequest",
  "PostToolUse",
  "PreCompact",
  "PostCompact",
  "SubagentStart",
  "SubagentStop",
  "Stop",
  "StopFailure"
]

type Warn = (key: string, reason: string) => undefined

const own = (record: { readonly [key: string]: unknown }, key: string): unknown =>
  Object.hasOwn(record, key) ? record[key] : undefined

const isTexts = (value: unknown): value is ReadonlyArray<string> =>
  Array.isArray(value) && value.every((one) => typeof one === "string")

interface Place {
  readonly event: EventName
  readonly file: string
  readonly options: ReadOptions
  readonly warn: Warn
}

const readGroup = (place: Place, group: unknown, key: string): ReadonlyArray<Handler> => {
  const { event, file, options: { flavor, folder, origin }, warn } = place
  const refuse = (at: string, reason: string) => {
    warn(at, reason)
    return []
  }
  if (!isFields(group)) return refuse(key, "expected an object with hooks")
  const { hooks, matcher } = group
  if (matcher !== undefined && typeof matcher !== "string") return refuse(`${key}.matcher`, "expected a text")
  if (!Array.isArray(hooks)) return refuse(`${key}.hooks`, "expected a list of hooks")
  const compiled = Matcher.compile(matcher, event, flavor)
  if (compiled.warning !== undefined) warn(`${key}.matcher`, compiled.warning)
  return (hooks as ReadonlyArray<unknown>).flatMap((hook, index) => {
    const at = `${key}.hooks[${index}]`
    const entry = readEntry(place, hook, at)
    if (entry === undefined) return []
    const { async: isAsync, asyncRewake, if: rule, once, statusMessage, timeout } = entry.when
    const compiledRule = readRule(rule, event, `${at}.if`, folder, warn)
    // Entries of a sub-agent run when that sub-agent stops.
    const own = origin?.type === "agent" && event === "Stop" ? "SubagentStop" : event
    return [{
      event: own,
      file,
      key: at,
      matcher: compiled,
      work: entry.work,
      ...(compiledRule === undefined ? {} : { rule: compiledRule }),
      ...(timeout === undefined ? {} : { timeout }),
      ...(isAsync === true || asyncRewake === true ? { async: true } : {}),
      ...(asyncRewake === true ? { rewake: true } : {}),
      ...(once === true ? { once } : {}),
      ...(statusMessage === undefined ? {} : { status: statusMessage.slice(0, 200) }),
      ...(origin === undefined ? {} : { origin })
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

const isKind = (type: unknown): type is Work["type"] => kinds.includes(type as Work["type"])

/** What may run at an event. */
const runsAt = (event: EventName): ReadonlyArray<Work["type"]> => {
  const { runs } = rowOf(event)
  return runs === "models" ? kinds : runs === "local" ? ["command", "mcp_tool"] : ["command", "http", "mcp_tool"]
}

const readEntry = (
  { event, options: { origin }, warn }: Place,
  hook: unknown,
  key: string
): { readonly work: Work; readonly when: typeof When.Type } | undefined => {
  if (!isFields(hook)) return warn(key, "expected an object with a type")
  const type = own(hook, "type")
  if (!isKind(type)) {
    const near = typeof type === "string" ? nearest(type, kinds) : undefined
    return warn(
      `${key}.type`,
      `expected one of ${kinds.join(", ")}${near === undefined ? "" : `; did you mean ${near}?`}`
    )
  }
  if (!runsAt(event).includes(type)) {
    return warn(`${key}.type`, `hooks of type ${type} do not run at ${event}, where ${runsAt(event).join(", ")} do`)
  }
  const why = whyNot(hook, key)
  if (why !== undefined) return warn(key, `expected JSON, ${why}`)
  const when = decoders.when(hook)
  const work: Result.Result<Work, { readonly message: string }> = decoders[type](hook)
  if (Result.isFailure(when)) return warn(key, line(when.failure.message))
  if (Result.isFailure(work)) return warn(key, `${line(work.failure.message)}${misspelt(hook, type)}`)
  const unfilled = unfillable(work.success, origin)
  if (unfilled !== undefined) return warn(`${key}.command`, `${unfilled}… is not filled in, so this one never runs`)
  return { work: work.success, when: when.success }
}

/** A key that was meant, where one that is not known looks like it. */
const misspelt = (hook: Fields, type: Work["type"]): string => {
  const known = [...Object.keys(types[type].fields), ...Object.keys(When.fields)]
  const [near] = Object.keys(hook).flatMap((key) => known.includes(key) ? [] : nearest(key, known) ?? [])
  return near === undefined ? "" : `; did you mean ${near}?`
}

const line = (message: string): string => message.replaceAll(/\s*\n\s*/g, " ")

/** What a line for the shell names that nobody fills in. */
const unfillable = (work: Work, origin: Origin | undefined): string | undefined => {
  if (work.type !== "command") return undefined
  const { args = [], command } = work
  return [command, ...args].flatMap((text) =>
    (origin?.type === "plugin"
      ? /\$\{(?:user_config|tool_input)\./
      : /\$\{(?:user_config|tool_input)\.|\$\{?CLAUDE_PLUGIN_(?:ROOT|DATA)(?!\w|:?-)/)
      .exec(text) ?? []
  )[0]
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
    warn(key, `counts at events about one tool call only: at ${event} the hook never runs`)
    return "never"
  }
  const rules = Condition.parseAll([text], key, folder)
  if (Result.isSuccess(rules)) return rules.success[0]!
  // The warning names the key itself.
  warn(key, `${rules.failure.message.slice(`${key}[0]: `.length)}, so the hook never runs`)
  return "never"
}
