/**
 * Keeps keys, tokens and passwords from the model, from tools, from the log and from the store.
 *
 * @since 0.1.0
 */
import { ConfigError } from "@belay/core/AgentError"
import type { AgentHook } from "@belay/core/AgentHook"
import * as Result from "effect/Result"
import { createHash } from "node:crypto"
import * as HookDefaults from "../HookDefaults.ts"
import { engine } from "./internal/conceal.ts"
import { detectors, kinds } from "./internal/credentials.ts"
import { type Custom, type Detector as Compiled, findAll, ofCustom } from "./internal/detect.ts"
import * as Redactor from "./internal/redactor.ts"
import type { Pattern } from "./Pattern.ts"

/**
 * What is looked for: keys and tokens by the prefix of their vendor, JSON Web Tokens, private keys in PEM, passwords in
 * the addresses of databases,
 * and, as `secret`, any value that is named like one (`password=...`, `"api_key": "..."`) and whose characters look
 * random.
 *
 * @category models
 * @since 0.1.0
 */
export type Kind = typeof kinds[number]

/**
 * `block` refuses, `redact` writes `[OPENAI_KEY]`, `placeholder` writes `<OPENAI_KEY_1>`, which chosen tools get back.
 *
 * @category models
 * @since 0.1.0
 */
export type Strategy = "block" | "redact" | "placeholder"

/** A detector of one's own. @category models @since 0.1.0 */
export type Detector = Custom

/** @category models @since 0.1.0 */
export interface Options extends HookDefaults.HookDefaults {
  /** Default: every kind. */
  readonly kinds?: ReadonlyArray<Kind>
  /** Default `redact`. */
  readonly strategy?: Strategy
  /** Detectors of one's own, which win over the others where they overlap. */
  readonly detectors?: ReadonlyArray<Detector>
  /** Least entropy of a `secret`, in bits a character. Default 3, which words and repetitions do not have. */
  readonly entropy?: number
  /** Values that may stay: RE2 patterns, RegExps or functions that find something in the value. */
  readonly allow?: ReadonlyArray<Pattern>
  /** The SHA-256 digests, in hexadecimal, of values that may stay: an allow-list that holds no secret. */
  readonly allowDigests?: ReadonlyArray<string>
  /** Where to look. Default: everywhere. */
  readonly places?: ReadonlyArray<Redactor.Place>
  /**
   * With `placeholder`: tools that receive the values: `*` stands for any characters, a leading `!` excludes. Default:
   * none.
   */
  readonly revealTo?: string | ReadonlyArray<string>
  /** With `placeholder`: whether the text of a result has the values. Default false. */
  readonly revealToUser?: boolean
  /**
   * With `placeholder`: keeps the values in the session's state, sealed with this key (AES-256-GCM, 32 bytes). Default:
   * in memory.
   */
  readonly vault?: { readonly key: Uint8Array }
  /**
   * How much of a streamed answer is kept back: all until it has passed, or so many characters. Default: as many as are
   * needed to tell a secret.
   */
  readonly hold?: "untilPass" | { readonly chars: number }
  /** Hears of every find. What it throws is ignored. */
  readonly onDetection?: (detection: Redactor.Detection) => void
}

/**
 * Takes secrets out of messages, answers and their stream, tool arguments and results, and of all that is sent to the
 * model. Fail-closed; its
 * changes are recorded without content. Throws a `ConfigError` for options that make no sense.
 *
 * @example
 * ```ts
 * import * as Secrets from "@belay/hooks/Secrets"
 *
 * const secrets = Secrets.make({ strategy: "placeholder", revealTo: "deploy", allow: ["^sk_test_"] })
 * const strict = Secrets.make({ name: "no-secrets-in", strategy: "block", places: ["input"], entropy: 3.5 })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options = {}): AgentHook => {
  const { allowed, found } = Result.getOrThrow(check(options))
  const { strategy = "redact" } = options
  const digests = new Set(options.allowDigests?.map((digest) => digest.toLowerCase()))
  return Redactor.make(options, {
    name: options.name ?? "secrets",
    priority: 1,
    engine: engine(found, {
      strategy: () => strategy,
      allowed: (value) =>
        allowed(value) || (digests.size > 0 && digests.has(createHash("sha256").update(value).digest("hex"))),
      lookalike
    })
  })
}

const lookalike = "secret-text"

const check = (options: Options) => {
  const key = options.name ?? "secrets"
  const wrong = (option: string, message: string) =>
    Result.fail(new ConfigError({ key: `${key}.${option}`, message: `${key}.${option}: ${message}` }))
  const { allowDigests = [], detectors: own = [], entropy = 3, kinds: wanted = kinds, strategy = "redact" } = options
  return Result.gen(function*() {
    if (!["block", "redact", "placeholder"].includes(strategy)) {
      return yield* wrong("strategy", `unknown strategy "${strategy}": expected one of block, redact, placeholder`)
    }
    if (!(entropy >= 0 && entropy <= 8)) {
      return yield* wrong("entropy", `expected a number from 0 to 8, found ${String(entropy)}`)
    }
    const misfit = allowDigests.find((digest) => !/^[0-9a-f]{64}$/i.test(digest))
    if (misfit !== undefined) {
      return yield* wrong("allowDigests", "expected SHA-256 digests, 64 hexadecimal digits each")
    }
    const known = detectors(entropy)
    const mine: Array<Compiled> = []
    for (const [index, detector] of own.entries()) {
      const compiled = yield* ofCustom(detector, `${key}.detectors[${index}]`)
      if (Object.hasOwn(known, compiled.kind) || compiled.kind === lookalike) {
        return yield* wrong(`detectors[${index}]`, `kind "${compiled.kind}" is one of Belay's own: choose another name`)
      }
      mine.push(compiled)
    }
    const unknown = wanted.find((kind) => !Object.hasOwn(known, kind))
    if (unknown !== undefined) {
      return yield* wrong("kinds", `unknown kind "${unknown}": expected one of ${kinds.join(", ")}`)
    }
    const found = [...mine, ...kinds.filter((kind) => wanted.includes(kind)).map((kind) => known[kind])]
    if (found.length === 0) return yield* wrong("kinds", "there is nothing to look for")
    return { ...(yield* Redactor.check(key, found, options)), found }
  })
}

/** The same text with every key and token replaced by `[kind]`. @category operations @since 0.1.0 */
export const redactText = (text: string): string => {
  let redacted = ""
  let at = 0
  for (const { end, kind, start } of findAll(allDetectors, text, [], [])) {
    redacted += `${text.slice(at, start)}[${kind}]`
    at = end
  }
  return (redacted + text.slice(at)).toWellFormed()
}

const allDetectors = Object.values(detectors(3))
