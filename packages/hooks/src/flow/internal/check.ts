/** Checks the arguments of a call: which values decide something, and what grounds them. */
import type { Json, JsonObject } from "@belay/core/Json"
import { openingWordOf, opensAccess } from "./access.ts"
import { type ArgumentClass, classOf, isDecisive } from "./argumentClass.ts"
import { linkWidth, vouchers } from "./label.ts"
import type { Memory } from "./memory.ts"
import { said } from "./person.ts"
import { leaks } from "./secrets.ts"
import { onlyReads } from "./sql.ts"
import { add, has, indexIn, width } from "./text/hashes.ts"
import { type Leaf, leavesOf } from "./text/leaves.ts"
import { partsOf as partsOfName, singular } from "./text/names.ts"
import { isMoment } from "./text/numbers.ts"
import { canonical, compact, isAddress, isDisguised, isNumber, isText, tokensOf, unmarked } from "./text/words.ts"
import { propertiesOf, type ToolKind } from "./toolKind.ts"

/** A value that nothing grounds, or that must not leave. */
export interface Problem {
  readonly argument: string
  readonly class: ArgumentClass
  readonly value: string | number
  readonly problem: "ungrounded" | "secret"
  /** Where the value was read, if that is known. */
  readonly source?: Source
}

/** Where a value was read. */
export interface Source {
  readonly tool: string
  readonly callId: string
  readonly field: string
  readonly turn: number
  readonly step: number
}

/** A value that something grounds. */
export interface Grounded {
  readonly argument: string
  readonly grounded: string
}

/** What the check of a call found. */
export interface Checks {
  readonly problems: ReadonlyArray<Problem>
  readonly grounded: ReadonlyArray<Grounded>
  /** Whether something in the call is from the person, so that it is an act that was asked for. */
  readonly isMeant: boolean
}

/** A call that is checked. */
export interface Checkable {
  readonly tool: string
  readonly args: Json
  readonly schema: JsonObject
  readonly kind: ToolKind["kind"]
  /** The rank of arguments by the configuration: `tool.argument`. */
  readonly ranks: (tool: string, argument: string) => "decisive" | "content" | undefined
  readonly links: "ask" | "verbatim"
}

/** Returns the problems of a call, and what grounds its other values. */
export const check = (
  memory: Memory,
  call: Checkable
): Checks => {
  const problems: Array<Problem> = []
  const grounded: Array<Grounded> = []
  let isMeant = false
  const texts: Array<boolean> = []
  const schemas = propertiesOf(call.schema)
  const secrets = memory.get("secrets")
  for (const leaf of leavesOf(call.args)) {
    const { key, place: argument, value } = leaf
    if (typeof value === "boolean") {
      const word = call.kind === "sink" && value && schemas[key]?.["default"] !== true ? openingWordOf(key) : undefined
      if (word === undefined) continue
      const why = ground(memory, word, { class: "secret", name: key, tool: call.tool })
      if (why !== undefined) grounded.push({ argument, grounded: why })
      else problems.push({ argument, class: "secret", value: word, problem: "ungrounded" })
      continue
    }
    const kind = classOfLeaf(call, leaf, schemas)
    // What goes along with the address, such as a header, leaves too.
    if (secrets !== "" && leaks(String(value), secrets, memory.hash)) {
      if (!isApproved(memory, "secret", value)) problems.push({ argument, class: kind, value, problem: "secret" })
      continue
    }
    if (call.kind !== "sink" && !isRead(kind, value)) continue
    const schema = schemas[leaf.key]
    const isFree = isDecisive(kind) && isConstant(schema, value) &&
      (schema?.["default"] === value || !opensAccess(key, value))
    const isSaid = () => said(memory, value, { class: kind, name: key, tool: call.tool })
    if (kind === "command" && onlyReads(String(value))) isMeant = true
    else if (isFree || kind === "moment") isMeant ||= isSaid()
    else if (kind === "content") texts.push(isSaid())
    const parts = isDecisive(kind)
      ? isFree ? [] : partsOf(value, kind)
      : typeof value === "string"
      ? decisiveIn(value)
      : []
    for (const part of parts) {
      const about = { class: isDecisive(kind) ? kind : "url", name: leaf.key, tool: call.tool } as const
      const why = ground(memory, part, about) ??
        (!isDecisive(kind) && call.links === "verbatim" && sourceOf(memory, part) !== undefined ? "links" : undefined)
      if (why !== undefined) grounded.push({ argument, grounded: why })
      else {
        const source = sourceOf(memory, part)
        problems.push({
          argument,
          class: about.class,
          value: part,
          problem: "ungrounded",
          ...(source === undefined ? {} : { source })
        })
      }
    }
  }
  isMeant ||= grounded.length > 0 || (texts.length > 0 && texts.every((one) => one))
  return { problems, grounded, isMeant }
}

