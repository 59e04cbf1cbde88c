/**
 * Stops commands that destroy what is hard to get back.
 *
 * @since 0.1.0
 */
import { ConfigError } from "@belay/core/AgentError"
import type { AgentHook } from "@belay/core/AgentHook"
import type { Json } from "@belay/core/Json"
import * as Result from "effect/Result"
import * as HookDefaults from "../HookDefaults.ts"
import * as Condition from "./Condition.ts"
import { destroys, type Destruction, kinds as known, sql } from "./internal/destructive.ts"
import { factsOf } from "./internal/facts.ts"
import { callOf, type Reading, settingOf, stop } from "./internal/setting.ts"
import { decompose } from "./internal/shell.ts"

export type { Destruction } from "./internal/destructive.ts"

/** @category models @since 0.1.0 */
export interface Options extends HookDefaults.HookDefaults, Reading {
  /** Kinds of destruction that are let through. Default none. */
  readonly except?: ReadonlyArray<Destruction>
  /** Further commands to stop, as between the parentheses of `Bash(…)`: `fly deploy *`. */
  readonly patterns?: ReadonlyArray<string>
  /** Whether a call is refused, or a person is asked about it. Default `reject`. */
  readonly onMatch?: "reject" | "ask"
  /**
   * What happens to a line that hides what it runs: the name of a program in a variable, code of another language, a
   * script from elsewhere.
   * Default as `onMatch`.
   */
  readonly onUnknown?: "reject" | "ask" | "allow"
  /** Said after the reason, for the model. */
  readonly advice?: string
}

/** Every kind of destruction that is known, with what it means. @category reading @since 0.1.0 */
export const kinds: { readonly [K in Destruction]: string } = known

/**
 * Refuses lines of shell in which any command destroys: it is found behind wrappers, in substitutions, in scripts
 * inside of scripts. SQL
 * that drops is found in the tools that run SQL, too. Throws a `ConfigError` for an unknown kind or a bad pattern.
 *
 * @example
 * ```ts
 * import * as DestructiveCommands from "@belay/hooks/DestructiveCommands"
 *
 * const destructive = DestructiveCommands.make({
 *   except: ["delete-recursively"],
 *   patterns: ["fly deploy *"],
 *   onMatch: "ask"
 * })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options = {}): AgentHook => {
  const name = options.name ?? "destructive-commands"
  const rules = Result.getOrThrow(check(options, name))
  const { advice, except = [], onMatch = "reject", onUnknown = onMatch } = options
  const say = (tool: string, what: string) => `${tool} is stopped: ${what}${advice === undefined ? "" : `. ${advice}`}`
  return HookDefaults.apply(options, {
    name,
    priority: 2,
    kind: "policy",
    reinvoke: "ifChanged",
    preToolCall: (event, ctx) => {
      const call = callOf(event)
      const setting = settingOf(options, ctx)
      const statement = except.includes("sql-drop") ? undefined : statementIn(event.args)
      if (statement !== undefined) return stop(onMatch, say(event.name, `\`${statement}\` ${known["sql-drop"]}`))
      let unknown: string | undefined
      for (const { kind, value } of factsOf(call, setting.kinds)) {
        if (kind !== "shell") continue
        if (value === undefined) {
          unknown ??= "its command cannot be read"
          continue
        }
        const line = decompose(value)
        const found = destroys(line, value).find(([what]) => !except.includes(what))
        if (found !== undefined) return stop(onMatch, say(event.name, `\`${found[1]}\` ${known[found[0]]}`))
        unknown ??= line.unknown
      }
      for (const rule of rules) {
        const verdict = Condition.evaluate(rule, call, setting)
        if (verdict === "match") {
          return stop(onMatch, say(event.name, `${rule.spec ?? "every command"} is not to be run`))
        }
        if (verdict === "unknown") unknown ??= `it might run ${rule.spec ?? "anything"}`
      }
      return unknown === undefined || onUnknown === "allow"
        ? undefined
        : stop(onUnknown, say(event.name, `it cannot be told what it runs, ${unknown}. Say it plainly`))
    }
  })
}

/** A statement that drops, in an argument that is SQL. */
const statementIn = (args: Json): string | undefined => {
  if (typeof args !== "object" || args === null) return undefined
  for (const [key, value] of Object.entries(args)) {
    if (/^(?:sql|query|queries|statement|statements)$/i.test(key)) {
      const found = (Array.isArray(value) ? value : [value]).flatMap((one) =>
        typeof one === "string" ? sql.exec(one)?.[0] ?? [] : []
      )
      if (found[0] !== undefined) return found[0]
    }
  }
  return undefined
}

const check = (
  { except = [], onMatch = "reject", onUnknown = onMatch, patterns = [] }: Options,
  name: string
): Result.Result<ReadonlyArray<Condition.Rule>, ConfigError> => {
  const refuse = (key: string, expected: string, found: unknown) =>
    Result.fail(
      new ConfigError({
        key: `${name}.${key}`,
        message: `${name}.${key}: expected ${expected}, found ${String(found)}`
      })
    )
  const odd = except.find((kind) => !Object.hasOwn(known, kind))
  if (odd !== undefined) return refuse("except", `one of ${Object.keys(known).join(", ")}`, odd)
  if (onMatch !== "reject" && onMatch !== "ask") return refuse("onMatch", "reject or ask", onMatch)
  if (!["reject", "ask", "allow"].includes(onUnknown)) return refuse("onUnknown", "reject, ask or allow", onUnknown)
  return Condition.parseAll(patterns.map((pattern) => `Bash(${pattern})`), `${name}.patterns`)
}
