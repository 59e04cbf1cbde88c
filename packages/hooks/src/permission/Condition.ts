/**
 * Rules about tool calls, such as `Bash(git push *)` or `write(/etc/**)`. Permissions, guards and conditions use them.
 *
 * @since 0.1.0
 */
import type { ConfigError } from "@belay/core/AgentError"
import { checked } from "@belay/core/ArgumentCheck"
import type { Json } from "@belay/core/Json"
import * as Result from "effect/Result"
import { resolve } from "node:path"
import { type Call, type CallOperation, type Kinds, operationsOf, ownValue } from "./internal/callOperations.ts"
import { runsCommand, runsOnlyCommands } from "./internal/commandGlob.ts"
import { accessesFile, type FileQuery, type Verdict } from "./internal/fileAccess.ts"
import { type Place, spellings } from "./internal/pathSpellings.ts"
import { parseRule, type Rule, wellKnownTools } from "./internal/rule.ts"
import { shellScriptsOf } from "./internal/scriptTexts.ts"
import { type Command, decompose } from "./internal/shell/decompose.ts"
import { network } from "./internal/syntax/programs.ts"

export type { Call, Kind, Kinds, ToolKind } from "./internal/callOperations.ts"
export type { Verdict } from "./internal/fileAccess.ts"
export type { Place } from "./internal/pathSpellings.ts"
export type { Rule } from "./internal/rule.ts"

/** The folders of a call, and what the tools of the agent do. @category models @since 0.1.0 */
export interface Setting extends Place {
  /** What the agent's tools do. Default: a guess from their names and arguments. */
  readonly kinds?: Kinds
  /**
   * `guard` reads path rules in the widest sense: `src/**` also matches below other folders, and `dir/**` also matches
   * the folder itself. `advice` reads them literally. For `advice`, a rule with arguments may match every command line
   * with a variable or a substitution; for `guard`, only a line that may run the program of the rule. Default `advice`.
   */
  readonly use?: "guard" | "advice"
  /**
   * Whether a rule with a path, such as `Read(.env)`, also applies to the files that shell commands name. Default
   * false: only `read(…)` and `write(…)` do.
   */
  readonly filesOfCommands?: boolean
}

/**
 * Compiles a rule. Fails with a `ConfigError` that says what is wrong with the rule and names the option `key`.
 *
 * @example
 * ```ts
 * import * as Condition from "@belay/hooks/Condition"
 * import * as Result from "effect/Result"
 *
 * const rule = Result.getOrThrow(Condition.parse("Bash(git push *)"))
 * const at = { cwd: "/srv/project", home: "/srv" }
 * Condition.evaluate(rule, { tool: "run_command", args: { command: "ls && git -C x push" } }, at) // "match"
 * Condition.evaluate(rule, { tool: "run_command", args: { command: "git status" } }, at) // "no-match"
 * Condition.evaluate(rule, { tool: "run_command", args: { command: "$TOOL push" } }, at) // "unknown"
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const parse = (rule: string, key = "rule"): Result.Result<Rule, ConfigError> => parseRule(rule, key)

/**
 * Compiles a list of rules. Fails with a `ConfigError` for the first rule that is not valid. `folder` is the folder
 * that a pattern such as `/docs/**` starts at, relative to the working folder.
 *
 * @category constructors
 * @since 0.1.0
 */
export const parseAll = checked("Condition.parseAll", ["rules", "key", "folder"], (
  rules: ReadonlyArray<string>,
  key: string,
  folder?: string
): Result.Result<ReadonlyArray<Rule>, ConfigError> =>
  Result.all(rules.map((rule, index) => parseRule(rule, `${key}[${index}]`, folder))))

/**
 * Returns whether a call does what a rule describes; it may do other things as well. A guard treats `unknown` like
 * `match`.
 *
 * @category evaluation
 * @since 0.1.0
 */
export const evaluate = checked(
  "Condition.evaluate",
  ["rule", "call", "setting"],
  (rule: Rule, call: Call, setting: Setting): Verdict => {
    const operations = operationsOf(call, setting.kinds)
    if (rule.compiled.capability !== undefined) {
      return strongest(operations.map((operation) => evaluateCapability(rule, operation, setting)))
    }
    const inCommands = setting.filesOfCommands === true
      ? operations.map((operation) => evaluateCommandFiles(rule, operation, setting))
      : []
    if (!isForTool(rule, call, operations)) return strongest(inCommands)
    if (rule.spec === undefined) return "match"
    return strongest([
      ...inCommands,
      ...evaluateParameter(rule, call, operations),
      ...operations.map((operation) => evaluateOperation(rule, operation, setting)),
      ...evaluateTexts(rule, call, operations)
    ])
  }
)

