/**
 * Decides by rules which tool calls run, which are asked about and which are refused.
 *
 * @since 0.1.0
 */
import { ConfigError } from "@belay/core/AgentError"
import type { AgentHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import type { ActionAt } from "@belay/core/HookPoint"
import type { PreToolCallEvent } from "@belay/core/Tool"
import * as Result from "effect/Result"
import * as HookDefaults from "../HookDefaults.ts"
import * as Condition from "./Condition.ts"
import { callOf, type Reading, settingOf } from "./internal/setting.ts"

/**
 * What happens to calls that rules leave open. `default`: as `otherwise` says. `acceptEdits`: calls that read and write
 * files below the
 * working folder run. `plan`: only what changes nothing runs, whatever is allowed. `dontAsk`: what would be asked about
 * is refused.
 *
 * @category models
 * @since 0.1.0
 */
export type Mode = "default" | "acceptEdits" | "plan" | "dontAsk"

/**
 * Rules of one source. Of two rules about a call, deny goes before ask, and ask before allow, whatever their sources.
 *
 * @category models
 * @since 0.1.0
 */
export interface Rules {
  readonly allow?: ReadonlyArray<string>
  readonly ask?: ReadonlyArray<string>
  readonly deny?: ReadonlyArray<string>
  /** Who wrote them, for the reasons. Default `the agent`. */
  readonly source?: string
  /**
   * The folder that a rule such as `Edit(/docs/**)` starts at, relative to the working folder. Default the working
   * folder.
   */
  readonly folder?: string
}

/** @category models @since 0.1.0 */
export interface Options extends HookDefaults.HookDefaults, Rules, Reading {
  /** Rules of further sources, such as the project's and the user's. */
  readonly sources?: ReadonlyArray<Rules>
  /** Default `default`. A function is asked before every call; when it breaks, the call is refused. */
  readonly permissionMode?: Mode | ((ctx: HookContext) => Mode)
  /**
   * What happens to calls that no rule and no mode decides. Default: `allow` for tools that change nothing, `ask` for
   * the others.
   */
  readonly otherwise?: "allow" | "ask" | "deny"
}

/**
 * Decides every tool call by rules: `Tool` or `Tool(spec)`, or the capabilities `read`, `write`, `exec` and `network`,
 * which hold for a
 * line of shell as well. Deny and ask rules also hold for calls that cannot be read; allow rules must cover everything
 * that a call does.
 * Throws a `ConfigError` for a rule that is none.
 *
 * @example
 * ```ts
 * import * as PermissionRules from "@belay/hooks/PermissionRules"
 *
 * const rules = PermissionRules.make({
 *   deny: ["Bash(git push *)", "write(/etc/**)", "read(.env*)"],
 *   ask: ["network"],
 *   allow: ["Bash(npm test *)", "Edit(src/**)", "mcp__docs"],
 *   permissionMode: "acceptEdits"
 * })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options = {}): AgentHook => {
  const name = options.name ?? "permission-rules"
  const { otherwise, sets } = Result.getOrThrow(check(options, name))
  const allowed = sets.flatMap(({ allow }) => allow)
  const modeOf = (ctx: HookContext): Mode => {
    const { permissionMode: mode = "default" } = options
    return typeof mode === "function" ? mode(ctx) : mode
  }
  return HookDefaults.apply(options, {
    name,
    priority: 3,
    kind: "policy",
    reinvoke: "ifChanged",
    preToolCall: (event, ctx) => {
      const mode = modeOf(ctx)
      if (!modes.includes(mode)) {
        return HookAction.reject(
          `${event.name} is refused: its mode ${JSON.stringify(mode)} is none of ${modes.join(", ")}`
        )
      }
      const call = callOf(event)
      const setting = settingOf(options, ctx)
      const first = (list: "ask" | "deny"): readonly [Condition.Verdict, Condition.Rule, string] | undefined => {
        for (const set of sets) {
          for (const rule of set[list]) {
            const verdict = Condition.evaluate(rule, call, setting)
            if (verdict !== "no-match") return [verdict, rule, set.source]
          }
        }
        return undefined
      }
      const denied = first("deny")
      if (denied !== undefined) return HookAction.reject(`${event.name} is denied by ${told(denied)}`)
      const asked = first("ask")
      if (mode === "plan" && !changesNothing(event, setting)) {
        return HookAction.reject(`${event.name} is refused while planning: only what changes nothing runs`)
      }
      if (asked !== undefined) return ask(event, mode, `asked for by ${told(asked)}`)
      if (Condition.covers(allowed, call, setting)) return undefined
      if (mode === "plan" || (mode === "acceptEdits" && Condition.covers(edits, call, setting))) return undefined
      const open = otherwise ?? (event.tool.readOnly === true ? "allow" : "ask")
      if (open === "allow") return undefined
      return open === "deny"
        ? HookAction.reject(`${event.name} is denied: no rule allows it`)
        : ask(event, mode, "not decided by any rule")
    }
  })
}

const modes: ReadonlyArray<string> = ["default", "acceptEdits", "plan", "dontAsk"]

const ask = (event: PreToolCallEvent, mode: Mode, why: string): ActionAt<"preToolCall"> =>
  mode === "dontAsk"
    ? HookAction.reject(`${event.name} is refused: it is ${why}, and nobody may be asked`)
    : HookAction.ask(`${event.name} is ${why}`, {
      description: event.tool.description,
      destructive: event.tool.destructive ?? false
    })

const told = ([verdict, rule, source]: readonly [Condition.Verdict, Condition.Rule, string]): string =>
  `the rule ${rule.text} of ${source}${
    verdict === "unknown"
      ? ": it cannot be told that it is about something else. Say it plainly, without variables, substitutions or wrappers"
      : ""
  }`

/** Files below the working folder. */
const edits = Result.getOrThrow(Condition.parseAll(["Read(./**)", "Edit(./**)"], "edits"))

/** Programs that only show. None of them can be told to write or run something without a redirection. */
const views = Result.getOrThrow(
  Condition.parseAll(
    "ls cat head tail wc grep cut nl pwd echo stat du df which realpath basename dirname".split(" ").map((name) =>
      `Bash(${name} *)`
    )
      .concat("Bash(git status *)", "read"),
    "views"
  )
)

const changes = Result.getOrThrow(Condition.parseAll(["write", "network"], "changes"))

const changesNothing = (event: PreToolCallEvent, setting: Condition.Setting): boolean => {
  if (event.tool.readOnly === true) return true
  const call = callOf(event)
  return Condition.covers(views, call, setting) &&
    changes.every((rule) => Condition.evaluate(rule, call, setting) === "no-match")
}

interface Compiled {
  readonly allow: ReadonlyArray<Condition.Rule>
  readonly ask: ReadonlyArray<Condition.Rule>
  readonly deny: ReadonlyArray<Condition.Rule>
  readonly source: string
}

const check = (
  options: Options,
  name: string
): Result.Result<{ readonly sets: ReadonlyArray<Compiled>; readonly otherwise: Options["otherwise"] }, ConfigError> => {
  const { otherwise, permissionMode: mode = "default" } = options
  const refuse = (key: string, expected: string, found: unknown) =>
    Result.fail(
      new ConfigError({
        key: `${name}.${key}`,
        message: `${name}.${key}: expected ${expected}, found ${String(found)}`
      })
    )
  if (typeof mode !== "function" && !modes.includes(mode)) {
    return refuse("permissionMode", `one of ${modes.join(", ")}`, mode)
  }
  if (otherwise !== undefined && !["allow", "ask", "deny"].includes(otherwise)) {
    return refuse("otherwise", "allow, ask or deny", otherwise)
  }
  const sets: ReadonlyArray<readonly [Rules, string]> = [
    [options, name],
    ...(options.sources ?? []).map((rules, index) => [rules, `${name}.sources[${index}]`] as const)
  ]
  return Result.map(Result.all(sets.map(([rules, key]) => compiled(rules, key))), (all) => ({ sets: all, otherwise }))
}

const compiled = (
  { allow = [], ask: asks = [], deny = [], folder, source = "the agent" }: Rules,
  key: string
): Result.Result<Compiled, ConfigError> =>
  Result.map(
    Result.all({
      allow: Condition.parseAll(allow, `${key}.allow`, folder),
      ask: Condition.parseAll(asks, `${key}.ask`, folder),
      deny: Condition.parseAll(deny, `${key}.deny`, folder)
    }),
    (lists) => ({ ...lists, source })
  )
