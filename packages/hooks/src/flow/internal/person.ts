/** What the person said: the only words that ground values. */
import type { ArgumentClass } from "./argumentClass.ts"
import { hearAway } from "./away.ts"
import type { Memory } from "./memory.ts"
import { add, has, indexIn, shortened } from "./text/hashes.ts"
import { isIdName, kindsOfId, partsOf, singular, wordSet } from "./text/names.ts"
import { dayOfValue, daysIn, numbersIn, spelled } from "./text/numbers.ts"
import {
  canonical,
  compact,
  isAddress,
  isDisguised,
  isNumber,
  isText,
  isWild,
  plain,
  sentencesOf,
  tokensOf,
  unmarked,
  wordsOf
} from "./text/words.ts"

/** How many characters of a message are the words of the person. More words are not remembered anyway. */
export const maxMessage = 60_000

/** Stands between two sentences, so that no phrase goes across. */
export const breakMark = "......"

/** Remembers a message of the person. Quoted documents in it are not the person's words. */
export const hear = (memory: Memory, message: string): void => {
  // Of a very long message, the end counts.
  const own = withoutQuotes(message.slice(-maxMessage))
  const { hash } = memory
  const tokens = new Set<string>()
  let sequence = ""
  for (const sentence of sentencesOf(own)) {
    const words = wordsOf(sentence)
    sequence += words.map(hash).join("") + breakMark
    for (const token of saidTokens(sentence, words)) tokens.add(hash(token))
  }
  memory.set("words", shortened(memory.get("words") + sequence))
  memory.set("tokens", add(memory.get("tokens"), tokens))
  hearAway(memory, own)
  memory.set("heard", add(memory.get("heard"), new Set([hash(plain(message))])))
}

/** Whether a message is one of the person's as a whole. */
export const isHeard = (memory: Memory, message: string): boolean =>
  has(memory.get("heard"), memory.hash(plain(message)))

