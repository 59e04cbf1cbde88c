/** Labels what a tool returned: what vouches for values, what taints, what is secret, and where values were read. */
import type { Json } from "@belay/core/Json"
import { classOf } from "./argumentClass.ts"
import type { Memory, Reading } from "./memory.ts"
import { namesOf, said, sharedWords } from "./person.ts"
import { secretsIn, withSecrets } from "./secrets.ts"
import { add, shortened, width } from "./text/hashes.ts"
import { type Leaf, leavesOf } from "./text/leaves.ts"
import { isIdName, kindsOfId, partsOf, singular, wordSet } from "./text/names.ts"
import { isMoment } from "./text/numbers.ts"
import { canonical, eachTellingToken, isNumber, isText, plain, tokensOf, unmarked, wordsOf } from "./text/words.ts"
import type { ToolKind } from "./toolKind.ts"

/** A result that is labelled. */
export interface Result {
  readonly tool: string
  readonly callId: string
  readonly kind: ToolKind
  readonly args: Json
  readonly output: Json
  readonly sessionId: string
  readonly turn: number
  readonly step: number
}

/** What vouches for a value: its form in the set. Numbers are typed by the field that they stand in. */
export const vouchers = (value: string | number, field: string, tool: string): ReadonlyArray<string> => {
  const key = canonical(value)
  if (!isNumber(key)) return [`v:${key}`]
  const ids = () => kindsOfId(field, tool).map((kind) => `i:${kind}:${key}`)
  if (isIdName(field)) return ids()
  // What was paid is negative in a list of bookings, and positive in a payment.
  const number = `f:${field.toLowerCase()}:${key.replace(/^-/, "")}`
  return isOwnNoun(field, tool) ? [number, ...ids()] : [number]
}

/** Whether a field has the name of what the tool is about, such as `order` in the result of `create_order`. */
const isOwnNoun = (field: string, tool: string): boolean => {
  const noun = singular(partsOf(field).at(-1) ?? "")
  return classOf(field).class === "other" && partsOf(tool).some((part) => singular(part) === noun)
}

/** Whether a value is an id of what was made. An act may return it alone, or under the name of what it made. */
const isMade = ({ key, value }: Leaf, { kind: { acts }, output, tool }: Result): boolean =>
  isIdName(key) ||
  (acts && (value === output || isOwnNoun(key, tool)) && /^[\w-]{0,40}\d[\w-]{0,40}$/.test(String(value)))

/** Remembers that something untrusted was read, if nothing was before. */
export const taint = (memory: Memory, { sessionId, step, turn }: Pick<Result, "sessionId" | "turn" | "step">): void => {
  if (memory.get("tainted") === "") memory.set("tainted", `${turn} ${step} ${sessionId}`)
}

/** Labels a result. Takes time in proportion to its size, once. */
export const label = (memory: Memory, result: Result): void => {
  memory.set("results", memory.get("results") + 1)
  const leaves = leavesOf(result.output)
  const { acts, confidentiality, integrity, kind } = result.kind
  if (confidentiality === "secret") {
    const isSaid = (value: string) => said(memory, value, { class: "other", name: "", tool: "" })
    memory.set("secrets", withSecrets(memory.get("secrets"), secretsIn(leaves, memory.hash, isSaid)))
  }
  if (integrity === "trusted") return vouchForAll(memory, result, leaves)
  if (integrity === "directory") vouchForShort(memory, result, leaves)
  // Short values of a directory can say something together, so it ends the time before anything was read.
  const isForeign = integrity !== "directory" && acts ? vouchForMade(memory, result, leaves) : leaves.length > 0
  // A tool of which nothing is known may have made something too.
  if (!acts && kind === "sink" && integrity !== "directory") vouchForMade(memory, result, leaves)
  if (isForeign) taint(memory, result)
  if (integrity === "untrusted" && !acts) link(memory, result, leaves)
  note(memory, result, leaves)
}

const vouch = (memory: Memory, values: ReadonlySet<string>): void => {
  if (values.size === 0) return
  const hashes = new Set<string>()
  for (const value of values) hashes.add(memory.hash(value))
  memory.set("vouched", add(memory.get("vouched"), hashes))
}

/** A trusted source vouches for all its values, also for those inside of its texts. */
const vouchForAll = (memory: Memory, { tool }: Result, leaves: ReadonlyArray<Leaf>): void => {
  const values = new Set<string>()
  for (const { key, value } of leaves) {
    if (typeof value === "boolean") continue
    for (const one of vouchers(value, key, tool)) values.add(one)
    if (typeof value !== "string") continue
    for (const token of tokensOf(value)) {
      const key = canonical(unmarked(token))
      values.add(isNumber(key) ? `t:${key}` : `v:${key}`)
    }
  }
  vouch(memory, values)
}

