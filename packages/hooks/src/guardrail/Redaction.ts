/**
 * Protects personal data from the model, the log and the store. What is found is blocked, redacted, masked, hashed, or
 * replaced by a placeholder, which becomes the value again only for chosen tools and for the user.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import { checkOptions, invalidOption, oneOf } from "@belay/core/OptionCheck"
import * as Result from "effect/Result"
import * as HookDefaults from "../HookDefaults.ts"
import { compileDetectors, type CustomDetector } from "./internal/detector.ts"
import { defaultKinds, detectors, kinds } from "./internal/personalData.ts"
import * as Redactor from "./internal/redact/redactor.ts"
import { scanRules } from "./internal/scan/scanRules.ts"
import type { Pattern } from "./Pattern.ts"

/**
 * The kinds of personal data. Searched for by default: `card` (with check digit), `iban` (with length and check
 * digits), `email`, `phone` (E.164, and grouped national numbers), `ip` (4 and 6), `mac`, `ssn` and `url-credentials`.
 * Searched for on request: `url`, `wallet`, `passport` and `birth-date`; the last two only behind such a word.
 *
 * @category models
 * @since 0.1.0
 */
export type Kind = typeof kinds[number]

/**
 * What happens to a value.
 *
 * - `block`: the message, the answer, the call or the result is rejected.
 * - `redact`: `[EMAIL]` replaces it.
 * - `mask`: `****` and its last four characters replace it.
 * - `hash`: `[EMAIL:1a2b3c4d]` replaces it, the same for the same value within a session.
 * - `placeholder`: `<EMAIL_1>` replaces it, which can become the value again.
 *
 * @category models
 * @since 0.1.0
 */
export type Strategy = "block" | "redact" | "mask" | "hash" | "placeholder"

/** A custom detector. @category models @since 0.1.0 */
export interface Detector extends CustomDetector {
  /** What happens to its values. Default: the `strategy` of the hook. */
  readonly strategy?: Strategy
}

/**
 * Where the hook searches. `history` is everything that is sent to the model.
 *
 * @category models
 * @since 0.1.0
 */
export type Place = Redactor.Place

/** What was found, where and how often, without the value. @category models @since 0.1.0 */
export type Detection = Redactor.Detection

/** Options of `Redaction.make`. @category models @since 0.1.0 */
export interface Options extends HookDefaults.HookDefaults {
  /**
   * The kinds to search for: a list, or a strategy by kind. Default: the kinds with few false findings (see `Kind`).
   */
  readonly kinds?: ReadonlyArray<Kind> | { readonly [K in Kind]?: Strategy }
  /** The strategy for kinds without their own. Default `placeholder`. */
  readonly strategy?: Strategy
  /** More detectors. Where findings overlap, these take precedence. Default none. */
  readonly detectors?: ReadonlyArray<Detector>
  /** Values that stay: RE2 patterns, RegExps or functions that match a part of the value. Default none. */
  readonly allow?: ReadonlyArray<Pattern>
  /** Where to search. Default: everywhere. */
  readonly places?: ReadonlyArray<Place>
  /**
   * Tools that receive the values instead of the placeholders; `*` stands for any characters, a leading `!` excludes.
   * Default none.
   */
  readonly revealTo?: string | ReadonlyArray<string>
  /** Whether the text and the object of a result contain the values instead of the placeholders. Default true. */
  readonly revealToUser?: boolean
  /**
   * Stores the values in the session's state, encrypted with this key (AES-256-GCM, 32 bytes), so that another process
   * can continue the session. Default: in memory.
   */
  readonly vault?: { readonly key: Uint8Array }
  /**
   * How much of a streamed answer to buffer before it is shown: all of it (`untilPass`), or this number of characters.
   * Default: as many as the longest value needs.
   */
  readonly hold?: "untilPass" | { readonly chars: number }
  /** Called for everything that is found, without the value. An error that it throws is ignored. */
  readonly onDetection?: (detection: Detection) => void
}

const optionKinds: HookDefaults.OwnKinds<Options> = {
  kinds: ["list", "object"],
  strategy: "any",
  detectors: "list",
  allow: "list",
  places: "list",
  revealTo: "texts",
  revealToUser: "flag",
  vault: "object",
  hold: ["text", "object"],
  onDetection: "function"
}

/**
 * Removes personal data from messages, text attachments, answers and their stream, tool arguments and results, and
 * recalled memory. It fails closed, and its changes are recorded without content. Throws a `ConfigError` for invalid
 * options.
 *
 * The same value has the same placeholder within a conversation, in every agent of it. A text that only looks like a
 * placeholder is replaced by another one (`<PII_TEXT_1>`), so that nobody can get a value by writing its placeholder. A
 * placeholder that the model invents stays as it is.
 *
 * @example
 * ```ts
 * import * as Redaction from "@belay/hooks/Redaction"
 *
 * const redaction = Redaction.make({
 *   kinds: { email: "placeholder", phone: "placeholder", card: "block", iban: "mask" },
 *   detectors: [{ kind: "employee", find: "E-\\d{6}" }],
 *   revealTo: ["send_mail", "crm_*"],
 *   onDetection: ({ count, kind, place }) => console.log(`${count} x ${kind} in ${place}`)
 * })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options = {}): AgentHook => {
  HookDefaults.checkKinds("redaction", options, optionKinds)
  const name = options.name ?? "redaction"
  const { found, isAllowed, strategies } = Result.getOrThrow(compileOptions(options, name))
  const { strategy = "placeholder" } = options
  return HookDefaults.identify(
    options,
    Redactor.makeRedactor({ ...options, revealToUser: options.revealToUser ?? true }, {
      name,
      priority: 2,
      rules: scanRules(found, { strategy: (kind) => strategies.get(kind) ?? strategy, isAllowed, lookalike })
    })
  )
}

const lookalike = "pii-text"

const strategyNames: ReadonlyArray<Strategy> = ["block", "redact", "mask", "hash", "placeholder"]

const compileOptions = (options: Options, name: string) => {
  const { detectors: custom = [], kinds: chosen = defaultKinds, strategy } = options
  const chosenKinds: ReadonlyArray<readonly [kind: string, strategy: Strategy | undefined]> = isList(chosen)
    ? chosen.map((kind) => [kind, undefined])
    : Object.entries(chosen)
  return Result.gen(function*() {
    const known = detectors()
    const compiled = yield* compileDetectors(custom, `${name}.detectors`, [...kinds, lookalike])
    yield* checkOptions(name, ...chosenKinds.map(([kind]) => oneOf("kinds", kind, kinds)))
    const strategies = new Map<string, Strategy>()
    for (
      const [kind, own] of [...custom.map((detector) => [detector.kind, detector.strategy] as const), ...chosenKinds]
    ) {
      if (own !== undefined) strategies.set(kind, own)
    }
    const allStrategies = [strategy, ...strategies.values()]
    yield* checkOptions(name, ...allStrategies.map((one) => oneOf("strategy", one, strategyNames)))
    const found = [
      ...compiled,
      ...kinds.filter((kind) => chosenKinds.some(([one]) => one === kind)).map((kind) => known[kind])
    ]
    if (found.length === 0) return yield* invalidOption(`${name}.kinds`, "expected at least one kind or detector")
    return { isAllowed: yield* Redactor.checkSharedOptions(name, found, options), found, strategies }
  })
}

const isList = (chosen: NonNullable<Options["kinds"]>): chosen is ReadonlyArray<Kind> => Array.isArray(chosen)
