/**
 * Protects keys, tokens and passwords from the model, tools, the log and the store.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import { checked } from "@belay/core/ArgumentCheck"
import { checkOptions, invalidOption, oneOf, within } from "@belay/core/OptionCheck"
import * as Result from "effect/Result"
import * as HookDefaults from "../HookDefaults.ts"
import { atFirstUse } from "../internal/atFirstUse.ts"
import { sha256 } from "../internal/nodeCrypto.ts"
import { detectors, kinds } from "./internal/credentials.ts"
import { compileDetectors, type CustomDetector, findAll } from "./internal/detector.ts"
import * as Redactor from "./internal/redact/redactor.ts"
import { openSecretIn } from "./internal/scan/openSecrets.ts"
import { scanRules } from "./internal/scan/scanRules.ts"
import type { Pattern } from "./Pattern.ts"

/**
 * The kinds of secrets: keys and tokens with the prefixes of their vendors, JSON Web Tokens, private keys in PEM, and
 * passwords in the URLs of databases. `secret` is any value that follows a name such as `password=` or `"api_key":` and
 * looks random.
 *
 * @category models
 * @since 0.1.0
 */
export type Kind = typeof kinds[number]

/**
 * What happens to a secret. `block` rejects the text, `redact` replaces the secret by `[OPENAI_KEY]`, `placeholder` by
 * `<OPENAI_KEY_1>`, which becomes the secret again for chosen tools.
 *
 * @category models
 * @since 0.1.0
 */
export type Strategy = "block" | "redact" | "placeholder"

/** A custom detector. @category models @since 0.1.0 */
export type Detector = CustomDetector

/** Options of `Secrets.make`. @category models @since 0.1.0 */
export interface Options extends HookDefaults.HookDefaults {
  /** The kinds to search for. Default: every kind. */
  readonly kinds?: ReadonlyArray<Kind>
  /** What happens to a secret. Default `redact`. */
  readonly strategy?: Strategy
  /** More detectors. Where findings overlap, these take precedence. Default none. */
  readonly detectors?: ReadonlyArray<Detector>
  /**
   * The least entropy of a `secret`, in bits for one character. Default 3, which words and repetitions do not reach.
   */
  readonly entropy?: number
  /** Values that stay: RE2 patterns, RegExps or functions that match a part of the value. Default none. */
  readonly allow?: ReadonlyArray<Pattern>
  /** SHA-256 digests, in hexadecimal, of values that stay: an allow list without secrets. Default none. */
  readonly allowDigests?: ReadonlyArray<string>
  /** Where to search. Default: everywhere. */
  readonly places?: ReadonlyArray<Redactor.Place>
  /**
   * With `placeholder`: tools that receive the values; `*` stands for any characters, a leading `!` excludes. Default
   * none.
   */
  readonly revealTo?: string | ReadonlyArray<string>
  /** With `placeholder`: whether the text of a result contains the values. Default false. */
  readonly revealToUser?: boolean
  /**
   * With `placeholder`: stores the values in the session's state, encrypted with this key (AES-256-GCM, 32 bytes).
   * Default: in memory.
   */
  readonly vault?: { readonly key: Uint8Array }
  /**
   * How much of a streamed answer to buffer before it is shown: all of it (`untilPass`), or this number of characters.
   * Default: as many as are needed to recognize a secret.
   */
  readonly hold?: "untilPass" | { readonly chars: number }
  /** Called for everything that is found, without the value. An error that it throws is ignored. */
  readonly onDetection?: (detection: Redactor.Detection) => void
}

const optionKinds: HookDefaults.OwnKinds<Options> = {
  kinds: "list",
  strategy: "any",
  detectors: "list",
  entropy: "number",
  allow: "list",
  allowDigests: "textList",
  places: "list",
  revealTo: "texts",
  revealToUser: "flag",
  vault: "object",
  hold: ["text", "object"],
  onDetection: "function"
}

/**
 * Removes secrets from messages, answers and their stream, tool arguments and results, and everything that is sent to
 * the model. It fails closed, and its changes are recorded without content. Throws a `ConfigError` for invalid options.
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
  HookDefaults.checkKinds("secrets", options, optionKinds)
  const { name = "secrets" } = options
  const { found, isAllowed } = Result.getOrThrow(compileOptions(options, name))
  const { strategy = "redact" } = options
  const digests = new Set(options.allowDigests?.map((digest) => digest.toLowerCase()))
  return Redactor.makeRedactor(options, {
    name,
    priority: 1,
    openValueIn: openSecretIn,
    rules: scanRules(found, {
      strategy: () => strategy,
      isAllowed: (value) => isAllowed(value) || (digests.size > 0 && digests.has(sha256(value))),
      lookalike
    })
  })
}

const lookalike = "secret-text"

const compileOptions = (options: Options, name: string) => {
  const { allowDigests = [], detectors: custom = [], entropy = 3, kinds: chosen = kinds, strategy } = options
  const isDigest = (digest: string) => /^[0-9a-f]{64}$/i.test(digest)
  return Result.gen(function*() {
    yield* checkOptions(
      name,
      oneOf("strategy", strategy, ["block", "redact", "placeholder"]),
      within("entropy", entropy, 0, 8),
      [
        "allowDigests",
        allowDigests,
        (all: typeof allowDigests) => all.every(isDigest),
        "SHA-256 digests of 64 hex digits"
      ],
      ...chosen.map((kind) => oneOf("kinds", kind, kinds))
    )
    const known = detectors(entropy)
    const compiled = yield* compileDetectors(custom, `${name}.detectors`, [...kinds, lookalike])
    const found = [...compiled, ...kinds.filter((kind) => chosen.includes(kind)).map((kind) => known[kind])]
    if (found.length === 0) return yield* invalidOption(`${name}.kinds`, "expected at least one kind or detector")
    return { isAllowed: yield* Redactor.checkSharedOptions(name, found, options), found }
  })
}

/**
 * Replaces every key and token in a text by its kind, such as `[openai-key]`. Use it for texts that no hook sees, such
 * as log lines. It searches for all kinds with the default entropy.
 *
 * @example
 * ```ts
 * import * as Secrets from "@belay/hooks/Secrets"
 *
 * Secrets.redactText("the key is AKIAIOSFODNN7EXAMPLE") // "the key is [aws-key]"
 * ```
 * @category operations
 * @since 0.1.0
 */
export const redactText = checked("Secrets.redactText", ["text"], (text: string): string => {
  let redacted = ""
  let at = 0
  for (const { end, kind, start } of findAll(allDetectors(), text)) {
    redacted += `${text.slice(at, start)}[${kind}]`
    at = end
  }
  return (redacted + text.slice(at)).toWellFormed()
})

const allDetectors = atFirstUse(() => Object.values(detectors(3)))
