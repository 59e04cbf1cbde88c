/**
 * Blocks, redacts or reports what patterns find, in messages, answers, tool arguments and tool results.
 *
 * @since 0.1.0
 */
import { ConfigError } from "@belay/core/AgentError"
import type { AgentHook } from "@belay/core/AgentHook"
import * as Result from "effect/Result"
import * as HookDefaults from "../HookDefaults.ts"
import { engine } from "./internal/conceal.ts"
import { detectors as credentials } from "./internal/credentials.ts"
import { type Detector, ofCustom } from "./internal/detect.ts"
import { detectors as personal, usual } from "./internal/pii.ts"
import * as Redactor from "./internal/redactor.ts"
import { label } from "./internal/vault.ts"

/** What happens to what is found: refused, replaced by `[NAME]`, or only reported. @category models @since 0.1.0 */
export type Strategy = "block" | "redact" | "warn"

/** Where a filter looks. @category models @since 0.1.0 */
export type Phase = "input" | "output" | "toolArguments" | "toolResults"

/** One pattern. @category models @since 0.1.0 */
export interface Rule {
  /** Lower-case letters, digits and `-`. */
  readonly name: string
  /** An RE2 pattern: `(?i)` ignores case; no lookaround, no backreferences. */
  readonly pattern: string
  /** Default: the `strategy` of the filter. */
  readonly strategy?: Strategy
  /** What stands in the text instead. Default `[NAME]`. */
  readonly replacement?: string
  /** Longest find, in characters, that a stream has to be kept back for. Default 128. */
  readonly maxLength?: number
}

/**
 * Rules that are there: `pii` as of `Redaction`, `secrets` as of `Secrets`, `urls` for web addresses.
 *
 * @category models
 * @since 0.1.0
 */
export type Preset = "pii" | "secrets" | "urls"

/** @category models @since 0.1.0 */
export interface Options extends HookDefaults.HookDefaults {
  readonly rules?: ReadonlyArray<Rule>
  readonly presets?: ReadonlyArray<Preset>
  /** Default `all`. */
  readonly phase?: Phase | "all" | ReadonlyArray<Phase>
  /** For rules without one of their own. Default `block`. */
  readonly strategy?: Strategy
  /**
   * How much of a streamed answer is kept back: all until it has passed, or so many characters. Default: as many as the
   * longest find needs.
   */
  readonly hold?: "untilPass" | { readonly chars: number }
  /** Hears of every find, without the text. What it throws is ignored. */
  readonly onDetection?: (detection: Redactor.Detection) => void
}

/**
 * Looks for patterns in linear time, whatever the text is. Fail-closed; in a stream nothing that will be blocked or
 * redacted is shown. A find that
 * is longer than what is kept back cuts the stream. Throws a `ConfigError` for a pattern or an option that makes no
 * sense.
 *
 * @example
 * ```ts
 * import * as RegexFilter from "@belay/hooks/RegexFilter"
 *
 * const filter = RegexFilter.make({
 *   rules: [
 *     { name: "project", pattern: "(?i)\\bproject falcon\\b", strategy: "redact", replacement: "[project]" },
 *     { name: "ticket", pattern: "TKT-\\d{6}", strategy: "warn" }
 *   ],
 *   presets: ["secrets"],
 *   phase: ["input", "output"]
 * })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): AgentHook => {
  const { found, replacements, strategies } = Result.getOrThrow(check(options))
  const { phase = "all", strategy = "block" } = options
  const phases: ReadonlyArray<Redactor.Place> = phase === "all" ? every : typeof phase === "string" ? [phase] : phase
  return Redactor.make({ ...options, places: phases }, {
    name: options.name ?? "regex-filter",
    priority: 10,
    engine: engine(found, {
      strategy: (kind) => strategies.get(kind) ?? strategy,
      marker: (kind) => replacements.get(kind) ?? `[${label(kind)}]`,
      allowed: () => false,
      lookalike: "regex-text"
    }),
    nameOf: (kind) => kind
  })
}

const every: ReadonlyArray<Phase> = ["input", "output", "toolArguments", "toolResults"]

const presets: { readonly [P in Preset]: () => ReadonlyArray<Detector> } = {
  pii: () => usual.map((kind) => personal()[kind]),
  secrets: () => Object.values(credentials(3)),
  urls: () => [personal().url]
}

const check = (options: Options) => {
  const key = options.name ?? "regex-filter"
  const wrong = (option: string, message: string) =>
    Result.fail(new ConfigError({ key: `${key}.${option}`, message: `${key}.${option}: ${message}` }))
  const { phase = "all", presets: wanted = [], rules = [] } = options
  return Result.gen(function*() {
    const found: Array<Detector> = []
    const strategies = new Map<string, Strategy>()
    const replacements = new Map<string, string>()
    for (const [index, { maxLength, name, pattern, replacement, strategy }] of rules.entries()) {
      if (typeof pattern !== "string") {
        return yield* wrong(`rules[${index}]`, "a pattern is a text: RegExps are not linear")
      }
      found.push(
        yield* ofCustom(
          { kind: name, find: pattern, ...(maxLength === undefined ? {} : { maxLength }) },
          `${key}.rules[${index}]`
        )
      )
      if (strategy !== undefined) strategies.set(name, strategy)
      if (replacement !== undefined) replacements.set(name, replacement)
    }
    for (const preset of wanted) {
      if (!Object.hasOwn(presets, preset)) {
        return yield* wrong("presets", `unknown preset "${preset}": expected one of ${Object.keys(presets).join(", ")}`)
      }
      found.push(...presets[preset]())
    }
    if (found.length === 0) return yield* wrong("rules", "there is nothing to look for: give rules or presets")
    const twice = found.find(({ kind }, index) => found.findIndex((other) => other.kind === kind) !== index)
    if (twice !== undefined) return yield* wrong("rules", `two rules are named "${twice.kind}"`)
    const strategy = [options.strategy, ...strategies.values()].find((one) =>
      one !== undefined && !["block", "redact", "warn"].includes(one)
    )
    if (strategy !== undefined) {
      return yield* wrong("strategy", `unknown strategy "${strategy}": expected one of block, redact, warn`)
    }
    const phases = typeof phase === "string" ? [phase] : phase
    const other = phases.find((one) => one !== "all" && !every.includes(one))
    if (other !== undefined) {
      return yield* wrong("phase", `unknown phase "${other}": expected one of ${every.join(", ")}, all`)
    }
    yield* Redactor.check(key, found, options)
    return { found, replacements, strategies }
  })
}
