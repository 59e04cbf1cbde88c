/**
 * Stops commands that destroy data, such as `rm -rf`, `git push --force` or `DROP TABLE`.
 *
 * @since 0.1.0
 */
import type { ConfigError } from "@belay/core/AgentError"
import type { AgentHook } from "@belay/core/AgentHook"
import type { Json } from "@belay/core/Json"
import { checkOptions, oneOf } from "@belay/core/OptionCheck"
import * as Result from "effect/Result"
import * as HookDefaults from "../HookDefaults.ts"
import * as Condition from "./Condition.ts"
import { operationsOf } from "./internal/callOperations.ts"
import { type Destruction, destructionTexts, findDestructions } from "./internal/destruction/destructive.ts"
import { findInScripts } from "./internal/destruction/scriptFiles.ts"
import { destructiveStatement, sqlFilesOf } from "./internal/destruction/sql.ts"
import { decompose, type Decomposed } from "./internal/shell/decompose.ts"
import { callOf, guardSetting, rejectOrAsk, type ToolReadingOptions } from "./internal/toolGuard.ts"

export type { Destruction } from "./internal/destruction/destructive.ts"

/** Options of `DestructiveCommands.make`. @category models @since 0.1.0 */
export interface Options extends HookDefaults.HookDefaults, ToolReadingOptions {
  /** Kinds of destruction that are allowed. Default none. */
  readonly except?: ReadonlyArray<Destruction>
  /** More commands to stop, written as between the parentheses of `Bash(…)`: `fly deploy *`. Default none. */
  readonly patterns?: ReadonlyArray<string>
  /** Whether a destructive call is rejected, or a person is asked about it. Default `reject`. */
  readonly onMatch?: "reject" | "ask"
  /**
   * What happens to a line whose commands cannot be known, because the name of a program is in a variable, or the line
   * runs code in another language, or a script from a file or the network. Default: the value of `onMatch`.
   */
  readonly onUnknown?: "reject" | "ask" | "allow"
  /** Text for the model that follows the reason of a rejection or a question. Default none. */
  readonly advice?: string
}

/** Every known kind of destruction, with its description. @category reading @since 0.1.0 */
export const kinds: { readonly [K in Destruction]: string } = destructionTexts

const optionKinds: HookDefaults.OwnKinds<Options> = {
  except: "list",
  patterns: "textList",
  onMatch: "text",
  onUnknown: "text",
  advice: "text",
  home: "text",
  ignoreCase: "flag",
  kinds: "any",
  realpath: "function"
}

/**
 * Stops tool calls whose shell line contains a destructive command, also behind wrappers, in substitutions and in
 * nested scripts. It also stops SQL statements that delete tables or rows. Throws a `ConfigError` for an unknown kind
 * or an invalid pattern.
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
  HookDefaults.checkKinds("destructive-commands", options, optionKinds)
  const name = options.name ?? "destructive-commands"
  const rules = Result.getOrThrow(compileRules(options, name))
  const { advice, except = [], onMatch = "reject", onUnknown = onMatch } = options
  const reason = (tool: string, problem: string) =>
    `${tool} is stopped: ${problem}${advice === undefined ? "" : `. ${advice}`}`
  return HookDefaults.apply(options, {
    name,
    priority: 2,
    kind: "policy",
    reinvoke: "ifChanged",
    preToolCall: (event, ctx) => {
      const call = callOf(event)
      const found = findProblem(call, {
        except,
        rules,
        kinds: options.kinds,
        setting: () => guardSetting(options, ctx)
      })
      if (found.destructive !== undefined) return rejectOrAsk(onMatch, reason(event.name, found.destructive))
      if (found.unknown === undefined || onUnknown === "allow") return undefined
      const unknown = `its commands cannot be known: ${found.unknown}. Write the command in full`
      return rejectOrAsk(onUnknown, reason(event.name, unknown))
    }
  })
}

/** The problem of a call: it is destructive, or its commands cannot be known. */
interface Problem {
  readonly destructive?: string
  readonly unknown?: string | undefined
}

const findProblem = (
  call: Condition.Call,
  { except, kinds: toolKinds, rules, setting }: {
    readonly except: ReadonlyArray<Destruction>
    readonly rules: ReadonlyArray<Condition.Rule>
    readonly kinds: Options["kinds"]
    /** Only rules and scripts need it. */
    readonly setting: () => Condition.Setting
  }
): Problem => {
  const statement = except.includes("sql-drop") ? undefined : sqlStatementIn(call.args)
  if (statement !== undefined) return { destructive: `\`${statement}\` ${kinds["sql-drop"]}` }
  let unknown: string | undefined
  for (const { kind, value } of operationsOf(call, toolKinds)) {
    if (kind !== "shell") continue
    if (value === undefined) {
      unknown ??= "its command cannot be read"
      continue
    }
    const line = decompose(value)
    const scripts = runsScripts(line) ? findInScripts(line, setting()) : undefined
    const found = [...findDestructions(line, value), ...(scripts?.found ?? [])]
      .find(([destruction]) => !except.includes(destruction))
    if (found !== undefined) return { destructive: `\`${found[1]}\` ${kinds[found[0]]}` }
    unknown ??= line.unknown ?? scripts?.unknown
  }
  if (rules.length === 0) return { unknown }
  const place = setting()
  for (const rule of rules) {
    const verdict = Condition.evaluate(rule, call, place)
    if (verdict === "match") return { destructive: `${rule.spec ?? "every command"} must not be run` }
    if (verdict === "unknown") unknown ??= `it might run ${rule.spec ?? "anything"}`
  }
  return { unknown }
}

const runsScripts = (line: Decomposed): boolean => line.scripts.length > 0 || sqlFilesOf(line).length > 0

/** The first destructive SQL statement among the arguments that contain SQL. */
const sqlStatementIn = (args: Json): string | undefined => {
  if (typeof args !== "object" || args === null) return undefined
  for (const [key, value] of Object.entries(args)) {
    if (!/^(?:sql|query|queries|statement|statements)$/i.test(key)) continue
    for (const text of Array.isArray(value) ? value : [value]) {
      const statement = typeof text === "string" ? destructiveStatement(text) : undefined
      if (statement !== undefined) return statement
    }
  }
  return undefined
}

const compileRules = (
  { except = [], onMatch, onUnknown, patterns = [] }: Options,
  name: string
): Result.Result<ReadonlyArray<Condition.Rule>, ConfigError> =>
  Result.gen(function*() {
    yield* checkOptions(
      name,
      oneOf("onMatch", onMatch, ["reject", "ask"]),
      oneOf("onUnknown", onUnknown, ["reject", "ask", "allow"])
    )
    yield* checkOptions(name, ...except.map((kind) => oneOf("except", kind, Object.keys(kinds))))
    return yield* Condition.parseAll(patterns.map((pattern) => `Bash(${pattern})`), `${name}.patterns`)
  })