/** Vouches for the decisive values of a call that the model made before it read anything untrusted. */
export const vouchForEarly = (memory: Memory, call: Checkable): void => {
  const values = new Set<string>()
  const schemas = propertiesOf(call.schema)
  for (const leaf of leavesOf(call.args)) {
    if (typeof leaf.value === "boolean" || !isDecisive(classOfLeaf(call, leaf, schemas))) continue
    // `.` and `*` name everything that is there.
    if (!/[\p{L}\p{N}]/u.test(String(leaf.value))) continue
    for (const one of vouchers(leaf.value, leaf.key, call.tool)) values.add(memory.hash(one))
  }
  if (values.size > 0) memory.set("vouched", add(memory.get("vouched"), values))
}

/** Whether a call of a tool that reads has an address in it. */
export const readsAddress = (call: Checkable): boolean => {
  const schemas = propertiesOf(call.schema)
  return leavesOf(call.args).some((leaf) =>
    typeof leaf.value === "string" && isAddress(leaf.value) && isRead(classOfLeaf(call, leaf, schemas), leaf.value)
  )
}

/** Whether a tool that reads goes to the value. What is searched for may be an address too. */
const isRead = (kind: ArgumentClass, value: string | number): boolean =>
  kind === "url" || (isDecisive(kind) && kind !== "command" && /^\s*https?:/i.test(String(value)))

