/**
 * Normalizes the messages of users and, if wanted, the results of tools: limited length, no HTML, no invisible
 * characters.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import { checkOptions, oneOf, whole } from "@belay/core/OptionCheck"
import * as Result from "effect/Result"
import * as HookDefaults from "../HookDefaults.ts"
import { withoutUndefined } from "../internal/withoutUndefined.ts"
import { type HiddenKind, hiddenKinds, hiddenPattern, stripHidden } from "./internal/hiddenCharacters.ts"
import { sanitizeHtml } from "./internal/html.ts"
import { mapTexts } from "./internal/responseTexts.ts"

/** Options of `TextNormalizer.make`. @category models @since 0.1.0 */
export interface Options extends HookDefaults.HookDefaults {
  /** The longest message in Unicode code points, counted after all other changes. Default no limit. */
  readonly maxLength?: number
  /**
   * What happens to a longer message: it is rejected (`block`), or cut after a whole visible character (`truncate`).
   * The results of tools are always cut. Default `block`.
   */
  readonly tooLong?: "block" | "truncate"
  /**
   * What happens to HTML. `keep`: nothing. `strip`: tags, comments, scripts and styles are removed. `basic`: the same,
   * but formatting such as `<b>`, `<p>` and `<li>` stays, without attributes. Default `keep`.
   */
  readonly html?: "keep" | "strip" | "basic"
  /** The Unicode form. `NFKC` also converts lookalikes, such as full-width letters, to plain letters. Default `NFC`. */
  readonly unicode?: "NFC" | "NFKC" | "none"
  /**
   * Kinds of invisible characters to remove: `control` (except tab and line end), `zero-width`, `bidi` (which change
   * the direction of text), `tags` (which can contain hidden text). Emoji and scripts keep the joiners that they need.
   * Default: all.
   */
  readonly strip?: ReadonlyArray<HiddenKind>
  /** Whether several spaces become one, and more than two line ends become two. Default false. */
  readonly collapseWhitespace?: boolean
  /** Whether white space is removed from both ends. Default false. */
  readonly trim?: boolean
  /** Whether the texts in the results of tools are normalized too. Default false. */
  readonly toolResults?: boolean
}

const optionKinds: HookDefaults.OwnKinds<Options> = {
  maxLength: "number",
  tooLong: "text",
  html: "text",
  unicode: "text",
  strip: "list",
  collapseWhitespace: "flag",
  trim: "flag",
  toolResults: "flag"
}

/**
 * Normalizes the message of a turn before other hooks see it. Throws a `ConfigError` for invalid options.
 *
 * @example
 * ```ts
 * import * as TextNormalizer from "@belay/hooks/TextNormalizer"
 *
 * const normalizer = TextNormalizer.make({
 *   maxLength: 8_000,
 *   tooLong: "truncate",
 *   html: "strip",
 *   unicode: "NFKC",
 *   toolResults: true
 * })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options = {}): AgentHook => {
  HookDefaults.checkKinds("text-normalizer", options, optionKinds)
  const { maxLength, name = "text-normalizer", strip = hiddenKinds, tooLong = "block" } = options
  Result.getOrThrow(checkOptions(
    name,
    whole("maxLength", maxLength, 1),
    oneOf("tooLong", tooLong, ["block", "truncate"]),
    oneOf("html", options.html, ["keep", "strip", "basic"]),
    oneOf("unicode", options.unicode, ["NFC", "NFKC", "none"]),
    ...strip.map((kind) => oneOf("strip", kind, hiddenKinds))
  ))
  const hidden = strip.length === 0 ? undefined : hiddenPattern(strip)
  const normalizeResult = (text: string): string => {
    const normalized = normalize(text, options, hidden)
    return maxLength === undefined ? normalized : truncate(normalized, maxLength)
  }
  return HookDefaults.apply(
    options,
    withoutUndefined<AgentHook>({
      name,
      priority: 0,
      kind: "policy",
      preTurn: (turn) => {
        const message = normalize(turn.message, options, hidden)
        if (maxLength === undefined || !isLonger(message, maxLength)) {
          return message === turn.message ? undefined : HookAction.transform({ ...turn, message })
        }
        return tooLong === "block"
          ? HookAction.reject(`the message is longer than ${maxLength} characters`)
          : HookAction.transform({ ...turn, message: truncate(message, maxLength) })
      },
      postToolCall: options.toolResults === true
        ? ({ result }) => {
          if (!result.ok) {
            const error = normalizeResult(result.error)
            return error === result.error ? undefined : HookAction.transform({ ok: false as const, error })
          }
          const output = mapTexts(result.output, normalizeResult)
          return JSON.stringify(output) === JSON.stringify(result.output)
            ? undefined
            : HookAction.transform({ ok: true as const, output })
        }
        : undefined
    })
  )
}

const normalize = (
  text: string,
  { collapseWhitespace, html = "keep", trim, unicode = "NFC" }: Options,
  hidden: RegExp | undefined
): string => {
  const form = (value: string) => unicode === "none" ? value : value.normalize(unicode)
  let normalized = form(text.toWellFormed())
  if (hidden !== undefined) normalized = stripHidden(normalized, hidden)
  if (html !== "keep") normalized = sanitizeHtml(normalized, html === "basic")
  if (collapseWhitespace === true) {
    normalized = normalized.replaceAll(/[^\S\n]+/g, " ").replaceAll(/ ?\n ?/g, "\n").replaceAll(/\n{3,}/g, "\n\n")
  }
  if (trim === true) normalized = normalized.trim()
  return normalized === text ? text : form(normalized)
}

const isLonger = (text: string, max: number): boolean =>
  text.length > max && (text.length > 2 * max || Array.from(text).length > max)

/** Cuts a text to a number of code points, after a whole visible character. */
const truncate = (text: string, max: number): string => {
  if (!isLonger(text, max)) return text
  const cut = Array.from(text.slice(0, 2 * max)).slice(0, max).join("")
  // A character with more marks than this is cut.
  const from = Math.max(0, cut.length - 64)
  const last = new Intl.Segmenter().segment(text.slice(from, cut.length + 64)).containing(cut.length - from)
  return last === undefined || last.index === 0 ? cut : text.slice(0, from + last.index)
}