/**
 * A directory vouches for the short values of records that the person meant: those that share a word with what the
 * person said, or all of them if the person named what was looked up. Of ids, only the records that share the most
 * words vouch. A longer text in a directory is somebody else's.
 */
const vouchForShort = (memory: Memory, { args, tool }: Result, leaves: ReadonlyArray<Leaf>): void => {
  const records = new Map<object | undefined, Array<readonly [field: string, value: string | number]>>()
  for (const { key, record, value } of leaves) {
    if (typeof value === "boolean") continue
    // Lists that are written as text, such as `name: value` in lines, are short values too.
    const parts = typeof value === "string" && value.includes("\n") ? value.split(/\n|: /) : [value]
    if (parts.some((part) => typeof part === "string" && wordsOf(part).length > 8)) continue
    const fields = records.get(record) ?? []
    records.set(record, fields)
    for (const part of parts) fields.push([key, part])
  }
  const asked = leavesOf(args).filter(({ value }) => typeof value !== "boolean")
  const isAsked = asked.length > 0 &&
    asked.every(({ key, value }) =>
      typeof value === "boolean" || said(memory, value, { class: "other", name: key, tool })
    )
  const shared = new Map([...records].map(([record, fields]) => [record, sharedWords(memory, fields)] as const))
  const most = Math.max(0, ...shared.values())
  const values = new Set<string>()
  for (const [record, fields] of records) {
    const count = shared.get(record) ?? 0
    if (!isAsked && count === 0) continue
    for (const [field, value] of fields) {
      if (!isAsked && count < most && classOf(field).class === "id") continue
      for (const one of vouchers(value, field, tool)) values.add(one)
    }
  }
  vouch(memory, values)
}

/**
 * An act vouches for the ids of what it made: those of one record, not of a list. Returns whether it returned anything
 * else that is not in its arguments. A tool of which nothing is known may have read the record somewhere: it
 * vouches only if the record has nothing but ids, a state, and what stands in the arguments.
 */
const vouchForMade = (
  memory: Memory,
  result: Result,
  leaves: ReadonlyArray<Leaf>
): boolean => {
  const { args, kind: { acts }, output, tool } = result
  let echo: string | undefined
  let isForeign = false
  let isRead = false
  let values: Set<string> | undefined
  for (const leaf of leaves) {
    const { key, record, value } = leaf
    if (typeof value === "boolean") continue
    if ((record === output || value === output) && isMade(leaf, result) && !isOfAccount(key)) {
      if (/[\s@/]/.test(String(value))) isForeign = true
      values ??= new Set()
      for (const one of madeForms(value, key, tool)) values.add(one)
    } else if (!(echo ??= plain(JSON.stringify(args))).includes(plain(String(value)))) {
      const isState = stateFields.has(partsOf(key).at(-1) ?? "")
      // One word, or a time, says how it went.
      if (!isState && key !== "" || (typeof value === "string" && /[\s@/]/.test(value.trim()) && !isMoment(value))) {
        isForeign = true
      }
      if (!isState) isRead = true
    }
  }
  if (values !== undefined && (acts || !isRead)) vouch(memory, values)
  return isForeign
}

/** Fields that say how an act went. */
const stateFields = wordSet("status state ok success result message type kind object created date time at version")

const accountWords = wordSet(
  "account bank iban bic swift routing card wallet phone mobile telephone fax handle user username email address tax " +
    "vat"
)

/** Whether a field identifies an account or a person: nobody is paid or told because a tool returned it. */
const isOfAccount = (field: string): boolean =>
  !/(?:id|ids|uuid)$/i.test(field) && partsOf(field).some((part) => accountWords.has(part))

/** The forms of an id that the agent made: for ids, and for arguments that are named as what was made. */
const madeForms = (value: string | number, field: string, tool: string): ReadonlyArray<string> => {
  const key = canonical(value)
  return [`m:${key}`, ...kindsOfId(field, tool).map((kind) => `i:${kind}:${key}`)]
}

/** How long an entry of a link is: the name with the field, the value, and whether another record contradicts it. */
export const linkWidth = 2 * width + 1

/**
 * Records that the person named vouch for their ids and amounts. If two records with the same name have different
 * values, nobody knows which one is meant, and neither vouches.
 */
