/** Reads the hooks of a settings file of Gemini CLI. */
import type { Entry, Warning } from "../../engine/Dialect.ts"
import { type Fields, isFields, isText, parseCommented } from "../../internal/fields.ts"
import { whyNoObject } from "../../internal/jsonError.ts"
import type { CommandWork } from "../../runner/Runners.ts"
import { type EventNames, readEventLists, type Warn, warningsOf } from "../shared/eventLists.ts"
import * as Pattern from "../shared/pattern.ts"
import { type EventName, events } from "./events.ts"

export interface Handler extends Entry {
  readonly event: EventName
  readonly work: CommandWork
  /** Whether all hooks of the event run one after another. */
  readonly sequential: boolean
  readonly matches: (value: string) => boolean
  readonly env?: { readonly [name: string]: string }
  readonly timeoutMs: number
}

export interface Decoded {
  readonly handlers: ReadonlyArray<Handler>
  readonly warnings: ReadonlyArray<Warning>
  readonly disableAllHooks: boolean
  readonly disabled: ReadonlyArray<string>
}

export const decode = (text: string, file: string, folder?: string): Decoded => {
  const { warn, warnings } = warningsOf(file)
  const settings = parseCommented(text)
  if (!isFields(settings)) warn("", whyNoObject(text, true))
  const { hooks, hooksConfig } = isFields(settings) ? settings : {}
  if (hooks !== undefined && !isFields(hooks)) warn("hooks", "expected an object of events")
  if (hooksConfig !== undefined && !isFields(hooksConfig)) warn("hooksConfig", "expected an object")
  const listed = isFields(hooks) ? hooks : {}
  const configs = [["hooks", listed], ["hooksConfig", isFields(hooksConfig) ? hooksConfig : {}]] as const
  const disabled = configs.flatMap(([key, config]) => textsOf(config["disabled"], `${key}.disabled`, warn))
  for (const [key, { enabled }] of configs) {
    if (enabled !== undefined && typeof enabled !== "boolean") warn(`${key}.enabled`, "expected true or false")
  }
  const lists = Object.fromEntries(Object.entries(listed).filter(([name]) => !settingsOf.has(name)))
  const handlers = readEventLists(
    lists,
    eventNames,
    warn,
    (event, group, key) => readGroup(event, group, key, file, folder, warn)
  )
  return {
    handlers: handlers.filter((handler) => !isDisabled(handler, disabled)),
    warnings,
    disableAllHooks: configs.some(([, { enabled }]) => enabled === false),
    disabled
  }
}

/** Whether a hook is switched off. A hook is identified by its name, or by its command if it has no name. */
export const isDisabled = ({ name, work }: Handler, disabled: ReadonlyArray<string>): boolean =>
  disabled.includes(name === undefined || name === "" ? work.command : name)

const names = Object.keys(events) as ReadonlyArray<EventName>

/** Settings that are in the same object as the events. */
const settingsOf: ReadonlySet<string> = new Set(["enabled", "disabled", "notifications"])

const isEvent = (name: string): name is EventName => Object.hasOwn(events, name)

const eventNames: EventNames<EventName> = {
  names,
  eventOf: (name) => isEvent(name) ? name : undefined,
  items: "groups"
}

const textsOf = (value: unknown, key: string, warn: Warn): ReadonlyArray<string> => {
  if (value === undefined) return []
  return Array.isArray(value) && value.every(isText) ? value : warn(key, "expected a list of texts") ?? []
}

const readGroup = (
  event: EventName,
  group: unknown,
  key: string,
  file: string,
  folder: string | undefined,
  warn: Warn
): ReadonlyArray<Handler> => {
  if (!isFields(group)) return warn(key, "expected an object with hooks") ?? []
  const { hooks, matcher, sequential } = group
  if (matcher !== undefined && !isText(matcher)) return warn(`${key}.matcher`, "expected a text") ?? []
  if (sequential !== undefined && typeof sequential !== "boolean") warn(`${key}.sequential`, "expected true or false")
  if (!Array.isArray(hooks)) return warn(`${key}.hooks`, "expected a list of hooks") ?? []
  const { test, warning } = compile(matcher?.trim() ?? "", event)
  if (warning !== undefined) warn(`${key}.matcher`, warning)
  return hooks.flatMap((hook: unknown, index) => {
    const at = `${key}.hooks[${index}]`
    const read = readHook(hook, at, warn)
    if (read === undefined) return []
    const extension = folder === undefined ? {} : { env: { extensionPath: folder, ...read.env } }
    const said = isText(matcher) ? { matcherText: matcher } : {}
    return [{ event, file, key: at, matches: test, sequential: sequential === true, ...said, ...read, ...extension }]
  })
}

const defaultTimeoutMs = 60_000

const readHook = (
  hook: unknown,
  key: string,
  warn: Warn
): Pick<Handler, "work" | "timeoutMs" | "name" | "env"> | undefined => {
  if (!isFields(hook)) return warn(key, "expected an object with a type")
  const { command, env, name, timeout = defaultTimeoutMs, type } = hook
  if (type !== "command") return warn(`${key}.type`, `expected "command", so this one never runs`)
  if (!isText(command) || command.trim() === "") return warn(`${key}.command`, "expected a shell command")
  if (name !== undefined && !isText(name)) warn(`${key}.name`, "expected a text")
  const fits = typeof timeout === "number" && timeout > 0 && Number.isFinite(timeout)
  if (!fits) warn(`${key}.timeout`, "expected a number of milliseconds above 0")
  return {
    // `${/}` is the path separator. A shell cannot expand a variable with this name, so it is replaced here.
    work: { type: "command", command: command.replaceAll("${/}", "/") },
    timeoutMs: fits ? timeout : defaultTimeoutMs,
    ...(isText(name) ? { name } : {}),
    ...(env === undefined ? {} : { env: textFields(env, `${key}.env`, warn) })
  }
}

const textFields = (value: unknown, key: string, warn: Warn): { readonly [name: string]: string } => {
  if (!isFields(value)) return warn(key, "expected an object of texts") ?? {}
  return Object.fromEntries(
    Object.entries(value as Fields).flatMap(([name, one]) =>
      isText(one) ? [[name, one]] : warn(`${key}.${name.slice(0, 80)}`, "expected a text") ?? []
    )
  )
}

/**
 * Compiles a matcher. For tool names it is a pattern, or a literal text if it is not a valid pattern. For other fields
 * it has to equal the value.
 */
const compile = (
  matcher: string,
  event: EventName
): { readonly test: (value: string) => boolean; readonly warning?: string } => {
  if (matcher === "" || matcher === "*" || events[event] === undefined) return { test: () => true }
  if (events[event] !== "tool_name") return { test: (value) => value === matcher }
  const compiled = Pattern.compile(matcher)
  if (typeof compiled === "function") return { test: compiled }
  const quoted = JSON.stringify(matcher)
  return compiled === "unsupported"
    ? {
      test: () => true,
      warning:
        `${quoted} is not a pattern that RE2 can read (backreferences, most lookaround), so it matches everything`
    }
    : { test: (value) => value === matcher, warning: `${quoted} is not a valid pattern, so it is taken literally` }
}
