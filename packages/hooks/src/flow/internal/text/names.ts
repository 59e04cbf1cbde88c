/** The words in the names of tools and arguments. */

/** The words of a name: `sendMailTo`, `send-mail_to` and `send.mail.to` have the same. */
export const partsOf = (name: string): ReadonlyArray<string> => {
  const known = parts.get(name)
  if (known !== undefined) return known
  const found = split(name)
  if (name.length > 60) return found
  if (parts.size >= 1_000) parts.clear()
  parts.set(name, found)
  return found
}

/** Names are few, and most of them are seen with every call. */
const parts = new Map<string, ReadonlyArray<string>>()

const split = (name: string): ReadonlyArray<string> =>
  name.replace(/([\p{Ll}\d])(\p{Lu})/gu, "$1 $2").replace(/(\p{Lu}+)(\p{Lu}\p{Ll})/gu, "$1 $2").toLowerCase()
    .split(/[^\p{L}\p{N}]+/u).filter((part) => part !== "")

/** A word without the ending of its plural. */
export const singular = (word: string): string =>
  !word.endsWith("s") || /(?:ss|us|is)$/.test(word)
    ? word
    : word.replace(/ies$/, "y").replace(/(?<=ch|sh|x|s)es$/, "").replace(/s$/, "")

/** A set of words, written with spaces. */
export const wordSet = (words: string): ReadonlySet<string> => new Set(words.trim().split(/\s+/))

const idWords = wordSet("id ids uuid guid number no nr num ref reference key sku code slug handle sha hash identifier")

/** Whether the name of a field says that it identifies something: `order_id`, `orderNumber`, `sku`. */
export const isIdName = (name: string): boolean => {
  const last = partsOf(name).at(-1)
  return last !== undefined && idWords.has(last)
}

/** The things that an id can be of, by the name of its field, and if that says nothing, by the name of the tool. */
export const kindsOfId = (field: string, tool: string): ReadonlyArray<string> => {
  const own = partsOf(field).filter((part) => !idWords.has(part)).map(singular)
  return own.length > 0 ? own.slice(-1) : [...new Set(partsOf(tool).map(singular))]
}
