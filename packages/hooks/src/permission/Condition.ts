/**
 * Rules about tool calls, such as `Bash(git push *)` or `write(/etc/**)`: what permissions, guards and conditions are
 * written in.
 *
 * @since 0.1.0
 */
import type { ConfigError } from "@belay/core/AgentError"
import type { Json } from "@belay/core/Json"
import * as Result from "effect/Result"
import { resolve } from "node:path"
import { onlyRuns, runs } from "./internal/commands.ts"
import { type Call, type Fact, factsOf, type Kinds, own } from "./internal/facts.ts"
import { network } from "./internal/names.ts"
import { type Place, spellings } from "./internal/paths.ts"
import { parse as parsed, type Rule, wellKnown } from "./internal/rule.ts"
import { decompose } from "./internal/shell.ts"
import { touches, type Verdict } from "./internal/touched.ts"

export type { Call, Kind, Kinds, ToolKind } from "./internal/facts.ts"
export type { Place } from "./internal/paths.ts"
export type { Rule } from "./internal/rule.ts"
/** What a rule finds out: `unknown` when the call cannot be read well enough to tell. @category models @since 0.1.0 */
export type { Verdict } from "./internal/touched.ts"

/** Where a call is made, and what its tools do. @category models @since 0.1.0 */
export interface Setting extends Place {
  readonly kinds?: Kinds
  /**
   * A `guard` reads path rules as widely as they can be meant: `src/**` also matches below other folders, `dir/**` also
   * the folder
   * itself. `advice`, the default, reads them to the letter.
   */
  readonly use?: "guard" | "advice"
}

/**
 * Compiles a rule, or says what is wrong with it. `key` names the option it comes from.
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
export const parse = (rule: string, key = "rule"): Result.Result<Rule, ConfigError> => parsed(rule, key)

/**
 * Compiles rules, or says which is wrong and why. `folder` is the one that `/docs/**` starts at, relative to the
 * working folder.
 *
 * @category constructors
 * @since 0.1.0
 */
export const parseAll = (
  rules: ReadonlyArray<string>,
  key: string,
  folder?: string
): Result.Result<ReadonlyArray<Rule>, ConfigError> =>
  Result.all(rules.map((rule, index) => parsed(rule, `${key}[${index}]`, folder)))

/**
 * Whether a call does, among whatever else it does, what a rule is about. Whoever guards takes `unknown` for `match`.
 *
 * @category evaluation
 * @since 0.1.0
 */
export const evaluate = (rule: Rule, call: Call, setting: Setting): Verdict => {
  const facts = factsOf(call, setting.kinds)
  if (rule.compiled.capability !== undefined) return capable(rule, facts, setting)
  if (!isFor(rule, call, facts)) return "no-match"
  if (rule.spec === undefined) return "match"
  return worst([
    ...parameter(rule, call, facts),
    ...facts.map((fact) => judged(rule, fact, setting)),
    ...texts(rule, call, facts)
  ])
}

/**
 * Whether rules speak of everything that a call does, so that they may allow it: every command of a line, every file by
 * every name it
 * has. What cannot be read is never covered, nor is a command that runs another, unless a rule without `*` says it word
 * by word.
 *
 * @category evaluation
 * @since 0.1.0
 */
export const covers = (rules: ReadonlyArray<Rule>, call: Call, setting: Setting): boolean => {
  const facts = factsOf(call, setting.kinds)
  const fit = rules.filter((rule) =>
    rule.compiled.capability === undefined
      ? isFor(rule, call, facts)
      : facts.some(({ kind }) => rule.compiled.kinds.has(kind))
  )
  if (fit.some((rule) => rule.compiled.capability === undefined && rule.spec === undefined)) return true
  if (fit.length > 0 && facts.length === 0) {
    return fit.some((rule) => worst([...parameter(rule, call, facts), ...texts(rule, call, facts)]) === "match")
  }
  const strict: Setting = { ...setting, ignoreCase: false }
  const writable = (path: string): boolean =>
    /^\/dev\/(?:null|stdout|stderr)$/.test(path) ||
    everySpelling(
      rules.filter(({ compiled, spec }) => compiled.capability === "write" && spec !== undefined),
      path,
      strict
    )
  const whole = (fact: Fact) => fit.some(({ compiled, spec }) => spec === undefined && compiled.kinds.has(fact.kind))
  return facts.length > 0 && facts.every((fact) => {
    if (whole(fact)) return true
    const { kind, value } = fact
    if (value === undefined) return false
    const about = fit.filter(({ compiled }) => compiled.kinds.size === 0 || compiled.kinds.has(kind))
    if (kind === "shell") return onlyRuns(value, about.map(({ compiled }) => compiled.command), writable)
    if (kind === "read" || kind === "write") return everySpelling(about, value, strict)
    return about.some((rule) => judged(rule, fact, strict) === "match")
  })
}

