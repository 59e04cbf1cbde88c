/**
 * Decides by rules which tool calls run, which need approval, and which are rejected.
 *
 * @since 0.1.0
 */
import type { ConfigError } from "@belay/core/AgentError"
import type { AgentHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import type { ActionAt } from "@belay/core/HookPoint"
import { checkOptions, oneOf, optionsIn } from "@belay/core/OptionCheck"
import type { PreToolCallEvent } from "@belay/core/Tool"
import * as Result from "effect/Result"
import * as HookDefaults from "../HookDefaults.ts"
import { atFirstUse } from "../internal/atFirstUse.ts"
import * as Condition from "./Condition.ts"
import { withPathCache } from "./internal/pathSpellings.ts"
import { callOf, guardSetting, type ToolReadingOptions } from "./internal/toolGuard.ts"

/**
 * What happens to calls that no rule decides:
 *
 * - `default`: what `otherwise` says.
 * - `acceptEdits`: calls that only read or write files below the working folder run; for others as `default`.
 * - `plan`: only calls that change nothing run, even if a rule allows others.
 * - `dontAsk`: calls that a person would be asked about are rejected.
 *
 * @category models
 * @since 0.1.0
 */
export type Mode = "default" | "acceptEdits" | "plan" | "dontAsk"

/**
 * Rules from one source. When several rules match a call, deny takes precedence over ask, and ask over allow, whichever
 * sources they come from.
 *
 * @category models
 * @since 0.1.0
 */
export interface Rules {
  /** Calls that run. They must cover everything that a call does. Default none. */
  readonly allow?: ReadonlyArray<string>
  /** Calls that need the approval of a person. Default none. */
  readonly ask?: ReadonlyArray<string>
  /** Calls that are rejected. Default none. */
  readonly deny?: ReadonlyArray<string>
  /** Who wrote the rules, for the reasons of rejections and questions. Default `the agent`. */
  readonly source?: string
  /**
   * The folder that a pattern such as `Edit(/docs/**)` starts at, relative to the working folder. Default the working
   * folder.
   */
  readonly folder?: string
}

/** Options of `PermissionRules.make`. @category models @since 0.1.0 */
export interface Options extends HookDefaults.HookDefaults, Rules, ToolReadingOptions {
  /** Rules from more sources, such as the project and the user. Default none. */
  readonly sources?: ReadonlyArray<Rules>
  /**
   * The mode, or a function that returns it before every call. When the function throws, the call is rejected. Default
   * `default`.
   */
  readonly permissionMode?: Mode | ((ctx: HookContext) => Mode)
  /**
   * What happens to calls that neither a rule nor the mode decides. Default: `allow` for tools that are read-only,
   * `ask` for the others.
   */
  readonly otherwise?: "allow" | "ask" | "deny"
  /**
   * What happens to a call that a deny rule may match, because the call cannot be read: a script that a command runs,
   * or a program whose name is in a variable. Default `deny`.
   */
  readonly unreadable?: "ask" | "deny"
}

const optionKinds: HookDefaults.OwnKinds<Options> = {
  sources: optionsIn<Rules>("list", {
    allow: "list",
    ask: "list",
    deny: "list",
    source: "text",
    folder: "text"
  }),
  permissionMode: "any",
  otherwise: "text",
  unreadable: "text",
  allow: "textList",
  ask: "textList",
  deny: "textList",
  source: "text",
  folder: "text",
  home: "text",
  ignoreCase: "flag",
  kinds: "any",
  realpath: "function"
}

/**
 * Decides every tool call by rules: `Tool`, `Tool(spec)`, or one of the capabilities `read`, `write`, `exec` and
 * `network`, which also hold for the commands of a shell line. Deny and ask rules also apply to calls that cannot be
 * read; allow rules must cover everything that a call does. Throws a `ConfigError` for an invalid rule.
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
  HookDefaults.checkKinds("permission-rules", options, optionKinds)
  const name = options.name ?? "permission-rules"
  const sets = Result.getOrThrow(compileOptions(options, name))
  const allowRules = sets.flatMap(({ allow }) => allow)
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
        const problem = `the permission mode ${JSON.stringify(mode)} is not one of ${modes.join(", ")}`
        return HookAction.reject(`${event.name} is rejected: ${problem}`)
      }
      const call = callOf(event)
      const setting = guardSetting(options, ctx)
      const denyMatch = firstMatch(sets, "deny", call, withPathCache({ ...setting, filesOfCommands: true }))
      const isDenied = denyMatch?.verdict === "match" || options.unreadable !== "ask"
      if (denyMatch !== undefined && isDenied) {
        return HookAction.reject(`${event.name} is denied by ${describe(denyMatch)}`)
      }
      const askMatch = denyMatch ?? firstMatch(sets, "ask", call, setting)
      if (mode === "plan" && !changesNothing(event, setting)) {
        return HookAction.reject(`${event.name} is rejected in plan mode: only calls that change nothing may run`)
      }
      if (askMatch !== undefined) return ask(event, mode, `by ${describe(askMatch)}`)
      if (Condition.covers(allowRules, call, setting)) return undefined
      if (mode === "plan" || (mode === "acceptEdits" && Condition.covers(edits(), call, setting))) return undefined
      const otherwise = options.otherwise ?? (event.tool.readOnly === true ? "allow" : "ask")
      if (otherwise === "allow") return undefined
      return otherwise === "deny"
        ? HookAction.reject(`${event.name} is denied: no rule allows it`)
        : ask(event, mode, "because no rule decides it")
    }
  })
}

const modes: ReadonlyArray<string> = ["default", "acceptEdits", "plan", "dontAsk"]

const ask = (event: PreToolCallEvent, mode: Mode, why: string): ActionAt<"preToolCall"> =>
  mode === "dontAsk"
    ? HookAction.reject(`${event.name} is rejected: it needs approval ${why}, and the mode dontAsk does not ask`)
    : HookAction.ask(`${event.name} needs approval ${why}`, {
      description: event.tool.description,
      destructive: event.tool.destructive ?? false
    })

/** A rule that matches a call, or possibly matches it. */
interface RuleMatch {
  readonly verdict: Condition.Verdict
  readonly rule: Condition.Rule
  readonly source: string
}

const firstMatch = (
  sets: ReadonlyArray<RuleSet>,
  list: "ask" | "deny",
  call: Condition.Call,
  setting: Condition.Setting
): RuleMatch | undefined => {
  let unreadable: RuleMatch | undefined
  for (const set of sets) {
    for (const rule of set[list]) {
      const verdict = Condition.evaluate(rule, call, setting)
      if (verdict === "match") return { verdict, rule, source: set.source }
      if (verdict === "unknown") unreadable ??= { verdict, rule, source: set.source }
    }
  }
  return unreadable
}

const describe = ({ rule, source, verdict }: RuleMatch): string => {
  const text = `the rule ${rule.text} of ${source}`
  if (verdict === "match") return text
  return `${text}, which may apply. Write the call without variables, substitutions or wrappers, so that it can ` +
    "be checked"
}

/** Files below the working folder. */
const edits = atFirstUse(() => Result.getOrThrow(Condition.parseAll(["Read(./**)", "Edit(./**)"], "edits")))

const viewers = "ls cat head tail wc grep cut nl pwd echo stat du df which realpath basename dirname".split(" ")

/** Programs that only show something. None of them can write a file or run a command without a redirection. */
const views = atFirstUse(() =>
  Result.getOrThrow(
    Condition.parseAll([...viewers.map((name) => `Bash(${name} *)`), "Bash(git status *)", "read"], "views")
  )
)

const changes = atFirstUse(() => Result.getOrThrow(Condition.parseAll(["write", "network"], "changes")))

const changesNothing = (event: PreToolCallEvent, setting: Condition.Setting): boolean => {
  if (event.tool.readOnly === true) return true
  const call = callOf(event)
  return Condition.covers(views(), call, setting) &&
    changes().every((rule) => Condition.evaluate(rule, call, setting) === "no-match")
}

/** The compiled rules of one source. */
interface RuleSet {
  readonly allow: ReadonlyArray<Condition.Rule>
  readonly ask: ReadonlyArray<Condition.Rule>
  readonly deny: ReadonlyArray<Condition.Rule>
  readonly source: string
}

const compileOptions = (options: Options, name: string): Result.Result<ReadonlyArray<RuleSet>, ConfigError> => {
  const { otherwise, permissionMode, sources = [], unreadable } = options
  return Result.gen(function*() {
    yield* checkOptions(
      name,
      oneOf("permissionMode", typeof permissionMode === "function" ? undefined : permissionMode, modes),
      oneOf("otherwise", otherwise, ["allow", "ask", "deny"]),
      oneOf("unreadable", unreadable, ["ask", "deny"])
    )
    return yield* Result.all([
      compileRules(options, name),
      ...sources.map((rules, index) => compileRules(rules, `${name}.sources[${index}]`))
    ])
  })
}

const compileRules = (
  { allow = [], ask: askRules = [], deny = [], folder, source = "the agent" }: Rules,
  key: string
): Result.Result<RuleSet, ConfigError> =>
  Result.map(
    Result.all({
      allow: Condition.parseAll(allow, `${key}.allow`, folder),
      ask: Condition.parseAll(askRules, `${key}.ask`, folder),
      deny: Condition.parseAll(deny, `${key}.deny`, folder)
    }),
    (lists) => ({ ...lists, source })
  )
