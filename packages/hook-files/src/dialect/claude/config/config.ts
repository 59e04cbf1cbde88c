/** Reads the settings files of Claude Code and of Codex. */
import { checked } from "@belay/core/ArgumentCheck"
import { defined } from "@belay/core/Fields"
import type { Warning } from "../../../engine/Dialect.ts"
import { isFields, record } from "../../../internal/fields.ts"
import { whyNoObject } from "../../../internal/jsonError.ts"
import { type EventNames, readEventLists } from "../../shared/eventLists.ts"
import { codexEvents, type EventName, isEvent, names } from "../event/events.ts"
import { own, readGroup, type Warn } from "./entry.ts"
import type { Handler, HookConfig, ReadOptions } from "./handler.ts"
import { readPermissions } from "./permissionRules.ts"

/**
 * Reads the text of a settings file. A malformed part becomes a warning that names its key, and the rest is used. It
 * never throws.
 *
 * @example
 * ```ts
 * import * as HookConfig from "@belay/hook-files/HookConfig"
 *
 * const text =
 *   `{ "hooks": { "PreToolUs": [], "Stop": [{ "hooks": [{ "type": "command", "command": "./check.sh" }] }] } }`
 * const { handlers, warnings } = HookConfig.decode(text, "settings.json")
 * handlers[0]?.work // { type: "command", command: "./check.sh" }
 * warnings.map(HookConfig.show) // ['settings.json: hooks.PreToolUs: unknown event; did you mean PreToolUse?']
 * ```
 * @category decoding
 * @since 0.1.0
 */
export const decode = checked(
  "HookConfig.decode",
  ["text", "file", "options"],
  (text: string, file: string, options: ReadOptions = {}): HookConfig => {
    const settings = record(text)
    return settings === undefined
      ? { ...nothing, warnings: [{ file, key: "", reason: whyNoObject(text) }] }
      : fromValue(settings, file, options)
  }
)

const nothing: HookConfig = { handlers: [], warnings: [], disableAllHooks: false, allowManagedHooksOnly: false }

/** Reads `env`: converts numbers and booleans to strings, and warns about other values. */
const environment = (value: unknown, warn: Warn): { readonly [name: string]: string } | undefined => {
  if (value === undefined) return undefined
  if (!isFields(value)) return warn("env", "expected an object of variables")
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, one]) => {
      if (/^[A-Za-z_]\w{0,200}$/.test(name) && ["string", "number", "boolean"].includes(typeof one)) {
        return [[name, String(one)]]
      }
      warn(`env.${name.slice(0, 80)}`, "expected a name of letters, digits and _, and a string, number or boolean")
      return []
    })
  )
}

/**
 * Reads settings that are already parsed, such as front matter or TOML. Warnings are the same as those of `decode`.
 *
 * @category decoding
 * @since 0.1.0
 */
export const fromValue = checked("HookConfig.fromValue", ["settings", "file", "options"], (
  settings: { readonly [key: string]: unknown },
  file: string,
  options: ReadOptions = {}
): HookConfig => {
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
    warn(key, "expected a list of strings, so nothing is allowed")
    return []
  }
  const strange = options.flavor === "codex" ? Object.keys(settings).find((key) => !codexKeys.includes(key)) : undefined
  if (strange !== undefined) {
    warn(strange.slice(0, 80), `is not known, so no hook of this file runs; Codex knows ${codexKeys.join(" and ")}`)
    return { ...nothing, warnings }
  }
  const env = environment(own(settings, "env"), warn)
  const handlers = readHooks(own(settings, "hooks"), { file, options, warn })
  const permissions = readPermissions(own(settings, "permissions"), options, warn)
  const lists = {
    allowedHttpHookUrls: list("allowedHttpHookUrls"),
    httpHookAllowedEnvVars: list("httpHookAllowedEnvVars")
  }
  return {
    handlers,
    disableAllHooks: flag("disableAllHooks"),
    allowManagedHooksOnly: flag("allowManagedHooksOnly"),
    ...defined({ env, permissions, ...lists }),
    warnings
  }
})

/** The keys at the top of a file of Codex. It runs nothing of a file with another key. */
const codexKeys = ["description", "hooks"]

interface Where {
  readonly file: string
  readonly options: ReadOptions
  readonly warn: Warn
}

/** Reads `hooks`: an object with a list of groups for each event. */
const readHooks = (hooks: unknown, where: Where): ReadonlyArray<Handler> => {
  const { options: { flavor }, warn } = where
  const known = flavor === "codex" ? codexEvents : names
  const eventNames: EventNames<EventName> = {
    names: known,
    eventOf: (name) => isEvent(name) && known.includes(name) ? name : undefined,
    items: "groups"
  }
  return readEventLists(
    flavor === "codex" ? withoutState(hooks) : hooks,
    eventNames,
    warn,
    (event, group, key) => readGroup({ event, ...where }, group, key)
  )
}

/** Codex stores its own data about hooks as `state`, beside the events. */
const withoutState = (hooks: unknown): unknown => {
  if (!isFields(hooks)) return hooks
  const { state: _, ...lists } = hooks
  return lists
}

const isTexts = (value: unknown): value is ReadonlyArray<string> =>
  Array.isArray(value) && value.every((one) => typeof one === "string")