/** The class of a value in the arguments of a call. */
export const classOfLeaf = (
  { ranks, tool }: Checkable,
  { key, place, value }: Leaf,
  schemas: { readonly [name: string]: JsonObject }
): ArgumentClass => {
  const top = /^[^.[]+/.exec(place)?.[0] ?? key
  const rank = ranks(tool, top)
  if (rank === "content") return "content"
  const outer = classOf(top, schemas[top]).class
  const own = key === top ? outer : classOf(key).class
  // Parts of a text are text; parts of anything else have their own class, or that of the whole.
  const kind = own === "other" && key !== top ? outer : own
  if (rank === "decisive") return isDecisive(kind) ? kind : "other"
  if (kind !== "other" || typeof value !== "string") return kind
  return isMoment(value) ? "moment" : isProse(value) ? "content" : kind
}

/** An unknown argument with a sentence in it is a text; a name has capital letters or few words. */
const isProse = (value: string): boolean => {
  const words = value.match(/[\p{L}\p{N}]+/gu) ?? []
  return words.length >= 4 && !isAddress(value) && !/\d{4}/.test(value) &&
    words.filter((word) => /^\p{Ll}/u.test(word)).length >= words.length / 2
}

/** A value that the schema of the tool names. */
const isConstant = (schema: JsonObject | undefined, value: string | number): boolean => {
  const { const: only, default: usual, enum: several, items } = schema ?? {}
  if (only === value || usual === value) return true
  if (Array.isArray(several)) return several.includes(value)
  // The schema of the items of a list is an object.
  return typeof items === "object" && items !== null && isConstant(items as JsonObject, value)
}

/** The values that an argument is made of: every address of a list that is written as text. */
const partsOf = (value: string | number, kind: ArgumentClass): ReadonlyArray<string | number> => {
  if (typeof value === "number") {
    return kind === "amount" && Math.abs(value) <= 1 && Number.isInteger(value)
      ? []
      : [value]
  }
  if (value.trim() === "") return []
  if (kind === "command" && onlyReads(value)) return decisiveIn(value)
  if (kind !== "principal" && kind !== "url" && kind !== "path") return [value]
  const parts = value.split(/[,;\n]+/).map((part) => part.trim()).filter((part) => part !== "")
  // In `Ada <ada@a.example>` the address decides.
  return parts.flatMap((part) => {
    const inside = /<([^<>]+)>\s*$/.exec(part)?.[1]
    if (inside !== undefined) return [inside]
    // Other parts of a link to a mailbox, such as a copy, decide too.
    if (/^mailto:[^?&%]+$/i.test(part)) return [part.slice(7)]
    return part.includes("@") ? part.split(/\s+/) : [part]
  })
}

/** The links, addresses and account numbers in a text. */
export const decisiveIn = (text: string): ReadonlyArray<string> => {
  const found = new Set<string>()
  for (const marked of tokensOf(text)) {
    const token = unmarked(marked)
    const isAscii = /^[\x20-\x7e]*$/.test(token)
    // Most words have none of these characters. Patterns for letters of all scripts take long to compile.
    if (isAscii && !/[.:/\\@\d]/.test(token)) continue
    // As a program reads it that makes links: compatible letters are the same, and invisible ones are not there.
    const read = isAscii ? token : token.normalize("NFKC").replace(/\p{Cf}/gu, "").replace(/[。｡]/g, ".")
    const start = /[.:/\\]/.test(read) ? linkStart(read) : -1
    if (start >= 0) found.add(read === token ? token.slice(start) : token)
    else if (read.includes("@") && /^[^@\s]+@[^@\s]+\.\p{L}{2,}/u.test(read)) found.add(token)
    else if (mayBeAccount.test(read) && /^\p{Lu}{2}\d{2}[\p{Lu}\d]{8,30}$/u.test(read)) found.add(token)
    else if (/^(?:0x[\da-f]{40}|bc1[a-z\d]{25,60})[.:!?]?$/i.test(read)) found.add(token)
    else if (/^\d{1,3}(?:\.\d{1,3}){3}(?::\d|\/(?!\d{1,2}[.:!?]?$))/.test(read)) found.add(token)
    else if (read.includes(".") && isDomain(read)) found.add(token)
  }
  if (mayBeAccount.test(text)) {
    for (const [group] of text.matchAll(/\b\p{Lu}{2}\d{2}(?: ?[\p{Lu}\d]{2,4}){3,8}\b/gu)) {
      if (compact(group) !== undefined) found.add(group)
    }
    // In another spelling, the check digits tell an account from other codes.
    for (const [group] of text.matchAll(/\b[a-z]{2}\d{2}(?:[ .-]?[a-z\d]{1,4}){3,9}\b/gi)) {
      const iban = ibanIn(group)
      if (iban !== undefined) found.add(iban)
    }
  }
  return [...found].map((one) => one.replace(/^(?:mailto|tel):/i, "").replace(/[.,;:!?*~]+$/, ""))
}

const mayBeAccount = /[^\s\d]{2}\d{2}/

const isDomain = (read: string): boolean =>
  /^(?:[\p{L}\d-]+\.)+(?:com|org|net|io|app|dev|xyz|info|biz|ru|cn|co|me|ai|link|site|online|shop|top|click|example)(?:[/:?#]\S*)?$/iu
    .test(read)

/** Where a link begins in a token. Programs that show a text also follow links with too few or wrong slashes. */
const linkStart = (read: string): number =>
  read.search(
    /(?:https?|ftp|wss?):[\\/]*[^\s\\/]|(?<![\w+.-])[a-z][\w+.-]{0,30}:\/\/|(?<![\p{L}\p{N}:/\\])(?:\/\/|\\\\)[\p{L}\p{N}-]+\.[\p{L}\p{N}]|^www\.|(?<=[=:])www\.|mailto:|\btel:|\bjavascript:|\bdata:\w+\//iu
  )

/** The account number at the beginning of some groups of letters and digits. */
const ibanIn = (groups: string): string | undefined => {
  for (let end = groups.length; end >= 15; end--) {
    const part = groups.slice(0, end)
    const letters = part.replace(/[ .-]/g, "").toUpperCase()
    if (letters.length < 15) return undefined
    if (letters.length > 34 || /[a-z\d]/i.test(groups[end] ?? " ")) continue
    const digits = (letters.slice(4) + letters.slice(0, 4)).replace(/[A-Z]/g, (one) => String(one.charCodeAt(0) - 55))
    if (BigInt(digits) % 97n === 1n) return part.trim()
  }
  return undefined
}

/** What grounds a value, in the order of the specification. `undefined`: nothing does. */
export const ground = (
  memory: Memory,
  value: string | number,
  about: { readonly class: ArgumentClass; readonly name: string; readonly tool: string }
): string | undefined => {
  const key = canonical(value)
  if (key === "") return "empty"
  if (typeof value === "string" && isDisguised(value)) return undefined
  if (said(memory, value, about)) return "the person said it"
  if (isApproved(memory, about.class, value)) return "a person approved it"
  if (isInApprovedField(memory, about.class, value)) return "a person approved its field"
  const forms = formsOf(value, about)
  const { hash } = memory
  if (forms.some((form) => has(memory.get("vouched"), hash(form)))) {
    return "a trusted source, a directory or an earlier call"
  }
  if (!linkable.has(about.class)) return undefined
  if (about.class === "other" && (typeof value === "string" && (isAddress(value) || isText(value)))) return undefined
  return forms.some((form) => isLinked(memory, hash(form))) ? "the record that the person named" : undefined
}

/** The classes of which a record that the person named vouches for values. */
const linkable: ReadonlySet<ArgumentClass> = new Set(["id", "amount", "path", "other"])

/** The forms under which a value can be vouched for. */
const formsOf = (
  value: string | number,
  { class: kind, name, tool }: { readonly class: ArgumentClass; readonly name: string; readonly tool: string }
): ReadonlyArray<string> => {
  const key = canonical(value)
  const last = singular(partsOfName(name).at(-1) ?? "")
  const own = [
    ...vouchers(value, name, tool),
    // What the agent made: an id of any name, or an argument that is named as what was made.
    ...(linkable.has(kind) ? (isNumber(key) ? [] : [`m:${key}`]) : [`i:${last}:${key}`])
  ]
  if (!isNumber(key) || kind !== "amount") return own
  return [...own, `t:${key}`, ...amountFields.map((field) => `f:${field}:${key.replace(/^-/, "")}`)]
}

/** The usual names of an amount, so that `total` of an order can be the `amount` of a refund. */
const amountFields = ["amount", "total", "price", "sum", "value", "fee", "cost", "quantity", "qty"]

/** Whether a record that the person named vouches for a value, and no other record contradicts it. */
const isLinked = (memory: Memory, hash: string): boolean => {
  const links = memory.get("links")
  for (let index = width; index < links.length; index += linkWidth) {
    if (links.startsWith(hash, index) && links[index + width] === ".") return true
  }
  return false
}

/** The form in which an approval remembers a value. */
export const approvalOf = (kind: string, value: string | number): string => `${kind}:${canonical(value)}`

const isApproved = (memory: Memory, kind: string, value: string | number): boolean =>
  has(memory.get("approved"), memory.hash(approvalOf(kind, value)))

/** The form in which an approval remembers a field: values of it are approved as arguments of one class. */
export const fieldOf = (kind: string, { field, tool }: Pick<Source, "field" | "tool">): string =>
  `field:${kind}:${tool}:${field}`

/** Whether a person approved the field in which the value was read last. */
const isInApprovedField = (memory: Memory, kind: string, value: string | number): boolean => {
  if (memory.get("approved") === "") return false
  const source = sourceOf(memory, value)
  return source !== undefined && has(memory.get("approved"), memory.hash(fieldOf(kind, source)))
}

/** Returns where a value was read last. */
export const sourceOf = (memory: Memory, value: string | number): Source | undefined => {
  const hash = memory.hash(canonical(value))
  for (const { callId, fields, step, tool, turn } of memory.get("readings").toReversed()) {
    for (const [field, hashes] of fields) {
      if (indexIn(hashes, hash) >= 0) return { tool, callId, field, turn, step }
    }
  }
  return undefined
}
