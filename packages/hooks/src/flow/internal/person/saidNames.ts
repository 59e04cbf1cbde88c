/** The names in a text, and the words that two texts share. */
import type { Memory } from "../memory.ts"
import { has } from "../text/hashes.ts"
import { isIdName, partsOf, singular } from "../text/names.ts"
import { dayOfValue } from "../text/numbers.ts"
import { canonical, isAddress, isNumber, isText, plain, wordsOf } from "../text/words.ts"
import { filler, said } from "./person.ts"

/** Words that stand in most records and name none. */
const common = /^(?:me|you|true|false|none|null|yes|no|ok|sent|open|closed|active|pending|confirmed|general|default)$/

/**
 * Returns the fields of a record by which the person named it: short ones that the person said, or whose words the
 * person all used.
 */
export const namesOf = (
  memory: Memory,
  fields: ReadonlyArray<readonly [string, string | number]>
): ReadonlyArray<string> => {
  const words = memory.get("words")
  return fields.flatMap(([field, value]) => {
    const key = canonical(value)
    if (isNumber(key)) {
      const about = { class: "id", name: field, tool: "" } as const
      return isIdName(field) && said(memory, value, about) ? [`${singular(partsOf(field).at(0) ?? "")} ${key}`] : []
    }
    if (typeof value !== "string" || isText(value) || common.test(key) || dayOfValue(key) !== undefined) return []
    const own = wordsOf(value)
    if (own.join("").length < 4) return []
    if (isAddress(key)) {
      const name = nameOfPath(key)
      return said(memory, value, { class: "other", name: field, tool: "" })
        ? [key]
        : name !== undefined && name.every((word) => has(words, memory.hash(word)))
        ? [name.join(" ")]
        : []
    }
    const used = telling(own).filter((word) => has(words, memory.hash(word)))
    const isNamed = said(memory, value, { class: "other", name: field, tool: "" }) || isMostlySaid(own, used)
    const proper = own.length <= 4 ? own.filter((word) => has(memory.get("tokens"), memory.hash(`N:${word}`))) : []
    // Records of which the person used the same words have one name, also if they have more words of their own.
    return [
      ...(isNamed ? [used.length === 0 ? plain(value) : used.toSorted().join(" ")] : []),
      ...(proper.length > 0 ? [`N:${proper.toSorted().join(" ")}`] : [])
    ]
  })
}

/** The words of the name of a file, without its ending: `contract`, `draft` of `/clients/contract-draft.docx`. */
const nameOfPath = (path: string): ReadonlyArray<string> | undefined => {
  const name = /[/\\]([^/\\@:]+?)(?:\.\w{1,8})?$/.exec(path)?.[1] ?? document.exec(path)?.[1]
  if (name === undefined) return undefined
  const all = wordsOf(name)
  // A year tells one file from another only where it was said; two such files have one name.
  const words = /[/\\]/.test(path) ? all : telling(all)
  return words.join("").length >= 4 ? words : undefined
}

const document = /^([^/\\@:]+)\.(?:xlsx?|docx?|pptx?|pdf|csv|txt|md|od[tsp]|png|jpe?g|zip|json|html?)$/

const telling = (words: ReadonlyArray<string>): ReadonlyArray<string> =>
  words.filter((word) => word.length > 2 && !filler.has(word) && !/^\d+$/.test(word))

/** Whether the person used most telling words of a field, and at least two. */
const isMostlySaid = (words: ReadonlyArray<string>, used: ReadonlyArray<string>): boolean =>
  used.length >= 2 && used.length >= telling(words).length * 0.6

/** How many telling words of a record the person used. */
export const sharedWords = (
  memory: Memory,
  fields: ReadonlyArray<readonly [field: string, value: string | number]>
): number => {
  const words = memory.get("words")
  const found = new Set<string>()
  for (const [, value] of fields) {
    if (typeof value === "number") {
      if (value > 9 && has(memory.get("tokens"), memory.hash(`n:${value}`))) found.add(String(value))
      continue
    }
    for (const word of wordsOf(value)) {
      if (word.length < 3 || filler.has(word) || found.has(word) || /^(?:19|20)\d\d$/.test(word)) continue
      if (has(words, memory.hash(word)) || has(words, memory.hash(singular(word)))) found.add(word)
    }
  }
  return found.size
}