const link = (memory: Memory, { tool }: Result, leaves: ReadonlyArray<Leaf>): void => {
  let records: Map<object, Array<readonly [string, string | number]>> | undefined
  for (const { key, record, value } of leaves) {
    if (record === undefined || typeof value === "boolean" || (typeof value === "string" && isText(value))) continue
    records ??= new Map()
    const fields = records.get(record)
    if (fields === undefined) records.set(record, [[key, value]])
    else fields.push([key, value])
  }
  if (records === undefined) return
  let links: Map<string, string> | undefined
  for (const fields of records.values()) {
    const names = namesOf(memory, fields)
    if (names.length === 0) continue
    links ??= linksOf(memory)
    for (const [field, value] of fields) {
      if (!isLinked(field, value)) continue
      for (const name of names) {
        for (const [index, form] of vouchers(value, field, tool).entries()) {
          const entry = memory.hash(`${name}|${field}|${index}`)
          const hash = memory.hash(form)
          const known = links.get(entry)
          links.set(entry, known === undefined || known === `${hash}.` ? `${hash}.` : `${hash}x`)
        }
      }
    }
  }
  if (links === undefined) return
  memory.set("links", shortened([...links].map(([entry, value]) => entry + value).join(""), linkWidth))
}

/** Whether a record vouches for a field: ids, amounts and paths, never people and addresses. */
const isLinked = (field: string, value: string | number): boolean => {
  const { class: kind } = classOf(field)
  if (kind === "id" || kind === "amount") return typeof value === "number" || !/[@/:]/.test(value)
  if (kind === "path") return typeof value === "string" && !/[@:]/.test(value)
  return kind === "other" && (typeof value === "number" || /^[\w .-]*\d[\w .-]*$/.test(value))
}

const linksOf = (memory: Memory): Map<string, string> => {
  const links = memory.get("links")
  const found = new Map<string, string>()
  for (let index = 0; index < links.length; index += linkWidth) {
    found.set(links.slice(index, index + width), links.slice(index + width, index + linkWidth))
  }
  return found
}

const maxReadings = 100
const maxValues = 1_500
const maxFields = 200

/** The hashes of the values of one field. */
interface Field {
  readonly name: string
  readonly hashes: Set<string>
}

/** Returns the field of this name, and makes it if there is room for one more. */
const fieldOf = (fields: Array<Field>, name: string): Field => {
  for (const field of fields) if (field.name === name) return field
  const made = { name, hashes: new Set<string>() }
  if (fields.length < maxFields) fields.push(made)
  return made
}

/** Remembers where values stand, for questions. */
const note = (memory: Memory, { callId, step, tool, turn }: Result, leaves: ReadonlyArray<Leaf>): void => {
  const { hash } = memory
  const fields: Array<Field> = []
  const texts: Array<Field> = []
  let count = 0
  for (const { key, value } of leaves) {
    if (typeof value === "boolean" || count >= maxValues) continue
    const name = key.slice(0, 40)
    const { hashes } = fieldOf(fields, name)
    if (typeof value === "number" || !isText(value)) {
      hashes.add(hash(canonical(value)))
      count++
    }
    if (typeof value !== "string" || !/\s/.test(value) || !/[\d@/:_]|\w[.-]\w/.test(value)) continue
    const inside = fieldOf(texts, name).hashes
    eachTellingToken(value, (token) => {
      if (count >= maxValues) return false
      inside.add(hash(canonical(unmarked(token))))
      count++
      return true
    })
  }
  const found: Array<Reading["fields"][number]> = []
  for (const { hashes, name } of fields) found.push([name, joined(hashes)])
  for (const { hashes, name } of texts) found.push([name, joined(hashes), 1])
  memory.set("readings", withReading(memory.get("readings"), { tool, callId, turn, step, fields: found }))
}

const joined = (hashes: ReadonlySet<string>): string => {
  let all = ""
  for (const hash of hashes) all += hash
  return all
}

/** The most characters that readings take. */
const maxReadingSize = 48_000

/** Adds a reading, and forgets the oldest ones when there are too many. */
const withReading = (before: ReadonlyArray<Reading>, reading: Reading): ReadonlyArray<Reading> => {
  let size = sizeOf(reading) + totalOf(before)
  let first = 0
  while (first < before.length && (size > maxReadingSize || before.length - first >= maxReadings)) {
    size -= sizeOf(before[first++]!)
  }
  // The list is frozen, so a slice of it is slow.
  const readings = Array.from(before)
  if (first > 0) readings.splice(0, first)
  readings.push(reading)
  totals.set(readings, size)
  return readings
}

/** The sizes of lists that were made here. */
const totals = new WeakMap<ReadonlyArray<Reading>, number>()

const totalOf = (readings: ReadonlyArray<Reading>): number => {
  let total = totals.get(readings)
  if (total !== undefined) return total
  total = 0
  for (const one of readings) total += sizeOf(one)
  return total
}

const sizeOf = (reading: Reading): number => {
  let size = reading.tool.length + 60
  for (const [name, hashes] of reading.fields) size += name.length + hashes.length + 10
  return size
}
