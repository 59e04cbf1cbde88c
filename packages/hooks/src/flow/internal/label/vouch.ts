/** What vouches for values in a result: results that name them together with what a person said, or that the task made. */
import type { Json } from "@belay/core/Json"
import { classOf } from "../argumentClass.ts"
import type { Memory } from "../memory.ts"
import { said } from "../person/person.ts"
import { sharedWords } from "../person/saidNames.ts"
import { add } from "../text/hashes.ts"
import { type Leaf, leavesOf } from "../text/leaves.ts"
import { isIdName, kindsOfId, partsOf, wordSet } from "../text/names.ts"
import { canonical, isNumber, isText, plain, tokensOf, unmarked, wordsOf } from "../text/words.ts"
import type { ToolKind } from "../toolKind.ts"

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

const vouch = (memory: Memory, values: ReadonlySet<string>): void => {
  if (values.size === 0) return
  const hashes = new Set<string>()
  for (const value of values) hashes.add(memory.hash(value))
  memory.set("vouched", add(memory.get("vouched"), hashes))
}

/** A trusted source vouches for all its values, also for those inside of its texts. */
export const vouchForAll = (memory: Memory, { tool }: Result, leaves: ReadonlyArray<Leaf>): void => {
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
export const vouchForShort = (memory: Memory, { args, tool }: Result, leaves: ReadonlyArray<Leaf>): void => {
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
export const vouchForMade = (
  memory: Memory,
  { args, kind: { acts }, output, tool }: Result,
  leaves: ReadonlyArray<Leaf>
): boolean => {
  let echo: string | undefined
  let isForeign = false
  let isRead = false
  let values: Set<string> | undefined
  for (const { key, record, value } of leaves) {
    if (typeof value === "boolean") continue
    if (record === output && isIdName(key) && !isOfAccount(key)) {
      values ??= new Set()
      for (const one of madeForms(value, key, tool)) values.add(one)
    } else if (!(echo ??= plain(JSON.stringify(args))).includes(plain(String(value)))) {
      if (isOfAccount(key) || (typeof value === "string" && (isText(value) || /[@/]/.test(value)))) isForeign = true
      if (!stateFields.has(partsOf(key).at(-1) ?? "")) isRead = true
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
