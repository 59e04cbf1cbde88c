/** Which leaves of arguments decide what a call does, and their classes. */
import type { Json, JsonObject } from "@belay/core/Json"
import { ownValue } from "../../../permission/internal/callOperations.ts"
import { type ArgumentClass, classOf, isDecisive } from "../argumentClass.ts"
import { isLink } from "../text/decisive.ts"
import {} from "../text/hashes.ts"
import type { Leaf } from "../text/leaves.ts"
import { partsOf as partsOfName, wordSet } from "../text/names.ts"
import { isMoment } from "../text/numbers.ts"
import { remembered, schemasAt } from "../text/schemas.ts"
import { isAddress } from "../text/words.ts"
import type { ToolKind } from "../toolKind.ts"

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
}

/** Whether a call of a tool that reads has an address in it. */
export const readsAddress = (call: Checkable): boolean =>
  call.leaves.some((leaf) =>
    typeof leaf.value === "string" && isAddress(leaf.value) && isRead(call.tool, classOfLeaf(call, leaf), leaf.value)
  )

/** Whether a tool that reads goes to the value. What is searched for may be an address too. */
export const isRead = (tool: string, kind: ArgumentClass, value: string | number): boolean => {
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
  const kind = own === "other" && key !== top ? inherited : own
  if (rank === "decisive") return isDecisive(kind) ? kind : "other"
  if (kind !== "other" || typeof value !== "string") return kind
  return isMoment(value) ? "moment" : isProse(value) ? "content" : kind
}

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
