/** Checks the arguments of a call: which values decide something, and what grounds them. */
import type { Json, JsonObject } from "@belay/core/Json"
import { ownValue } from "../../permission/internal/callOperations.ts"
import { closingWordOf, openingWordOf, opensAccess } from "./access.ts"
import { type ArgumentClass, classOf, isDecisive } from "./argumentClass.ts"
import { linkWidth, vouchers } from "./label.ts"
import type { Memory } from "./memory.ts"
import { said, saidOtherCurrency } from "./person.ts"
import { leaks } from "./secrets.ts"
import { decisiveIn, isLink } from "./text/decisive.ts"
import { add, has, indexIn, width } from "./text/hashes.ts"
import type { Leaf } from "./text/leaves.ts"
import { partsOf as partsOfName, singular, wordSet } from "./text/names.ts"
import { isMoment } from "./text/numbers.ts"
import { remembered, schemasAt } from "./text/schemas.ts"
import { onlyReads } from "./text/sql.ts"
import { canonical, isAddress, isDisguised, isNumber, isText } from "./text/words.ts"
import type { ToolKind } from "./toolKind.ts"

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
  /** Whether it stands inside of a text, where anything can stand. */
  readonly inText?: true
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
  /** The single values in the arguments. */
  readonly leaves: ReadonlyArray<Leaf>
  readonly schema: JsonObject
  readonly kind: ToolKind["kind"]
  /** The rank of arguments by the configuration: `tool.argument`. */
  readonly ranks: (tool: string, argument: string) => "decisive" | "content" | undefined
  readonly links: "ask" | "verbatim"
  /** The working folder of the agent. */
  readonly cwd: string
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
  const secrets = memory.get("secrets")
  for (const leaf of call.leaves) {
    const { key, place: argument, value } = leaf
    if (typeof value === "boolean") {
      if (call.kind !== "sink") continue
      const isUsual = schemasAt(call.schema, argument).some((one) => one["default"] === value)
      const closing = value || isUsual ? undefined : closingWordOf(key)
      const open = { class: "secret", name: key, tool: call.tool } as const
      if (closing !== undefined && said(memory, closing, open) && !isApproved(memory, "secret", `not ${closing}`)) {
        problems.push({ argument, class: "secret", value: `not ${closing}`, problem: "ungrounded" })
      }
      const word = value && !isUsual ? openingWordOf(key) : undefined
      if (word === undefined) continue
      const why = ground(memory, word, { class: "secret", name: key, tool: call.tool })
      if (why !== undefined) grounded.push({ argument, grounded: why })
      else problems.push({ argument, class: "secret", value: word, problem: "ungrounded" })
      continue
    }
    const kind = classOfLeaf(call, leaf)
    // What goes along with the address, such as a header, leaves too.
    const isSaid = () => said(memory, value, { class: kind, name: key, tool: call.tool })
    if (secrets !== "" && leaks(String(value), secrets, memory.hash, isSaid)) {
      if (!isApproved(memory, "secret", value)) problems.push({ argument, class: kind, value, problem: "secret" })
      continue
    }
    if (call.kind !== "sink" && !isRead(call.tool, kind, value)) continue
    const schemas = schemasAt(call.schema, argument)
    const isFree = isDecisive(kind) && schemas.some((one) => isConstant(one, value)) &&
      (schemas.some((one) => one["default"] === value) || !opensAccess(key, value)) &&
      !(isCurrency(key) && saidOtherCurrency(memory, value))
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
      const spelled = about.class === "path" ? otherSpelling(String(part), call.cwd) : undefined
      const why = ground(memory, part, about) ??
        (spelled === undefined ? undefined : ground(memory, spelled, about)) ??
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

/** The path of the same file from the working folder, or from the root. */
const otherSpelling = (path: string, cwd: string): string | undefined => {
  if (path.split(/[/\\]/).includes("..")) return undefined
  const folder = `${cwd.replace(/\/+$/, "")}/`
  if (path.startsWith(folder)) return path.slice(folder.length)
  return /^[/\\~]|:/.test(path) ? undefined : folder + path.replace(/^(?:\.\/)+/, "")
}

/** Vouches for the decisive values of a call that the model made before it read anything untrusted. */
export const vouchForEarly = (memory: Memory, call: Checkable): void => {
  const values = new Set<string>()
  for (const leaf of call.leaves) {
    if (typeof leaf.value === "boolean" || !isDecisive(classOfLeaf(call, leaf))) continue
    // `.` and `*` name everything that is there.
    if (!/[\p{L}\p{N}]/u.test(String(leaf.value))) continue
    for (const one of vouchers(leaf.value, leaf.key, call.tool)) values.add(memory.hash(one))
  }
  if (values.size > 0) memory.set("vouched", add(memory.get("vouched"), values))
}

/** Whether a call of a tool that reads has an address in it. */
export const readsAddress = (call: Checkable): boolean =>
  call.leaves.some((leaf) =>
    typeof leaf.value === "string" && isAddress(leaf.value) && isRead(call.tool, classOfLeaf(call, leaf), leaf.value)
  )

/** Whether a tool that reads goes to the value. What is searched for may be an address too. */
const isRead = (tool: string, kind: ArgumentClass, value: string | number): boolean => {
  if (kind === "url") return true
  if (!isDecisive(kind) || kind === "command" || typeof value === "number") return false
  const text = value.trim()
  return /^https?:/i.test(text) ||
    (isLink(text) && (/[/?]/.test(text) || partsOfName(tool).some((one) => goers.has(one))))
}

/** Words in names of tools that go to an address. */
const goers = wordSet(
  `fetch open visit browse crawl scrape download page pages webpage site web website url http https dns whois ping host
   resolve link curl wget request feed rss`
)

/** The class of a value in the arguments of a call. */
export const classOfLeaf = (
  { args, ranks, schema, tool }: Checkable,
  { key, place, value }: Leaf
): ArgumentClass => {
  const top = /[.[]/.test(place) ? /^[^.[]+/.exec(place)?.[0] ?? key : place === "" ? key : place
  const rank = ranks(tool, top)
  if (rank === "content") return "content"
  if (rank === undefined && isOfTable(tool) && isCell(place, value)) return "content"
  const outer = classAt(schema, top, top)
  const own = key === top ? outer : classAt(schema, key, place)
  // Parts of a list of texts are texts, and so are those of a file. Parts of anything else have their own class, or
  // that of the whole.
  const isRequest = typeof ownValue(args, top) !== "string" || bodies.has(partsOfName(top).at(-1) ?? "")
  const inherited = outer === "content" && isRequest && !richText.has(key) ? "other" : outer
  const kind = isOfFile(tool, key) ? "path" : own === "other" && key !== top ? inherited : own
  if (rank === "decisive") return isDecisive(kind) ? kind : "other"
  if (kind !== "other" || typeof value !== "string") return kind
  return isMoment(value) ? "moment" : isProse(value) ? "content" : kind
}

/** Whether a file is moved from or to this argument: `to` of `copy_file` names a path, and not a person. */
const isOfFile = (tool: string, key: string): boolean =>
  /^(?:from|to|into)$/.test(key) && /(?:copy|move|rename)[^a-z]?(?:file|folder|dir)/i.test(tool)

const tables = wordSet("sheet sheets spreadsheet spreadsheets worksheet workbook excel")

const isOfTable = (tool: string): boolean => partsOfName(tool).some((part) => tables.has(part))

/** Whether a value is a cell, in a row of a list of rows, or says which cells are meant: `Costs!B3:C4`. */
const isCell = (place: string, value: Leaf["value"]): boolean =>
  /\]\[\d+\]$|^row\[\d+\]$/.test(place) ||
  (typeof value === "string" && /^range$/i.test(place) &&
    /^(?:'?[\w ]{1,40}'?!)?[A-Z]{1,3}\d*(?::[A-Z]{1,3}\d*)?$/.test(value))

/** The class of an argument is the same with every call of a tool. */
const classAt = (schema: JsonObject, name: string, place: string): ArgumentClass =>
  remembered(classes, schema, `${name} ${place}`, () => {
    const schemas = schemasAt(schema, place)
    return classOf(name, schemas.find((one) => one["format"] !== undefined) ?? schemas[0]).class
  })

const classes = new WeakMap<JsonObject, Map<string, ArgumentClass>>()

/** Arguments whose text is a request to another program if it is JSON. */
const bodies = wordSet("body details params parameters request")

/** Names inside of texts that have a structure. */
const richText = new Set([
  "type",
  "kind",
  "version",
  "marks",
  "attrs",
  "level",
  "align",
  "variant",
  "children",
  "lines"
])

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

const isCurrency = (name: string): boolean => /^(?:currency|units?)$/.test(partsOfName(name).at(-1) ?? "")

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
    ...(linkable.has(kind)
      ? (isNumber(key) || (kind === "path" && isAddress(key)) ? [] : [`m:${key}`])
      : [`i:${last}:${key}`])
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
  return source !== undefined && source.inText !== true &&
    has(memory.get("approved"), memory.hash(fieldOf(kind, source)))
}

/** Returns where a value was read last. */
export const sourceOf = (memory: Memory, value: string | number): Source | undefined => {
  const hash = memory.hash(canonical(value))
  for (const { callId, fields, step, tool, turn } of memory.get("readings").toReversed()) {
    for (const [field, hashes, inText] of fields) {
      if (indexIn(hashes, hash) >= 0) {
        return { tool, callId, field, turn, step, ...(inText === 1 ? { inText: true } : {}) }
      }
    }
  }
  return undefined
}
