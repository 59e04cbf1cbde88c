/** Signals of injected instructions, and the forms of a text that are searched for them. */
import { hiddenPattern, stripHidden } from "../hiddenCharacters.ts"
import { unmasked } from "../unmasked.ts"
import { type Signal, textSignals } from "./injectionWords.ts"

export { textSignals } from "./injectionWords.ts"
export type { Signal } from "./injectionWords.ts"

/** Signals that alone make a text suspicious. Digits that are read as letters make orders in many languages. */
const certain = textSignals.filter(({ name, weight }) => weight >= 0.7 && name !== "tells-machine")

/** Signals that are searched for in the original text. */
export const rawSignals: ReadonlyArray<Signal> = [
  {
    name: "hidden-text",
    weight: 0.5,
    test: (text) =>
      nonAscii.test(text) && (tagText(text) !== "" || countHidden(text, zeroWidth) >= 5 || countHidden(text, bidi) >= 1)
  },
  {
    name: "encoded",
    weight: 0.7,
    test: (text) => [...decodedBlocks(text), ...unmasked(text)].some((inner) => certain.some(({ test }) => test(inner)))
  }
]

/** The names of all signals. */
export const signalNames: ReadonlyArray<string> = [...textSignals, ...rawSignals].map(({ name }) => name)

/** All characters that can hide text are outside of ASCII. */
const nonAscii = /[^\p{ASCII}]/u
const tags = hiddenPattern(["tags"])
const zeroWidth = hiddenPattern(["zero-width"])
const bidi = /[\u202a-\u202e\u2066-\u2069]/gu
const allHidden = hiddenPattern(["control", "zero-width", "bidi", "tags"])

/** Matches all texts except visible ASCII in lines, with single spaces. */
const needsNormalizing = /[^!-~\n ]| {2}/

/** Normalizes a text: compatible letters, no invisible characters, single spaces. Hidden text is appended. */
export const normalizeText = (text: string): string => {
  if (!needsNormalizing.test(text)) return text
  const visible = stripHidden(text.toWellFormed().normalize("NFKC"), allHidden).replaceAll(/[^\S\n]+/g, " ")
  const hidden = tagText(text)
  return hidden === "" ? visible : `${visible}\n${hidden}`
}

/** The text that is hidden in tag characters, apart from flags. */
const tagText = (text: string): string => {
  if (!text.includes("\udb40")) return ""
  const found = text.match(tags) ?? []
  const hidden = found.map((tag) => String.fromCharCode(tag.codePointAt(0)! & 0x7f)).join("").replaceAll(
    /[^\x20-\x7e]/g,
    ""
  )
  return hidden.length > 6 ? hidden : ""
}

const countHidden = (text: string, hidden: RegExp): number => text.length - stripHidden(text, hidden).length

/** The first sixteen Base64 blocks that decode to readable text. */
const decodedBlocks = (text: string): ReadonlyArray<string> =>
  text.length < 20 ? [] : Array.from(text.matchAll(/(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{20,8192}={0,2}/g)).slice(0, 16)
    .map(([block]) => Buffer.from(block, "base64").toString("latin1"))
    .filter((inner) => /^[\s!-~]{12,}$/.test(inner))
