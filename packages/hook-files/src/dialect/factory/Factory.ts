/**
 * Runs the hooks of Factory's Droid as one hook. Its files are similar to those of Claude Code.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import { checked } from "@belay/core/ArgumentCheck"
import type { Warning } from "../../engine/Dialect.ts"
import { isFields, record } from "../../internal/fields.ts"
import { makeFor, type Options } from "../claude/ClaudeCode.ts"
import * as HookConfig from "../claude/config/HookConfig.ts"
import { factory, translated } from "./flavor.ts"

export type { Options } from "../claude/ClaudeCode.ts"

/** The names of all events of Droid. @category events @since 0.1.0 */
export const events: ReadonlyArray<HookConfig.EventName> = [
  "SessionStart",
  "SessionEnd",
  "UserPromptSubmit",
  "PreToolUse",
  "PostToolUse",
  "Notification",
  "Stop",
  "SubagentStop",
  "PreCompact"
]

/**
 * Reads the text of a `hooks.json` or of a settings file. In a `hooks.json` the events can be at the top level. A
 * malformed part becomes a warning that names its key, and the rest is used. It never throws.
 *
 * @category decoding
 * @since 0.1.0
 */
export const decode = checked(
  "Factory.decode",
  ["text", "file", "options"],
  (text: string, file: string, options: HookConfig.ReadOptions = {}): HookConfig.HookConfig => {
    const settings = record(text)
    if (settings === undefined) return HookConfig.decode(text, file, options)
    const isBare = settings["hooks"] === undefined && events.some((event) => Object.hasOwn(settings, event))
    const { hooks, hooksDisabled } = isBare ? { hooks: settings, hooksDisabled: false } : settings
    const { env: _env, permissions: _permissions, ...config } = HookConfig.fromValue(
      { hooks: known(hooks) },
      file,
      options
    )
    const warnings: Array<Warning> = [...config.warnings, ...strange(hooks, file)]
    const handlers = config.handlers.flatMap((handler): ReadonlyArray<HookConfig.Handler> => {
      const { async: _async, once: _once, rewake: _rewake, rule: _rule, status: _status, ...rest } = handler
      if (rest.work.type === "command") return [{ ...rest, work: { type: "command", command: rest.work.command } }]
      warnings.push({ file, key: `${rest.key}.type`, reason: "expected \"command\", so this one never runs" })
      return []
    })
    return { ...config, handlers, warnings, disableAllHooks: hooksDisabled === true }
  }
)

const known = (hooks: unknown): unknown =>
  isFields(hooks)
    ? Object.fromEntries(Object.entries(hooks).filter(([event]) => (events as ReadonlyArray<string>).includes(event)))
    : hooks

/** Warns about events that Droid does not have. */
const strange = (hooks: unknown, file: string): ReadonlyArray<Warning> =>
  Object.keys(isFields(hooks) ? hooks : {}).flatMap((event) => {
    if ((events as ReadonlyArray<string>).includes(event)) return []
    const known = `events are ${events.join(", ")}`
    return [{ file, key: `hooks.${event.slice(0, 80)}`, reason: `unknown event; ${known}` }]
  })

/**
 * Makes a hook that runs the entries of Droid's files. It works like `ClaudeCode.make`, with these differences:
 *
 * - Tools have Droid's names, such as `Execute` and `Create`. Matchers also accept the names of Claude Code.
 * - An entry has 60 seconds unless it sets a timeout.
 * - Nothing blocks a compaction.
 *
 * Throws a `ConfigError` if a number is out of its range.
 *
 * @example
 * ```ts
 * import * as Factory from "@belay/hook-files/Factory"
 *
 * const text =
 *   `{ "hooks": { "PreToolUse": [
 *     { "matcher": "Execute", "hooks": [{ "type": "command", "command": "./guard.sh" }] }
 *   ] } }`
 * const { handlers } = Factory.decode(text, ".factory/settings.json")
 * const hook = Factory.make({ handlers, projectDir: "/srv/app" })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): AgentHook =>
  makeFor({ name: "factory-hooks", ...options, toolNames: translated(options?.toolNames ?? {}) }, factory, "factory")
