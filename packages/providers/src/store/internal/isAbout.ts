/** Finds the standing approvals in which people are named. */
import type { StandingRule } from "@belay/core/Approvals"

/**
 * Whether a standing approval has one of the names, as words of their own, in its arguments or among those who approved
 * it. `rule` is its JSON as it is stored, and may be damaged.
 */
export const isAbout = (rule: string, names: ReadonlyArray<string>): boolean => {
  const { approvedBy = [], fingerprint = [] } = (readJson(rule) ?? { fingerprint: rule }) as Partial<StandingRule>
  const texts = [approvedBy, fingerprint].flatMap(textsIn)
  return names.some((name) => texts.some((text) => hasWords(text, name)))
}

/**
 * All texts, names of fields and numbers in a value, and those in texts that are JSON themselves, as fingerprints are.
 */
const textsIn = (value: unknown): ReadonlyArray<string> => {
  if (typeof value === "number") return [String(value)]
  if (typeof value === "string") {
    const read = readJson(value)
    return read === undefined ? [value] : textsIn(read)
  }
  if (Array.isArray(value)) return value.flatMap(textsIn)
  return Object.entries(Object(value)).flatMap(([name, field]) => [name, ...textsIn(field)])
}

const readJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const isPartOfWord = /[\p{L}\p{N}]/u

const hasWords = (text: string, words: string): boolean => {
  for (let at = text.indexOf(words); at >= 0; at = text.indexOf(words, at + 1)) {
    const [before = "", after = ""] = [text[at - 1], text[at + words.length]]
    if (!isPartOfWord.test(before) && !isPartOfWord.test(after)) return true
  }
  return false
}
