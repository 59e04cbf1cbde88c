/** Finds values of secret sources in what would leave: as they are, and encoded. */
import { add, maxLength, setOf, width } from "./text/hashes.ts"
import type { Leaf } from "./text/leaves.ts"
import { compact, tokensOf, wordsOf } from "./text/words.ts"

/** How many words in a row of a longer text are recognised. */
const shingle = 5

/** The hashes by which the values of a secret source are recognised. */
export const secretsIn = (
  leaves: ReadonlyArray<Leaf>,
  hash: (text: string) => string,
  isSaid: (value: string) => boolean
): ReadonlySet<string> => {
  const found = new Set<string>()
  for (const { value } of leaves) {
    if (typeof value === "boolean" || isSaid(String(value))) continue
    for (const one of tracesOf(String(value), true)) found.add(hash(`s:${one}`))
  }
  return found
}

/** Stands for more secrets than can be kept: everything may be one. */
const everything = "*"

/** Adds secrets. None is forgotten. */
export const withSecrets = (secrets: string, added: ReadonlySet<string>): string =>
  secrets === everything || secrets.length + added.size * width > maxLength ? everything : add(secrets, added)

/** Whether a text contains a value of a secret source. */
export const leaks = (
  text: string,
  secrets: string,
  hash: (text: string) => string,
  isSaid: () => boolean
): boolean => {
  if (secrets === "") return false
  if (secrets === everything) return text.trim() !== "" && !isSaid()
  const known = setOf(secrets)
  for (const version of versionsOf(text)) {
    for (const one of tracesOf(version, false)) if (known.has(hash(`s:${one}`))) return true
  }
  return false
}

/** What a text is recognised by: its telling tokens, grouped numbers, and words in a row. */
function* tracesOf(text: string, isSecret: boolean): Generator<string> {
  const words = wordsOf(text)
  const isTelling = words.length > 1
    ? words.join("").length >= 4
    : /\d/.test(text)
    ? text.length >= 3
    : text.length >= 8
  if (isSecret && words.length <= shingle && isTelling) yield words.join(" ")
  if (!isSecret) {
    for (let length = 1; length < shingle; length++) {
      for (let index = 0; index + length <= words.length; index++) yield words.slice(index, index + length).join(" ")
    }
  }
  for (let index = 0; index + shingle <= words.length; index++) yield words.slice(index, index + shingle).join(" ")
  if (isSecret) {
    for (const token of tokensOf(text)) if (!token.includes("://")) yield* partsOf(token, 4)
  } else yield* partsOf(text, 1)
  let group = ""
  for (const token of [...tokensOf(text), ...text.split(/[\s,;=&?/:"'()<>[\]{}|]+/)]) {
    const bare = token.toLowerCase().replace(/^\W+|\W+$/g, "")
    if (bare.length >= 6 && /\d/.test(bare)) yield bare
    group = /\d/.test(token) && /^[+\w.()-]+$/.test(token) ? group + token : ""
    const joined = group === "" ? undefined : compact(group)
    if (joined !== undefined) yield `c:${joined}`
  }
}

/** Parts of eight letters and digits with a digit, by which a secret is recognised that is cut or spaced out. */
function* partsOf(text: string, stride: number): Generator<string> {
  const letters = text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "")
  const last = letters.length - 8
  for (let index = 0; index <= last; index = index < last ? Math.min(index + stride, last) : last + 1) {
    const part = letters.slice(index, index + 8)
    if (/\d/.test(part)) yield `g:${part}`
  }
}

/** The text as it is, without gaps, and with its encoded parts decoded, also those that are encoded twice. */
function* versionsOf(text: string, depth = 0): Generator<string> {
  yield text
  if (/%[0-9a-f]{2}/i.test(text)) {
    yield text.replace(/%([0-9a-f]{2})/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
  }
  for (const [token] of text.matchAll(/[A-Za-z0-9+/_-]{8,4096}={0,2}/g)) {
    const decoded = Buffer.from(token, "base64").toString("utf8")
    if (/^[\x20-\x7e\s]{4,}$/.test(decoded)) {
      if (depth < 2) yield* versionsOf(decoded, depth + 1)
      else yield decoded
    }
    if (/^(?:[0-9a-f]{2}){4,}$/i.test(token)) yield Buffer.from(token, "hex").toString("utf8")
  }
  const joined = text.replace(/["'\s+,.-]+/g, "")
  if (joined !== text && joined.length >= 6) yield joined
  yield [...text].reverse().join("")
}