const everySpelling = (rules: ReadonlyArray<Rule>, path: string, place: Place): boolean =>
  spellings(path, place)?.every((one) =>
    rules.some((rule) => rule.compiled.path.test(one, placeOf(rule, place), "anchored"))
  ) ?? false

/** Where the paths of a rule start. */
const placeOf = <P extends Place>({ folder }: Rule, place: P): P =>
  folder === undefined ? place : { ...place, source: resolve(place.cwd, folder) }

/** Whether a rule is for the call's tool: by name, or by what the tool does. */
const isFor = ({ compiled, tool }: Rule, call: Call, facts: ReadonlyArray<Fact>): boolean =>
  compiled.named(call.tool) || call.tool === tool ||
  (facts.some(({ kind }) => compiled.kinds.has(kind)) && (!wellKnown.has(call.tool) || compiled.kinds.has("shell")))

const judged = (rule: Rule, { kind, value }: Fact, setting: Setting): Verdict => {
  const { compiled, spec } = rule
  if (compiled.kinds.size > 0 && !compiled.kinds.has(kind)) return "no-match"
  if (value === undefined) return "unknown"
  if (spec === undefined) return "match"
  if (kind === "shell") return runs(value, compiled.command)
  if (kind === "read" || kind === "write") return file(rule, value, setting)
  if (kind === "fetch") {
    return compiled.domain === undefined
      ? said(compiled.text(value))
      : reaches(compiled.domain, value)
  }
  return said(compiled.text(value))
}

const said = (fits: boolean): Verdict => fits ? "match" : "no-match"

const file = (rule: Rule, path: string, setting: Setting): Verdict => {
  const all = spellings(path, setting)
  if (all === undefined) return "unknown"
  return said(
    all.some((one) =>
      rule.compiled.path.test(one, placeOf(rule, setting), setting.use === "guard" ? "anywhere" : "anchored")
    )
  )
}

const reaches = (domain: (host: string) => boolean, url: string): Verdict => {
  const written = url.includes("://") || !/^[\w.-]+(?::\d+)?(?:[/?#]|$)/.test(url) ? url : `http://${url}`
  return URL.canParse(written) ? said(domain(new URL(written).hostname.toLowerCase().replace(/\.$/, ""))) : "unknown"
}

/** `key:value`: a parameter of the call, by its own name. */
const parameter = ({ compiled: { param } }: Rule, call: Call, facts: ReadonlyArray<Fact>): ReadonlyArray<Verdict> => {
  if (param === undefined) return []
  const value: Json | undefined = own(call.args, param.key)
  if (value === undefined || (typeof value === "object" && value !== null)) return []
  const line = facts.find((fact) => fact.kind === "shell" && fact.value === value)
  return [line === undefined ? said(param.fits(String(value))) : runs(String(value), param.command)]
}

/** Tools about which nothing is known: any of their texts. */
const texts = ({ compiled }: Rule, { args }: Call, facts: ReadonlyArray<Fact>): ReadonlyArray<Verdict> =>
  facts.length > 0 || typeof args !== "object" || args === null
    ? []
    : Object.values(args).map((value) => said(typeof value === "string" && compiled.text(value)))

/** A capability: whatever tool has it, a line of shell included. */
const capable = (rule: Rule, facts: ReadonlyArray<Fact>, setting: Setting): Verdict => {
  const { compiled: { capability, domain, kinds, path }, spec } = rule
  return worst(facts.map((fact) => {
    if (kinds.has(fact.kind)) return judged(rule, fact, setting)
    if (fact.kind !== "shell" || capability === "exec") return "no-match"
    if (fact.value === undefined) return "unknown"
    const line = decompose(fact.value)
    if (capability === "network") {
      const reaching = line.commands.filter(({ name, via }) => network.has(name) && via !== "guess")
      if (reaching.length === 0) return line.unknown === undefined ? "no-match" : "unknown"
      if (spec === undefined) return "match"
      if (domain === undefined || line.dynamic) return "unknown"
      const words = reaching.flatMap(({ words: all }) => all.slice(1)).filter(({ text }) =>
        /[.:]/.test(text) && !text.startsWith("-")
      )
      return worst(words.map(({ text }) => reaches(domain, text.replace(/^[\w.-]+@([\w.-]+)(?::.*)?$/, "$1"))))
    }
    if (spec !== undefined) return touches(line, capability === "write" ? "write" : "read", path, setting)
    return touches(line, capability === "write" ? "write" : "read", anything, setting)
  }))
}

const anything = { text: "**", test: () => true, below: () => true, meets: () => true }

const worst = (all: ReadonlyArray<Verdict>): Verdict =>
  all.includes("match") ? "match" : all.includes("unknown") ? "unknown" : "no-match"
