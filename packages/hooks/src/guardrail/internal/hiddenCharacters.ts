/** The kinds of invisible characters, and the ones that a text needs. */

/** A kind of invisible characters. @category models @since 0.1.0 */
export type HiddenKind = "control" | "zero-width" | "bidi" | "tags"

export const hiddenKinds: ReadonlyArray<HiddenKind> = ["control", "zero-width", "bidi", "tags"]

const classes: { readonly [K in HiddenKind]: string } = {
  control: "\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f",
  "zero-width":
    "\\u00ad\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200d\\u2060-\\u2065\\u206a-\\u206f" +
    "\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff9-\\ufffb\\u{1d173}-\\u{1d17a}\\u{e0100}-\\u{e01ef}",
  bidi: "\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069",
  tags: "\\u{e0000}-\\u{e00ff}\\u{e01f0}-\\u{e0fff}"
}

/** A pattern that matches one character of these kinds. */
export const hiddenPattern = (kinds: ReadonlyArray<HiddenKind>): RegExp =>
  new RegExp(`[${kinds.map((kind) => classes[kind]).join("")}]`, "gu")

/**
 * Removes invisible characters, except those that visible characters are made of: joiners and selectors of emoji, the
 * flags of England, Scotland and Wales, joiners of scripts that need them, and selectors of Han characters.
 */
export const stripHidden = (text: string, hidden: RegExp): string =>
  text.replaceAll(hidden, (character, at: number) => isNeeded(text, character, at) ? character : "")

const isNeeded = (text: string, character: string, at: number): boolean => {
  const code = character.codePointAt(0)!
  if (code === 0x200d) {
    return (emojiEnd.test(before(text, at)) && /^\p{Extended_Pictographic}/u.test(next(text, at + 1))) ||
      isJoiner(text, at)
  }
  if (code === 0x200c) return isJoiner(text, at)
  if (code === 0xfe0f || code === 0xfe0e) return /[\p{Emoji}]$/u.test(before(text, at))
  if (code >= 0xe0100 && code <= 0xe01ef) return /\p{Script=Han}$/u.test(before(text, at))
  if (code >= 0xe0020 && code <= 0xe007f) {
    const start = Math.max(0, at - 14)
    const from = text.slice(start, at).lastIndexOf("\u{1f3f4}") + start
    return from >= start && flags.some((flag) => text.startsWith(flag, from) && at < from + flag.length)
  }
  return false
}

const emojiEnd = /(?:\p{Extended_Pictographic}|\p{Emoji_Modifier})\ufe0f?$/u

const flags = ["gbeng", "gbsct", "gbwls"].map((region) =>
  `\u{1f3f4}${Array.from(region, (letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join("")}\u{e007f}`
)

const scripts =
  ("Arabic Syriac Mongolian Nko Devanagari Bengali Gurmukhi Gujarati Oriya Tamil Telugu Kannada Malayalam Sinhala " +
    "Khmer Tibetan Myanmar").split(" ")
    .map((script) => `\\p{Script=${script}}`).join("")
const joinsAfter = new RegExp(`[${scripts}]$`, "u")
const joinsBefore = new RegExp(`^[${scripts}]`, "u")

const isJoiner = (text: string, at: number): boolean =>
  joinsAfter.test(before(text, at)) && joinsBefore.test(next(text, at + 1))

const before = (text: string, at: number): string => text.slice(Math.max(0, at - 4), at)

const next = (text: string, at: number): string => text.slice(at, at + 2)
