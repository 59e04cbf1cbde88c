/**
 * Blocks, redacts or reports what patterns find, in messages, answers, tool arguments and tool results.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import { checkOptions, invalidOption, oneOf, optionsIn } from "@belay/core/OptionCheck"
import * as Result from "effect/Result"
import * as HookDefaults from "../HookDefaults.ts"
import { detectors as credentials } from "./internal/credentials.ts"
import { compileDetector, type Detector } from "./internal/detector.ts"
import { defaultKinds, detectors as personalData } from "./internal/personalData.ts"
import { kindLabel } from "./internal/placeholderStore.ts"
import * as Redactor from "./internal/redact/redactor.ts"
import { scanRules } from "./internal/scan/scanRules.ts"

/**
 * What happens when a pattern matches: the text is rejected (`block`), the match is replaced by `[NAME]` (`redact`), or
 * it is only reported (`warn`).
 *
 * @category models
 * @since 0.1.0
 */
export type Strategy = "block" | "redact" | "warn"

/** Where a filter searches. @category models @since 0.1.0 */
export type Phase = "input" | "output" | "toolArguments" | "toolResults"

/** One pattern. @category models @since 0.1.0 */
export interface Rule {
  /** The name of the rule: lower-case letters, digits and `-`. */
  readonly name: string
  /** An RE2 pattern: `(?i)` ignores case; no lookaround, no backreferences. */
  readonly pattern: string
  /** What happens to a match. Default: the `strategy` of the filter. */
  readonly strategy?: Strategy
  /** The text that replaces a match. Default `[NAME]`. */
  readonly replacement?: string
  /** The longest match, in characters. So much of a streamed answer is buffered. Default 128. */
  readonly maxLength?: number
}

/**
 * Ready-made rules: `pii` as in `Redaction`, `secrets` as in `Secrets`, `urls` for web addresses.
 *
 * @category models
 * @since 0.1.0
 */
export type Preset = "pii" | "secrets" | "urls"

/** Options of `RegexFilter.make`. @category models @since 0.1.0 */
export interface Options extends HookDefaults.HookDefaults {
  /** The patterns. Default none; rules or presets are required. */
  readonly rules?: ReadonlyArray<Rule>
  /** Ready-made rules. Default none. */
  readonly presets?: ReadonlyArray<Preset>
  /** Where to search. Default `all`. */
  readonly phase?: Phase | "all" | ReadonlyArray<Phase>
  /** What happens to matches of rules without their own strategy. Default `block`. */
  readonly strategy?: Strategy
  /**
   * How much of a streamed answer to buffer before it is shown: all of it (`untilPass`), or this number of characters.
   * Default: as many as the longest match needs.
   */
  readonly hold?: "untilPass" | { readonly chars: number }
  /** Called for every match, without the text. An error that it throws is ignored. */
  readonly onDetection?: (detection: Redactor.Detection) => void
}

const optionKinds: HookDefaults.OwnKinds<Options> = {
  rules: optionsIn<Rule>("list", {
    name: "text",
    pattern: "any",
    strategy: "any",
    replacement: "any",
    maxLength: "any"
  }),
  presets: "list",
  phase: "texts",
  strategy: "any",
  hold: ["text", "object"],
  onDetection: "function"
}

/**
 * Searches for patterns in linear time, whatever the text is. It fails closed. Of a streamed answer nothing is shown
 * that will be blocked or redacted; a match that is longer than the buffer ends the stream. Throws a `ConfigError` for
 * an invalid pattern or option.
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
  HookDefaults.checkKinds("regex-filter", options, optionKinds)
  const { name = "regex-filter" } = options
  const { found, replacements, strategies } = Result.getOrThrow(compileOptions(options, name))
  const { phase = "all", strategy = "block" } = options
  const phases: ReadonlyArray<Redactor.Place> = phasesOf(phase)
  return HookDefaults.identify(
    options,
    Redactor.makeRedactor({ ...options, places: phases }, {
      name,
      priority: 10,
      rules: scanRules(found, {
        strategy: (kind) => strategies.get(kind) ?? strategy,
        marker: (kind) => replacements.get(kind) ?? `[${kindLabel(kind)}]`,
        isAllowed: () => false,
        lookalike: "regex-text"
      }),
      kindName: (kind) => kind
    })
  )
}

const allPhases: ReadonlyArray<Phase> = ["input", "output", "toolArguments", "toolResults"]

const presets: { readonly [P in Preset]: () => ReadonlyArray<Detector> } = {
  pii: () => defaultKinds.map((kind) => personalData()[kind]),
  secrets: () => Object.values(credentials(3)),
  urls: () => [personalData().url]
}

const phasesOf = (phase: NonNullable<Options["phase"]>): ReadonlyArray<Phase> => {
  if (phase === "all") return allPhases
  return typeof phase === "string" ? [phase] : phase
}

const compileOptions = (options: Options, name: string) => {
  const { phase = "all", presets: chosen = [], rules = [], strategy } = options
  const strategies = new Map<string, Strategy>()
  const replacements = new Map<string, string>()
  for (const rule of rules) {
    if (rule.strategy !== undefined) strategies.set(rule.name, rule.strategy)
    if (rule.replacement !== undefined) replacements.set(rule.name, rule.replacement)
  }
  const isText = (pattern: unknown) => typeof pattern === "string"
  const allStrategies = [strategy, ...strategies.values()]
  return Result.gen(function*() {
    yield* checkOptions(
      name,
      ...rules.map(({ pattern }, index) =>
        [`rules[${index}].pattern`, pattern ?? null, isText, "an RE2 pattern"] as const
      ),
      ...chosen.map((preset) => oneOf("presets", preset, Object.keys(presets))),
      ...allStrategies.map((one) => oneOf("strategy", one, ["block", "redact", "warn"])),
      ...phasesOf(phase).map((one) => oneOf("phase", one, [...allPhases, "all"]))
    )
    const compiled = yield* Result.all(
      rules.map(({ maxLength = 128, name: kind, pattern }, index) =>
        compileDetector({ kind, find: pattern, maxLength }, `${name}.rules[${index}]`)
      )
    )
    const found = [...compiled, ...chosen.flatMap((preset) => presets[preset]())]
    if (found.length === 0) return yield* invalidOption(`${name}.rules`, "expected at least one rule or preset")
    const kinds = found.map(({ kind }) => kind)
    const twice = kinds.find((kind, index) => kinds.indexOf(kind) !== index)
    if (twice !== undefined) {
      return yield* invalidOption(`${name}.rules`, `two rules have the name "${twice}"; give each its own name`)
    }
    yield* Redactor.checkSharedOptions(name, found, options)
    return { found, replacements, strategies }
  })
}