/**
 * Returns whether rules cover everything that a call does: every command of a line, and every file by each of its
 * names. Only such a call may be allowed. A call that cannot be read is never covered. A command that runs another
 * command is covered only by a rule without `*` that matches it exactly.
 *
 * @category evaluation
 * @since 0.1.0
 */
export const covers = checked(
  "Condition.covers",
  ["rules", "call", "setting"],
  (rules: ReadonlyArray<Rule>, call: Call, setting: Setting): boolean => {
    const operations = operationsOf(call, setting.kinds)
    const applicable = rules.filter((rule) =>
      rule.compiled.capability === undefined
        ? isForTool(rule, call, operations)
        : operations.some(({ kind }) => rule.compiled.kinds.has(kind))
    )
    const allowsTool = applicable.some(({ compiled, spec }) => compiled.capability === undefined && spec === undefined)
    if (allowsTool) return true
    if (operations.length === 0) {
      return applicable.some((rule) =>
        strongest([...evaluateParameter(rule, call, operations), ...evaluateTexts(rule, call, operations)]) === "match"
      )
    }
    const strict: Setting = { ...setting, ignoreCase: false }
    const writeRules = rules.filter(({ compiled, spec }) => compiled.capability === "write" && spec !== undefined)
    const isWritable = (path: string): boolean =>
      /^\/dev\/(?:null|stdout|stderr)$/.test(path) || coversPath(writeRules, path, strict)
    return operations.every((operation) => coversOperation(applicable, operation, strict, isWritable))
  }
)

const coversOperation = (
  rules: ReadonlyArray<Rule>,
  operation: CallOperation,
  setting: Setting,
  isWritable: (path: string) => boolean
): boolean => {
  const { kind, value } = operation
  if (rules.some(({ compiled, spec }) => spec === undefined && compiled.kinds.has(kind))) return true
  if (value === undefined) return false
  const applicable = rules.filter(({ compiled: { kinds } }) => kinds.size === 0 || kinds.has(kind))
  if (kind === "shell") return runsOnlyCommands(value, applicable.map(({ compiled }) => compiled.command), isWritable)
  if (kind === "read" || kind === "write") return coversPath(applicable, value, setting)
  return applicable.some((rule) => evaluateOperation(rule, operation, setting) === "match")
}

const coversPath = (rules: ReadonlyArray<Rule>, path: string, place: Place): boolean =>
  spellings(path, place)?.every((spelling) =>
    rules.some((rule) => rule.compiled.path.test(spelling, placeOf(rule, place), "anchored"))
  ) ?? false

/** The place at which the paths of a rule start. */
const placeOf = <P extends Place>({ folder }: Rule, place: P): P =>
  folder === undefined ? place : { ...place, source: resolve(place.cwd, folder) }

/** Whether a rule applies to the tool of a call: by the name of the tool, or by what it does. */
const isForTool = ({ compiled, tool }: Rule, call: Call, operations: ReadonlyArray<CallOperation>): boolean =>
  compiled.matchesTool(call.tool) || call.tool === tool ||
  (operations.some(({ kind }) => compiled.kinds.has(kind)) &&
    (!wellKnownTools.has(call.tool) || compiled.kinds.has("shell")))

const evaluateOperation = (rule: Rule, { kind, value }: CallOperation, setting: Setting): Verdict => {
  const { compiled, spec } = rule
  if (compiled.kinds.size > 0 && !compiled.kinds.has(kind)) return "no-match"
  if (value === undefined) return "unknown"
  if (spec === undefined) return "match"
  if (kind === "shell") {
    return setting.use === "guard"
      ? runsCommand(value, compiled.command, "guard", (line) => shellScriptsOf(line, setting))
      : runsCommand(value, compiled.command)
  }
  if (kind === "read" || kind === "write") return evaluatePath(rule, value, setting)
  return kind === "fetch" && compiled.domain !== undefined
    ? evaluateDomain(compiled.domain, value)
    : verdictOf(compiled.text(value))
}

const verdictOf = (matches: boolean): Verdict => matches ? "match" : "no-match"

