/**
 * Brings what users (and tools) write into one plain form: bounded in length, without HTML, without characters that
 * nobody sees.
 *
 * @since 0.1.0
 */
import { ConfigError } from "@belay/core/AgentError"
import type { AgentHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import type { Json } from "@belay/core/Json"
import * as Result from "effect/Result"
import * as HookDefaults from "../HookDefaults.ts"
import { sanitized } from "./internal/html.ts"
import { type Hidden, hiddenKinds, pattern, stripped } from "./internal/invisible.ts"
import { mapped } from "./internal/response.ts"

/** @category models @since 0.1.0 */
export interface Options extends HookDefaults.HookDefaults {
  /** Most characters (Unicode code points) of a message, counted when everything else is done. Default: no limit. */
  readonly maxLength?: number
  /**
   * What happens to a longer one: it is refused, or cut where a visible character ends. Default `block`. The results of
   * tools are always cut.
   */
  readonly tooLong?: "block" | "truncate"
  /**
   * `keep` leaves HTML as it is. `strip` takes tags, comments, scripts and styles out. `basic` leaves plain formatting
   * (such as `<b>`, `<p>`, `<li>`),
   * without attributes. Default `keep`.
   */
  readonly html?: "keep" | "strip" | "basic"
  /** The Unicode form. `NFKC` also makes plain letters of look-alikes such as full-width ones. Default `NFC`. */
  readonly unicode?: "NFC" | "NFKC" | "none"
  /**
   * Hidden characters that are taken out: `control` (but for tab and line end), `zero-width`, `bidi` (that change the
   * direction of writing), `tags` (that
   * can carry a hidden text). Emoji and scripts keep the joiners they are made of. Default: all.
   */
  readonly strip?: ReadonlyArray<Hidden>
  /** Makes one space of several, and at most two line ends of more. Default false. */
  readonly collapseWhitespace?: boolean
  /** Takes white space from both ends. Default false. */
  readonly trim?: boolean
  /** Normalizes every text in the results of tools too. Default false. */
  readonly toolResults?: boolean
}

/**
 * Rewrites the message of a turn before other hooks see it; a text that is normal already stays as it is. Throws a
 * `ConfigError` for options that
 * make no sense.
 *
 * @example
 * ```ts
 * import * as TextNormalizer from "@belay/hooks/TextNormalizer"
 *
 * const normalizer = TextNormalizer.make({ maxLength: 8_000, tooLong: "truncate", html: "strip", unicode: "NFKC", toolResults: true })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options = {}): AgentHook => {
  const name = options.name ?? "text-normalizer"
  const { maxLength, strip = hiddenKinds, tooLong = "block", toolResults = false } = Result.getOrThrow(
    check(options, name)
  )
  const hidden = strip.length === 0 ? undefined : pattern(strip)
  const normal = (text: string): string => normalized(text, options, hidden)
  const ofResult = (text: string): string => {
    const made = normal(text)
    return maxLength === undefined ? made : cut(made, maxLength)
  }
  return HookDefaults.apply(options, {
    name,
    priority: 0,
    kind: "policy",
    preTurn: (turn) => {
      const message = normal(turn.message)
      if (maxLength === undefined || !isLonger(message, maxLength)) {
        return message === turn.message ? undefined : HookAction.transform({ ...turn, message })
      }
      return tooLong === "block"
        ? HookAction.reject(`the message is longer than ${maxLength} characters`)
        : HookAction.transform({ ...turn, message: cut(message, maxLength) })
    },
    ...(toolResults
      ? {
        postToolCall: ({ result }) => {
          const before: Json = result.ok ? result.output : result.error
          const after = mapped(before, ofResult)
          if (JSON.stringify(after) === JSON.stringify(before)) return undefined
          return HookAction.transform(
            result.ok ? { ok: true as const, output: after } : { ok: false as const, error: after as string }
          )
        }
      }
      : {})
  })
}

const normalized = (
  text: string,
  { collapseWhitespace, html = "keep", trim, unicode = "NFC" }: Options,
  hidden: RegExp | undefined
): string => {
  const form = (value: string) => unicode === "none" ? value : value.normalize(unicode)
  let made = form(text.toWellFormed())
  if (hidden !== undefined) made = stripped(made, hidden)
  if (html !== "keep") made = sanitized(made, html === "basic")
  if (collapseWhitespace === true) {
    made = made.replaceAll(/[^\S\n]+/g, " ").replaceAll(/ ?\n ?/g, "\n").replaceAll(/\n{3,}/g, "\n\n")
  }
  if (trim === true) made = made.trim()
  return made === text ? text : form(made)
}

const isLonger = (text: string, max: number): boolean =>
  text.length > max && (text.length > 2 * max || Array.from(text).length > max)

/** At most so many code points, and whole visible characters. */
const cut = (text: string, max: number): string => {
  if (!isLonger(text, max)) return text
  const kept = Array.from(text.slice(0, 2 * max)).slice(0, max).join("")
  // A visible character longer than this is none: a letter under a heap of marks is cut.
  const from = Math.max(0, kept.length - 64)
  const last = new Intl.Segmenter().segment(text.slice(from, kept.length + 64)).containing(kept.length - from)
  return last === undefined || last.index === 0 ? kept : text.slice(0, from + last.index)
}

const check = (options: Options, name: string): Result.Result<Options, ConfigError> => {
  const { html, maxLength, strip = [], tooLong, unicode } = options
  const wrong = (key: string, expected: string, found: unknown) =>
    Result.fail(
      new ConfigError({
        key: `${name}.${key}`,
        message: `${name}.${key}: expected ${expected}, found ${String(found)}`
      })
    )
  if (maxLength !== undefined && !(Number.isInteger(maxLength) && maxLength > 0)) {
    return wrong("maxLength", "a whole number above 0", maxLength)
  }
  if (tooLong !== undefined && !["block", "truncate"].includes(tooLong)) {
    return wrong("tooLong", "block or truncate", tooLong)
  }
  if (html !== undefined && !["keep", "strip", "basic"].includes(html)) {
    return wrong("html", "keep, strip or basic", html)
  }
  if (unicode !== undefined && !["NFC", "NFKC", "none"].includes(unicode)) {
    return wrong("unicode", "NFC, NFKC or none", unicode)
  }
  const unknown = strip.find((kind) => !hiddenKinds.includes(kind))
  if (unknown !== undefined) return wrong("strip", `some of ${hiddenKinds.join(", ")}`, unknown)
  return Result.succeed(options)
}
