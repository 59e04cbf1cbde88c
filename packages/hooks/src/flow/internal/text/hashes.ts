/**
 * Sets and sequences of values that hold no text: six characters for each value, in one string. The hash has a key
 * that is made for each conversation, so that nobody outside can look for another value with the same hash.
 */
import { nodeCrypto } from "../../../internal/nodeCrypto.ts"

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
const codes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0))

/** How many characters a value takes. */
export const width = 6

/** The greatest length of a set. The oldest values are forgotten then, so that more is asked and never less. */
export const maxLength = 48_000

/** Makes the key of a conversation. */
export const makeKey = (): string => {
  // The platform keeps a store of random UUIDs. Both ends of one are random.
  const id = nodeCrypto().randomUUID()
  return id.slice(0, 8) + id.slice(-8)
}

/** Returns the function that hashes values with a key. */
export const hasher = (key: string): (text: string) => string => {
  const first = Number.parseInt(key.slice(0, 8), 16)
  const second = Number.parseInt(key.slice(8, 16), 16)
  return (text) => {
    let a = 0xdeadbeef ^ first
    let b = 0x41c6ce57 ^ second
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index)
      a = Math.imul(a ^ code, 2654435761)
      b = Math.imul(b ^ code, 1597334677)
    }
    a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909)
    b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909)
    return String.fromCharCode(
      codes[a & 63]!,
      codes[(a >>> 6) & 63]!,
      codes[(a >>> 12) & 63]!,
      codes[b & 63]!,
      codes[(b >>> 6) & 63]!,
      codes[(b >>> 12) & 63]!
    )
  }
}

/** Returns where one or more hashes stand in a sequence, one after the other; -1 if they do not. */
export const indexIn = (sequence: string, hashes: string, step = width): number => {
  let index = sequence.indexOf(hashes)
  while (index >= 0 && index % step !== 0) index = sequence.indexOf(hashes, index + 1)
  return index
}

/** Whether a set has a hash. */
export const has = (set: string, hash: string): boolean => {
  if (set.length < longSet) return indexIn(set, hash) >= 0
  let index = indexes.get(set)
  if (index === undefined) {
    if (indexes.size >= 8) indexes.clear()
    indexes.set(set, index = { lookups: 0 })
  }
  // A set that changes with each lookup is not worth an index.
  if (++index.lookups < 50) return indexIn(set, hash) >= 0
  return (index.hashes ??= setOf(set)).has(hash)
}

/** From this length on, a set that is looked up often gets an index. */
const longSet = 3_000

const indexes = new Map<string, { lookups: number; hashes?: ReadonlySet<string> }>()

/** The hashes of a set. */
export const setOf = (set: string): Set<string> => {
  const found = new Set<string>()
  for (let index = 0; index < set.length; index += width) found.add(set.slice(index, index + width))
  return found
}

/** Adds hashes that are not there yet. */
export const add = (set: string, hashes: ReadonlySet<string>): string => {
  // A few values are searched for, which is quicker than a copy of the set.
  if (hashes.size <= 4) {
    let added = ""
    for (const hash of hashes) if (!has(set, hash)) added += hash
    return added === "" ? set : shortened(set + added)
  }
  const known = setOf(set)
  const fresh: Array<string> = []
  for (const hash of hashes) {
    if (known.has(hash)) continue
    known.add(hash)
    fresh.push(hash)
  }
  return fresh.length === 0 ? set : shortened(set + fresh.join(""))
}

/** Forgets the oldest values of a set or sequence that is too long. */
export const shortened = (set: string, step = width): string =>
  set.length <= maxLength ? set : set.slice(Math.ceil((set.length - maxLength) / step) * step)