/** Leaves out what the person only passes on: quoted lines, fenced blocks, tagged documents and forwarded mails. */
export const withoutQuotes = (message: string): string =>
  withoutTags(message.replace(/(```|~~~)[\s\S]*?(?:\1|$)/g, "\n"))
    .replace(/^[ \t]*>.*$/gm, "\n")
    .replace(/^[ \t]{0,8}-{2,80}[ \t]{0,8}(?:original|forwarded|begin)\b[\s\S]*$/gim, "\n")

/** Leaves out elements such as `<document>...</document>`. */
const withoutTags = (text: string): string => {
  if (!text.includes("</")) return text
  const kept: Array<string> = []
  const unclosed = new Set<string>()
  const lower = text.toLowerCase()
  let end = 0
  for (const match of text.matchAll(/<([a-z][\w-]{0,40})\b[^<>]{0,200}>/gi)) {
    const name = match[1]!.toLowerCase()
    if (match.index < end || unclosed.has(name)) continue
    const close = lower.indexOf(`</${name}>`, match.index)
    if (close < 0) {
      // Each name is searched for once, and only some names.
      if (unclosed.add(name).size > 50) break
      continue
    }
    kept.push(text.slice(end, match.index), "\n")
    end = close + name.length + 3
  }
  return kept.join("") + text.slice(end)
}

/** Numbers that stand alone: not those of a date, a path or a code. */
const amounts = /(?<![\w@/.#-])(?:[A-Z]{3})?[€$£¥]?-?\d[\d.,']*(?:[km]\b)?(?![\w@/-])/g

/** Numbers that say no quantity: those of accounts, telephones, files, times, and of things such as `invoice 4711`. */
const noAmounts = [
  /\b[a-z]{2}\d{2}(?: ?[a-z\d]{2,4}){3,8}\b/gi,
  /(?<!\w)(?:\+\d{1,3}[ /-]?|0)\d{2,4}[ /-]?\d{3,}(?:[ -]?\d+)*(?!\w)/g,
  /\b\d{4}(?:[ -]\d{4}){2,4}\b/g,
  /\b\d{1,2}:\d\d(?::\d\d)?\b/g,
  /\b\d+\.[a-z]{2,5}\d?\b/gi,
  new RegExp(
    String.raw`\b(?:invoice|ticket|case|issue|account|customer|ref|reference|number|no\.?|nr\.?|id|flight|phone|` +
      String.raw`card|rechnung)[ :]+#?\d{4,}\b(?! ?(?:[€$£¥]|eur|usd|gbp|dollar|pound|yen|franc|chf))`,
    "gi"
  )
]

/** What people call the currencies that tools have codes for. */
const currencies = new Map(
  ["eur € euro euros", "usd $ dollar dollars", "gbp £ pound pounds", "jpy ¥ yen", "chf franken francs"].flatMap(
    (line) => {
      const [code = "", ...names] = line.split(" ")
      return names.map((name) => [name, code] as const)
    }
  )
)

/** Numbers after the plural of what they are of: `tickets 17, 18 and 19`. */
const listed = ((number: string, noId: string) =>
  new RegExp(
    String.raw`(\p{L}{2,30}s) (${number}(?:, ?${number})*` +
      String.raw`(?:,? (?:and|or|und|oder|&) ${number}(?!\d| ?(?:${noId}))|(?=\W*$)))`,
    "giu"
  ))(
    String.raw`#?\d{1,15}`,
    String.raw`[%€$£¥]|more\b|times\b|eur|usd|gbp|dollar|pound|yen|franc|chf`
  )

/** The tokens of a sentence with the numbers, days and grouped numbers that it names. */
function* saidTokens(sentence: string, words: ReadonlyArray<string>): Generator<string> {
  let group = ""
  for (const token of tokensOf(sentence)) {
    if (!/[\p{L}\p{N}]/u.test(token)) continue
    yield canonical(token)
    if (/^\*|\*$/.test(token)) yield canonical(unmarked(token))
    if (token.startsWith("#")) yield canonical(token.slice(1))
    const stem = stemOf(canonical(token))
    if (stem !== undefined) yield `s:${stem}`
    for (const domain of domainsAbove(token)) yield `z:${domain}`
    group = /\d/.test(token) && /^[+\w.()-]+$/.test(token) ? group + token : ""
    const joined = group === "" ? undefined : compact(group)
    if (joined !== undefined) yield `c:${joined}`
    if (/^#\d+[.,:]?$/.test(token)) yield `#${Number.parseInt(token.slice(1), 10)}`
  }
  for (const [, kind = "", list = ""] of sentence.matchAll(listed)) {
    for (const [number] of list.matchAll(/\d+/g)) yield `l:${singular(kind.toLowerCase())}:${Number(number)}`
  }
  const counted = /\d/.test(sentence) ? noAmounts.reduce((text, one) => text.replace(one, " "), sentence) : ""
  for (const [text] of counted.matchAll(amounts)) for (const number of numbersIn(text)) yield `n:${number}`
  for (const number of spelled(words)) yield `n:${number}`
  for (const [name] of sentence.matchAll(/[€$£¥]|\p{L}+/gu)) {
    const currency = currencies.get(name.toLowerCase())
    if (currency !== undefined) yield currency
  }
  for (const day of daysIn(words)) yield `d:${day}`
  // A word with a capital letter inside of a sentence is a name.
  for (const [name] of sentence.matchAll(/(?<=[\p{Ll}\d,:(] )\p{Lu}\p{Ll}{2,}/gu)) {
    const word = name.toLowerCase()
    if (!filler.has(word) && !noNames.test(word)) yield `N:${word}`
  }
}

/** Whether the person said a value. Addresses count as a whole only, and a bare number names no id. */
export const said = (memory: Memory, value: string | number, about: About): boolean => {
  const key = canonical(value)
  if (key === "" || (typeof value === "string" && isDisguised(value))) return false
  const { hash } = memory
  const tokens = memory.get("tokens")
  if (isNumber(key)) return about.class === "id" ? saidId(memory, key, about) : has(tokens, hash(`n:${Number(key)}`))
  if (has(tokens, hash(key))) return true
  const joined = compact(key)
  if (joined !== undefined && has(tokens, hash(`c:${joined}`))) return true
  // The words around a star do not say what it stands for. A command is compared as a whole.
  if (about.class !== "command" && isWild(key)) return false
  const moment = dayOfValue(key)
  if (moment !== undefined) return has(tokens, hash(`d:${moment.date}`)) || has(tokens, hash(`d:${moment.day}`))
  // These are compared as a whole, also with spaces around a stroke.
  const isWhole = isAddress(key) || (key.includes("/") && /^(?:command|path|url)$/.test(about.class))
  if (isWhole && !isSpacedFile(key)) {
    if (about.class === "path" && saidConverted(memory, key)) return true
    if (about.class === "url" && /zone|domain/i.test(about.name) && has(tokens, hash(`z:${key}`))) return true
    return about.class === "path" ? saidPath(memory, key) : about.class === "url" && saidWithoutScheme(memory, key)
  }
  const words = wordsOf(key.replace(unit, "$1 $2"))
  if (words.length === 0) return false
  if (words.length === 1 && spelled(words).some((number) => has(tokens, hash(`n:${number}`)))) return true
  return indexIn(memory.get("words"), words.map(hash).join("")) >= 0
}

/** The name of a file that has spaces: `Budget 2027.xlsx`. All its words have to be said, also its ending. */
const isSpacedFile = (key: string): boolean => /^[^@/\\:]*\s[^@/\\:]*\.[a-z]\w{0,4}$/.test(key)

/** Whether the person named a currency, and not this one. */
export const saidOtherCurrency = (memory: Memory, value: string | number): boolean => {
  const isSaid = (code: string) => has(memory.get("tokens"), memory.hash(code))
  return !isSaid(canonical(value)) && [...new Set(currencies.values())].some(isSaid)
}

/** A number with its unit, such as `200mg`. */
const unit = /^(\d+(?:[.,]\d+)?)(\p{L}{1,5})$/u

/** The path of a file without its ending; `undefined` for other tokens. */
const stemOf = (token: string): string | undefined => /^([^@:]*[\w-])\.[a-z]\w{0,4}$/.exec(token)?.[1]

/** A file is said too if the person named one that has only another ending, and said that ending: `a.csv` to JSON. */
const saidConverted = (memory: Memory, path: string): boolean => {
  const [stem, ending] = [stemOf(path), /\w+$/.exec(path)?.[0] ?? ""]
  return stem !== undefined && has(memory.get("tokens"), memory.hash(`s:${stem}`)) &&
    [ending, ...(formats[ending] ?? [])].some((word) => has(memory.get("words"), memory.hash(word)))
}

/** What people call the formats of some endings. */
const formats: { readonly [ending: string]: ReadonlyArray<string> | undefined } = {
  md: ["markdown"],
  txt: ["text"],
  yml: ["yaml"],
  jpg: ["jpeg"],
  docx: ["word"],
  xlsx: ["excel"],
  pptx: ["powerpoint"],
  htm: ["html"]
}

/** The domains in which a host is, those of two names and more: `b.example` for `a.b.example`. */
const domainsAbove = (token: string): ReadonlyArray<string> => {
  const host = /^(?:https?:\/\/)?((?:[a-z\d-]+\.)+[a-z]{2,})(?:[/:?#].*)?$/i.exec(token.toLowerCase())?.[1]
  const names = host?.split(".") ?? []
  return names.slice(1, -1).map((_, index) => names.slice(index + 1).join("."))
}

/** The argument that a value is for. */
export interface About {
  readonly class: ArgumentClass
  /** The name of the argument, and of the tool. */
  readonly name: string
  readonly tool: string
}

/** A number is an id if the person said what it is of: `ticket 12`, `order number 12`, `#12`. */
const saidId = (memory: Memory, number: string, { name, tool }: About): boolean => {
  const { hash } = memory
  const words = memory.get("words")
  const tokens = memory.get("tokens")
  if (has(tokens, hash(`#${number}`))) return true
  const kinds = kindsOfId(name, tool)
  if (kinds.some((kind) => has(tokens, hash(`l:${kind}:${number}`)))) return true
  const own = hash(number)
  return has(words, own) &&
    ["id", "number", "no", "nr", ...kinds].some((kind) =>
      [kind, `${kind}s`].some((word) => indexIn(words, hash(word) + own) >= 0)
    )
}

/** People leave out the scheme. What may be the name of a file names no host. */
const saidWithoutScheme = (memory: Memory, url: string): boolean => {
  const rest = /^https?:\/\/(.+)$/.exec(url)?.[1]
  return rest !== undefined && /^[^/]+\.[^/]/.test(rest) &&
    !/^[^/]+\.(?:md|zip|sh|py|rs|pl|mov|ps|cc|so|app|pub|tf|vi)$/.test(rest) &&
    has(memory.get("tokens"), memory.hash(rest))
}

/** A path is said too if the person said its folders and its name, each as a whole. */
const saidPath = (memory: Memory, path: string): boolean => {
  const parts = path.split("/").filter((part) => part !== "")
  const name = parts.at(-1)
  const isSaid = (part: string) =>
    has(memory.get("tokens"), memory.hash(part)) ||
    (!isAddress(part) && indexIn(memory.get("words"), wordsOf(part).map(memory.hash).join("")) >= 0)
  if (name === undefined || parts.includes("..") || !path.includes("/")) return false
  if (/\.\w+$/.test(name)) return parts.every(isSaid)
  // A folder at the root: `the folder backup`.
  const [word, words] = [memory.hash(name), memory.get("words")]
  return parts.length === 1 &&
    folderWords.map(memory.hash).some((folder) =>
      indexIn(words, folder + word) >= 0 || indexIn(words, word + folder) >= 0
    )
}

const folderWords = ["folder", "directory", "ordner", "verzeichnis"]

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
    // People say `two blue mugs` of a record with the name `Blue mug`.
    const isUsed = (word: string) =>
      [word, singular(word), `${singular(word)}s`].some((form) => has(words, memory.hash(form)))
    // Most values of a list have no word of the person.
    if (!/\d/.test(value) && !own.some(isUsed)) return []
    const used = telling(own).filter(isUsed).map(singular)
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

/** Words with a capital letter that name nothing: days, months, languages of many things. */
const noNames = new RegExp(
  "^(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august|" +
    "september|october|november|december|english|german|french|spanish|please|thanks|invoice|rechnung)$"
)

/** Words that say nothing about which record is meant. */
const filler = wordSet(
  `the and for with our you your from that this what when which where who how all any are was were has have had not out
   one two its his her she they them their there then than into onto about after before please can could will would
   just some also now but via per day date time name mail email user item new own let make get put give tell say`
)

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
