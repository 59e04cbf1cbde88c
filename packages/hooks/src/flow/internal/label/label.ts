/** Labels what a tool returned: what vouches for values, what taints, what is secret, and where values were read. */
import { classOf } from "../argumentClass.ts"
import type { Memory, Reading } from "../memory.ts"
import { said } from "../person/person.ts"
import { namesOf } from "../person/saidNames.ts"
import { secretsIn } from "../secrets.ts"
import { add, shortened, width } from "../text/hashes.ts"
import { type Leaf, leavesOf } from "../text/leaves.ts"
import { canonical, eachTellingToken, isText, unmarked } from "../text/words.ts"
import { type Result, vouchers, vouchForAll, vouchForMade, vouchForShort } from "./vouch.ts"

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
