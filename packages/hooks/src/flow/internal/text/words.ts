/** How values and texts are compared: in one spelling, by whole words and whole tokens. */

/** A text in one spelling: compatible letters, lower case, single spaces. */
export const plain = (text: string): string => {
  // Most values are short and have letters of one spelling only.
  const lower = (/^[\x20-\x7e]*$/.test(text) ? text : text.normalize("NFKC")).toLowerCase()
  return /\s\s|[^\S ]|^\s|\s$/.test(lower) ? lower.replace(/\s+/g, " ").trim() : lower
}

/** Longer texts are compared as they are. */
const maxValue = 2_000

// A star stays: in a value it stands for everything.
const edges = /^[\s"'`“”‘’«»<([{_,;:!?¿¡|]+|[\s"'`“”‘’«»>)\]}_,;:!?.|]+$/g

/** A value in the form in which values are compared: addresses and numbers have one spelling too. */
export const canonical = (value: string | number): string => {
  if (typeof value === "number") return String(value)
  const text = value.trim()
  if (text.length > maxValue) return text
  if (isNumber(text)) return String(Number(text))
  // Most values are one word, which has one spelling.
  if (/^[A-Za-z\d]+$/.test(text)) return text.toLowerCase()
  const address = urlOf(text)
  if (address !== undefined) return address
  const spelling = plain(text)
  const bare = spelling.replace(edges, "")
  // `.` is a folder, and not nothing.
  return pathOf(bare === "" ? spelling : bare)
}

/** A word without the stars that mark it in a text. */
export const unmarked = (token: string): string => token.replace(/^\*+|\*+$/g, "")

/** Whether a value can stand for other values, such as `reports/*`. */
export const isWild = (value: string): boolean => /[*[\]{}^|]|\D%|^%/.test(value)

/** Whether a text is a number, such as `12`, `-3.50` or `118.4`. A long one with a leading 0 is a telephone number. */
export const isNumber = (text: string): boolean => /^-?(?:[1-9]\d{0,14}|0\d{0,3})(?:\.\d{1,10})?$/.test(text)

/** The words of a text, in order. */
export const wordsOf = (text: string): ReadonlyArray<string> => plain(text).match(/[\p{L}\p{N}]+/gu) ?? []

/** The tokens of a text: what stands between spaces, brackets, quotes, commas and semicolons, as it was written. */
export const tokensOf = (text: string): ReadonlyArray<string> =>
  text.split(/[\s,;()"'`“”‘’«»<>[\]{}|]+/).filter((token) => token !== "")

/** How many characters of one text are searched for tokens that only questions need. */
const maxSearched = 200_000

/**
 * Calls `take` with each token of a text that has a digit or one of the signs of addresses, until it returns false. It
 * reads characters, because a list of all tokens of a long result would be larger than the result.
 */
export const eachTellingToken = (text: string, take: (token: string) => boolean): void => {
  const end = Math.min(text.length, maxSearched)
  let start = 0
  let isTelling = false
  for (let index = 0; index <= end; index++) {
    const code = index === end ? space : text.charCodeAt(index)
    const kind = code < 128 ? kinds[code] : separators.has(code) ? separates : 0
    if (kind === separates) {
      if (isTelling && !take(text.slice(start, index))) return
      start = index + 1
      isTelling = false
    } else if (kind === tells) isTelling = true
  }
}

const space = 32
const separates = 1
const tells = 2

/** The characters outside of ASCII that separate tokens: quotation marks and spaces. */
const separators = new Set(
  Array.from(
    "«»‘’“”\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029" +
      "\u202f\u205f\u3000\ufeff",
    (sign) => sign.charCodeAt(0)
  )
)

/** What each ASCII character does in a token. */
const kinds = Uint8Array.from({ length: 128 }, (_, code) => {
  const sign = String.fromCharCode(code)
  return /[\s,;()"'`<>[\]{}|]/.test(sign) ? separates : /[\d@/.:_-]/.test(sign) ? tells : 0
})

/** The sentences of a text. A phrase does not go across their ends. */
export const sentencesOf = (text: string): ReadonlyArray<string> => text.split(/[.!?;:]\s|\n/)

/** Whether a value is a text rather than a short value. */
export const isText = (value: string): boolean =>
  value.length > 80 || value.includes("\n") || (value.match(/\S+/g)?.length ?? 0) > 6

/**
 * Whether a value is written like an address, a path or a URL. Parts of such a value do not count. A stroke between
 * spaces is none: `Ada / review`.
 */
export const isAddress = (value: string): boolean =>
  /[@\\]|\/(?! )|(?<! )\/|:\S|[\p{L}\p{N}]\.[\p{L}\p{N}]/u.test(value)

/** Whether a text contains characters that nobody sees, so that it is not what it looks like. */
export const isDisguised = (value: string): boolean => /[\p{Cf}\p{Co}\u{115f}\u{1160}\u{3164}\u{ffa0}]/u.test(value)

/** A number that people write in groups, such as an account or a telephone number, without its gaps. */
export const compact = (value: string): string | undefined => {
  const joined = plain(value).replace(/[\s().-]/g, "")
  return /^\+?[a-z0-9]{8,40}$/.test(joined) && (joined.match(/\d/g)?.length ?? 0) >= 6 ? joined : undefined
}

/** Returns a URL in one spelling: its host as the network sees it, its path decoded. `undefined` for other texts. */
const urlOf = (text: string): string | undefined => {
  if (!/^(?:https?|wss?|ftp):\/\/|^www\./i.test(text)) return undefined
  const trimmed = text.replace(/[)\]}>"'.,;:!?]+$/, "")
  const parsed = URL.parse(/^www\./i.test(trimmed) ? `https://${trimmed}` : trimmed)
  if (parsed === null) return plain(text)
  const login = parsed.username === "" && parsed.password === "" ? "" : `${parsed.username}:${parsed.password}@`
  const rest = `${decoded(parsed.pathname)}${decoded(parsed.search)}${parsed.hash}`
  return `${parsed.protocol}//${login}${parsed.host}${rest.replace(/\/$/, "")}`
}

const decoded = (text: string): string =>
  text.replace(/%[2-7][0-9a-f]/gi, (code) => {
    const letter = String.fromCharCode(Number.parseInt(code.slice(1), 16))
    // A decoded sign could change what the address means.
    return /[\w.~-]/.test(letter) ? letter : code.toLowerCase()
  })

/** Returns a path without `.` and `..`, and other texts as they are. */
const pathOf = (text: string): string => {
  if (!/[/\\]/.test(text) || /[\s@]|:\//.test(text)) return text
  const parts: Array<string> = []
  const unix = text.replaceAll("\\", "/")
  for (const part of unix.split("/")) {
    if (part === "" || part === ".") continue
    if (part === ".." && parts.length > 0 && parts.at(-1) !== "..") parts.pop()
    else parts.push(part)
  }
  return `${unix.startsWith("/") ? "/" : ""}${parts.join("/")}`
}