const evaluatePath = (rule: Rule, path: string, setting: Setting): Verdict => {
  const all = spellings(path, setting)
  if (all === undefined) return "unknown"
  const reach = setting.use === "guard" ? "anywhere" : "anchored"
  return verdictOf(all.some((spelling) => rule.compiled.path.test(spelling, placeOf(rule, setting), reach)))
}

const evaluateDomain = (domain: (host: string) => boolean, url: string): Verdict => {
  const isHost = !url.includes("://") && /^[\w.-]+(?::\d+)?(?:[/?#]|$)/.test(url)
  const written = isHost ? `http://${url}` : url
  if (!URL.canParse(written)) return "unknown"
  return verdictOf(domain(new URL(written).hostname.toLowerCase().replace(/\.$/, "")))
}

/** A rule of the form `Tool(key:value)` is about the call's parameter of that name. */
const evaluateParameter = (
  { compiled: { param } }: Rule,
  call: Call,
  operations: ReadonlyArray<CallOperation>
): ReadonlyArray<Verdict> => {
  if (param === undefined) return []
  const value: Json | undefined = ownValue(call.args, param.key)
  if (value === undefined || (typeof value === "object" && value !== null)) return []
  const isCommand = operations.some((operation) => operation.kind === "shell" && operation.value === value)
  return [isCommand ? runsCommand(String(value), param.command) : verdictOf(param.matches(String(value)))]
}

/** If nothing is known about a tool, a rule is compared with every text in its arguments. */
const evaluateTexts = (
  { compiled }: Rule,
  { args }: Call,
  operations: ReadonlyArray<CallOperation>
): ReadonlyArray<Verdict> =>
  operations.length > 0 || typeof args !== "object" || args === null
    ? []
    : Object.values(args).map((value) => verdictOf(typeof value === "string" && compiled.text(value)))

/** A capability holds for every tool that has it, and for the commands of a shell line. */
const evaluateCapability = (rule: Rule, operation: CallOperation, setting: Setting): Verdict => {
  const { compiled: { capability, kinds, path }, spec } = rule
  if (kinds.has(operation.kind)) return evaluateOperation(rule, operation, setting)
  if (operation.kind !== "shell" || capability === "exec") return "no-match"
  if (operation.value === undefined) return "unknown"
  const line = decompose(operation.value)
  if (capability === "network") return evaluateNetwork(rule, line)
  const access = capability === "write" ? "write" : "read"
  return accessesFile(line, { access, glob: spec === undefined ? anyPath : path }, setting)
}

/** A rule with a path holds for the files that known programs of a shell line read or write. */
const evaluateCommandFiles = (rule: Rule, { kind, value }: CallOperation, setting: Setting): Verdict => {
  const { compiled: { kinds, path }, spec } = rule
  const access = kinds.has("write") ? "write" : kinds.has("read") ? "read" : undefined
  if (kind !== "shell" || value === undefined || access === undefined || spec === undefined) return "no-match"
  const query: FileQuery = { access, glob: path, onlyKnownPrograms: true }
  return accessesFile(decompose(value), query, placeOf(rule, setting))
}

const evaluateNetwork = (
  { compiled: { domain }, spec }: Rule,
  { commands, dynamic, unknown }: ReturnType<typeof decompose>
): Verdict => {
  const clients = commands.filter(({ name, via }) => network.has(name) && via !== "guess")
  if (clients.length === 0) return unknown === undefined ? "no-match" : "unknown"
  if (spec === undefined) return "match"
  if (domain === undefined || dynamic) return "unknown"
  return strongest(clients.flatMap(hostsOf).map((host) => evaluateDomain(domain, host)))
}

/** The arguments of a command that may be hosts or URLs, without the user name and the path of `user@host:path`. */
const hostsOf = ({ words }: Command): ReadonlyArray<string> =>
  words.slice(1)
    .filter(({ text }) => /[.:]/.test(text) && !text.startsWith("-"))
    .map(({ text }) => text.replace(/^[\w.-]+@([\w.-]+)(?::.*)?$/, "$1"))

const anyPath: FileQuery["glob"] = { test: () => true, below: () => true, intersects: () => true }

const strongest = (verdicts: ReadonlyArray<Verdict>): Verdict => {
  if (verdicts.includes("match")) return "match"
  return verdicts.includes("unknown") ? "unknown" : "no-match"
}
