/**
 * Keeps personal data from the model, the log and the store: what is found is blocked, redacted, masked, hashed, or
 * replaced by a
 * placeholder that only chosen tools and the user get back as what it stands for.
 *
 * @since 0.1.0
 */
import { ConfigError } from "@belay/core/AgentError"
import type { AgentHook } from "@belay/core/AgentHook"
import * as Result from "effect/Result"
import * as HookDefaults from "../HookDefaults.ts"
import { engine } from "./internal/conceal.ts"
import { type Custom, type Detector as Compiled, ofCustom } from "./internal/detect.ts"
import { detectors, kinds, usual } from "./internal/pii.ts"
import * as Redactor from "./internal/redactor.ts"
import type { Pattern } from "./Pattern.ts"

/**
 * What Belay can find by itself. `card` (check digit), `iban` (country length and check digits), `email`, `phone`
 * (E.164, national numbers
 * that are grouped), `ip` (4 and 6), `mac`, `ssn` and `url-credentials` are looked for by default; `url`, `wallet`,
 * `passport` and `birth-date`
 * (both only behind such a word) on request.
 *
 * @category models
 * @since 0.1.0
 */
export type Kind = typeof kinds[number]

/**
 * What is done about a value. `block`: the message, the answer, the call or the result is refused. `redact`: `[EMAIL]`.
 * `mask`: `****` and the last
 * four characters. `hash`: `[EMAIL:1a2b3c4d]`, the same for the same value within a session. `placeholder`:
 * `<EMAIL_1>`, which can be given back.
 *
 * @category models
 * @since 0.1.0
 */
export type Strategy = "block" | "redact" | "mask" | "hash" | "placeholder"

/** A detector of one's own. @category models @since 0.1.0 */
export interface Detector extends Custom {
  /** Default: the `strategy` of the hook. */
  readonly strategy?: Strategy
}

/**
 * Where the hook looks. `history` is all that is sent to the model, whoever put it there.
 *
 * @category models
 * @since 0.1.0
 */
export type Place = Redactor.Place

/** What was found, where and how often; never the value. @category models @since 0.1.0 */
export type Detection = Redactor.Detection

/** @category models @since 0.1.0 */
export interface Options extends HookDefaults.HookDefaults {
  /** What to look for: a list, or a strategy by kind. Default: the kinds with few false finds (see `Kind`). */
  readonly kinds?: ReadonlyArray<Kind> | { readonly [K in Kind]?: Strategy }
  /** For kinds without one of their own. Default `placeholder`. */
  readonly strategy?: Strategy
  /** Detectors of one's own, which win over the others where they overlap. */
  readonly detectors?: ReadonlyArray<Detector>
  /** Values that may stay: RE2 patterns, RegExps or functions that find something in the value. */
  readonly allow?: ReadonlyArray<Pattern>
  /** Where to look. Default: everywhere. */
  readonly places?: ReadonlyArray<Place>
  /**
   * Tools that receive the values in place of the placeholders: `*` stands for any characters, a leading `!` excludes.
   * Default: none.
   */
  readonly revealTo?: string | ReadonlyArray<string>
  /** Whether the text (and the object) of a result has the values in place of the placeholders. Default true. */
  readonly revealToUser?: boolean
  /**
   * Keeps the values in the session's state, sealed with this key (AES-256-GCM, 32 bytes), so that another process can
   * go on. Default: in memory.
   */
  readonly vault?: { readonly key: Uint8Array }
  /**
   * How much of a streamed answer is kept back: all until it has passed, or so many characters. Default: as many as the
   * longest value needs.
   */
  readonly hold?: "untilPass" | { readonly chars: number }
  /** Hears of every find. What it throws is ignored. */
  readonly onDetection?: (detection: Detection) => void
}

/**
 * Takes personal data out of everything that passes: messages, attachments that are text, answers and their stream,
 * tool arguments and results,
 * what memory recalls. Fail-closed; its changes are recorded without content. Throws a `ConfigError` for options that
 * make no sense.
 *
 * The same value has the same placeholder within a session. A text that only looks like a placeholder gets a
 * placeholder of its own
 * (`<PII_TEXT_1>`), so nobody can ask for a value by writing its name; a placeholder that the model invents stays as it
 * is.
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
  const name = options.name ?? "redaction"
  const { allowed, found, strategies } = Result.getOrThrow(check(options))
  const { strategy = "placeholder" } = options
  return Redactor.make({ ...options, revealToUser: options.revealToUser ?? true }, {
    name,
    priority: 2,
    engine: engine(found, { strategy: (kind) => strategies.get(kind) ?? strategy, allowed, lookalike })
  })
}

const lookalike = "pii-text"

const check = (options: Options) => {
  const key = options.name ?? "redaction"
  const wrong = (option: string, message: string) =>
    Result.fail(new ConfigError({ key: `${key}.${option}`, message: `${key}.${option}: ${message}` }))
  const { detectors: own = [], kinds: wanted = usual } = options
  const given: ReadonlyArray<readonly [kind: string, strategy: Strategy | undefined]> = isList(wanted)
    ? wanted.map((kind) => [kind, undefined] as const)
    : Object.entries(wanted)
  const strategies = new Map<string, Strategy>()
  const known = detectors()
  const mine: Array<Compiled> = []
  return Result.gen(function*() {
    for (const [index, { strategy, ...detector }] of own.entries()) {
      const compiled = yield* ofCustom(detector, `${key}.detectors[${index}]`)
      if (Object.hasOwn(known, compiled.kind) || compiled.kind === lookalike) {
        return yield* wrong(`detectors[${index}]`, `kind "${compiled.kind}" is one of Belay's own: choose another name`)
      }
      mine.push(compiled)
      if (strategy !== undefined) strategies.set(compiled.kind, strategy)
    }
    for (const [kind, strategy] of given) {
      if (!Object.hasOwn(known, kind)) {
        return yield* wrong("kinds", `unknown kind "${kind}": expected one of ${kinds.join(", ")}`)
      }
      if (strategy !== undefined) strategies.set(kind, strategy)
    }
    for (const strategy of [options.strategy, ...strategies.values()]) {
      if (strategy !== undefined && !names.has(strategy)) {
        return yield* wrong("strategy", `unknown strategy "${strategy}": expected one of ${[...names].join(", ")}`)
      }
    }
    const chosen = new Set<string>(given.map(([kind]) => kind))
    const found = [...mine, ...kinds.filter((kind) => chosen.has(kind)).map((kind) => known[kind])]
    if (found.length === 0) return yield* wrong("kinds", "there is nothing to look for")
    return { ...(yield* Redactor.check(key, found, options)), found, strategies }
  })
}

const isList = (given: NonNullable<Options["kinds"]>): given is ReadonlyArray<Kind> => Array.isArray(given)

const names: ReadonlySet<string> = new Set<Strategy>(["block", "redact", "mask", "hash", "placeholder"])
