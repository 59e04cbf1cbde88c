/** Labels what a tool returned: what vouches for values, what taints, what is secret, and where values were read. */
import type { Json } from "@belay/core/Json"
import { classOf } from "./argumentClass.ts"
import type { Memory, Reading } from "./memory.ts"
import { namesOf, said, sharedWords } from "./person.ts"
import { secretsIn } from "./secrets.ts"
import { add, shortened, width } from "./text/hashes.ts"
import { type Leaf, leavesOf } from "./text/leaves.ts"
import { isIdName, kindsOfId, partsOf, wordSet } from "./text/names.ts"
import { canonical, eachToken, isNumber, isText, plain, tokensOf, unmarked, wordsOf } from "./text/words.ts"
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
  if (isIdName(field)) return kindsOfId(field, tool).map((kind) => `i:${kind}:${key}`)
  // What was paid is negative in a list of bookings, and positive in a payment.
  return [`f:${field.toLowerCase()}:${key.replace(/^-/, "")}`]
}

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
    memory.set("secrets", add(memory.get("secrets"), secretsIn(leaves, memory.hash, isSaid)))
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

const vouch = (memory: Memory, values: Iterable<string>): void => {
  const hashes = new Set<string>()
  for (const value of values) hashes.add(memory.hash(value))
  if (hashes.size > 0) memory.set("vouched", add(memory.get("vouched"), hashes))
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
 * An act vouches for the ids of what it made: those of one record, not of a list. Returns whether it returned a text or
 * an address that is not in its arguments. A tool of which nothing is known may have read the record somewhere: it
 * vouches only if the record has nothing but ids, a state, and what stands in the arguments.
 */
const vouchForMade = (
  memory: Memory,
  { args, kind: { acts }, output, tool }: Result,
  leaves: ReadonlyArray<Leaf>
): boolean => {
  const echo = plain(JSON.stringify(args))
  let isForeign = false
  let isRead = false
  const values = new Set<string>()
  for (const { key, record, value } of leaves) {
    if (typeof value === "boolean") continue
    if (record === output && isIdName(key) && !isOfAccount(key)) {
      for (const one of madeForms(value, key, tool)) values.add(one)
    } else if (!echo.includes(plain(String(value)))) {
      if (isOfAccount(key) || (typeof value === "string" && (isText(value) || /[@/]/.test(value)))) isForeign = true
      if (!stateFields.has(partsOf(key).at(-1) ?? "")) isRead = true
    }
  }
  if (acts || !isRead) vouch(memory, values)
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
  const records = new Map<object, Array<readonly [string, string | number]>>()
  for (const { key, record, value } of leaves) {
    if (record === undefined || typeof value === "boolean" || (typeof value === "string" && isText(value))) continue
    const fields = records.get(record)
    if (fields === undefined) records.set(record, [[key, value]])
    else fields.push([key, value])
  }
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

/** Remembers where values stand, for questions. */
const note = (memory: Memory, { callId, step, tool, turn }: Result, leaves: ReadonlyArray<Leaf>): void => {
  const fields = new Map<string, Set<string>>()
  const texts = new Map<string, Set<string>>()
  let count = 0
  for (const { key, value } of leaves) {
    if (typeof value === "boolean" || count >= maxValues) continue
    const name = key.slice(0, 40)
    const known = fields.get(name) ?? new Set<string>()
    if (fields.size < maxFields) fields.set(name, known)
    if (typeof value === "number" || !isText(value)) {
      known.add(memory.hash(canonical(value)))
      count++
    }
    if (typeof value !== "string" || !/\s/.test(value) || !/[\d@/:_]|\w[.-]\w/.test(value)) continue
    const inside = texts.get(name) ?? new Set<string>()
    if (texts.size < maxFields) texts.set(name, inside)
    for (const token of eachToken(value)) {
      if (count >= maxValues) break
      if (!/[\d@/.:_-]/.test(token)) continue
      inside.add(memory.hash(canonical(unmarked(token))))
      count++
    }
  }
  const reading: Reading = {
    tool,
    callId,
    turn,
    step,
    fields: [
      ...[...fields].map(([name, set]) => [name, [...set].join("")] as const),
      ...[...texts].map(([name, set]) => [name, [...set].join(""), 1] as const)
    ]
  }
  memory.set("readings", latest([...memory.get("readings"), reading]))
}

/** The most characters that readings take. */
const maxReadingSize = 48_000

/** Forgets the oldest readings when there are too many. */
const latest = (readings: ReadonlyArray<Reading>): ReadonlyArray<Reading> => {
  let size = 0
  let first = readings.length
  while (first > 0 && readings.length - first < maxReadings) {
    size += sizeOf(readings[first - 1]!)
    if (size > maxReadingSize && first < readings.length) break
    first--
  }
  return first === 0 ? readings : readings.slice(first)
}

const sizes = new WeakMap<Reading, number>()

const sizeOf = (reading: Reading): number => {
  const known = sizes.get(reading)
  if (known !== undefined) return known
  let size = reading.tool.length + 60
  for (const [name, hashes] of reading.fields) size += name.length + hashes.length + 10
  sizes.set(reading, size)
  return size
}
