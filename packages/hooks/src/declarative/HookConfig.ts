/**
 * Settings files with hooks, as data: `{ "hooks": { "PreToolUse": [{ "matcher": "Bash", "hooks": [{ "type": "command", "command": "…" }] }] } }`.
 *
 * @since 0.1.0
 */
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Condition from "../Condition.ts"
import { type EventName, isEvent, meant, names, rowOf } from "./internal/events.ts"
import * as Matcher from "./Matcher.ts"

export type { EventName } from "./internal/events.ts"

/** One command of a settings file. @category schemas @since 0.1.0 */
export const Command = Schema.Struct({
  type: Schema.Literal("command"),
  command: Schema.String.check(Schema.isMinLength(1)),
  /** With arguments the command is started directly, without a shell. */
  args: Schema.optionalKey(Schema.Array(Schema.String)),
  /** One rule, such as `Bash(git push*)`. */
  if: Schema.optionalKey(Schema.String),
  /** Seconds. */
  timeout: Schema.optionalKey(Schema.Finite.check(Schema.isGreaterThan(0))),
  async: Schema.optionalKey(Schema.Boolean),
  once: Schema.optionalKey(Schema.Boolean),
  shell: Schema.optionalKey(Schema.String)
})
/** @category models @since 0.1.0 */
export interface Command extends Schema.Schema.Type<typeof Command> {}

/** One command, with everything that says when it runs. @category models @since 0.1.0 */
export interface Handler {
  readonly event: EventName
  readonly file: string
  /** Where in the file, such as `hooks.PreToolUse[0].hooks[1]`. */
  readonly key: string
  readonly matcher: Matcher.Matcher
  /** The compiled `if`; `never` where there is none that could match. */
  readonly rule?: Condition.Rule | "never"
  readonly command: Command
}

/** Something in a file that does not count as it is written. @category models @since 0.1.0 */
export interface Warning {
  readonly file: string
  readonly key: string
  readonly reason: string
}

/** What a file says. @category models @since 0.1.0 */
export interface HookConfig {
  readonly handlers: ReadonlyArray<Handler>
  readonly warnings: ReadonlyArray<Warning>
  readonly disableAllHooks: boolean
}

/** Writes a warning as one line. @category printing @since 0.1.0 */
export const show = ({ file, key, reason }: Warning): string => `${file}: ${key === "" ? "" : `${key}: `}${reason}`

/**
 * Reads the text of a settings file. What is malformed becomes a warning that names the key, and the rest counts. `folder` is where rules such as
 * `Edit(/docs/**)` start.
 *
 * @example
 * ```ts
 * import * as HookConfig from "@belay/hooks/HookConfig"
 *
 * const text = `{ "hooks": { "PreToolUs": [], "Stop": [{ "hooks": [{ "type": "command", "command": "./check.sh" }] }] } }`
 * const { handlers, warnings } = HookConfig.decode(text, "settings.json")
 * handlers[0]?.command.command // "./check.sh"
 * warnings.map(HookConfig.show) // ['settings.json: hooks.PreToolUs: unknown event; did you mean PreToolUse?']
 * ```
 * @category decoding
 * @since 0.1.0
 */
export const decode = (text: string, file: string, folder?: string): HookConfig => {
  const handlers: Array<Handler> = []
  const warnings: Array<Warning> = []
  const warn: Warn = (key, reason) => {
    warnings.push({ file, key, reason: reason.slice(0, 500) })
    return undefined
  }
  const settings = Option.getOrUndefined(parse(text))
  if (settings === undefined) warn("", "is not JSON, or not an object")
  const { disableAllHooks, hooks } = settings ?? {}
  if (hooks !== undefined && !isRecord(hooks)) warn("hooks", "expected an object of events")
  if (disableAllHooks !== undefined && typeof disableAllHooks !== "boolean") warn("disableAllHooks", "expected true or false")
  for (const [event, groups] of Object.entries(isRecord(hooks) ? hooks : {})) {
    const key = `hooks.${event.slice(0, 80)}`
    if (!isEvent(event)) {
      const near = meant(event)
      warn(key, `unknown event${near === undefined ? `; events are ${names.join(", ")}` : `; did you mean ${near}?`}`)
      continue
    }
    if (!Array.isArray(groups)) {
      warn(key, "expected a list of groups")
      continue
    }
    for (const [index, group] of (groups as ReadonlyArray<unknown>).entries()) {
      readGroup(event, group, `${key}[${index}]`, folder, file, handlers, warn)
    }
  }
  return { handlers, warnings, disableAllHooks: disableAllHooks === true }
}

type Warn = (key: string, reason: string) => undefined

const parse = (text: string): Option.Option<{ readonly [key: string]: unknown }> =>
  Option.filter(Result.getSuccess(Result.try((): unknown => JSON.parse(text.replace(/^\uFEFF/, "")))), isRecord)

const isRecord = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const readGroup = (
  event: EventName,
  group: unknown,
  key: string,
  folder: string | undefined,
  file: string,
  handlers: Array<Handler>,
  warn: Warn
): void => {
  if (!isRecord(group)) return warn(key, "expected an object with hooks")
  const { hooks, matcher } = group
  if (matcher !== undefined && typeof matcher !== "string") return warn(`${key}.matcher`, "expected a text")
  if (!Array.isArray(hooks)) return warn(`${key}.hooks`, "expected a list of hooks")
  const compiled = Matcher.compile(matcher, event)
  if (compiled.warning !== undefined) warn(`${key}.matcher`, compiled.warning)
  for (const [index, hook] of (hooks as ReadonlyArray<unknown>).entries()) {
    const at = `${key}.hooks[${index}]`
    const command = readCommand(hook, at, warn)
    if (command === undefined) continue
    const rule = readRule(command.if, event, `${at}.if`, folder, warn)
    handlers.push({ event, file, key: at, matcher: compiled, command, ...(rule === undefined ? {} : { rule }) })
  }
}

const readCommand = (hook: unknown, key: string, warn: Warn): Command | undefined => {
  if (!isRecord(hook)) return warn(key, "expected an object with a type")
  if (typeof hook["type"] === "string" && later.has(hook["type"])) {
    return warn(`${key}.type`, `hooks of type ${hook["type"]} are not supported, so this one never runs`)
  }
  if (hook["type"] !== "command") return warn(`${key}.type`, `expected "command"`)
  const decoded = decodeCommand(hook)
  if (Result.isFailure(decoded)) return warn(key, String(decoded.failure.message).replaceAll(/\s*\n\s*/g, " "))
  const command = decoded.success
  const foreign =
    [command.command, ...(command.args ?? [])].flatMap((text) => /\$\{(?:user_config|tool_input)\.|\$\{?CLAUDE_PLUGIN_/.exec(text) ?? [])[0]
  if (foreign !== undefined) return warn(`${key}.command`, `${foreign}… is not filled in, so this one never runs`)
  if (command.shell !== undefined && command.shell !== "bash") {
    return warn(`${key}.shell`, `expected "bash", found ${JSON.stringify(command.shell)}, so this one never runs`)
  }
  if (hook["asyncRewake"] === true) warn(`${key}.asyncRewake`, "is not supported: the command runs as with async")
  return hook["asyncRewake"] === true ? { ...command, async: true } : command
}

const decodeCommand = Schema.decodeUnknownResult(Command)

const later: ReadonlySet<string> = new Set(["http", "prompt", "agent", "mcp_tool"])

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
  warn(key, `${rules.failure.message}, so the hook never runs`)
  return "never"
}
