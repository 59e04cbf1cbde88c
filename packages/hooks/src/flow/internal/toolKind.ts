/** What a tool is: one that acts (a sink), one that reads (a source), or one that reads an address that it is given. */
import type { JsonObject } from "@belay/core/Json"
import { matcher } from "@belay/core/NamePattern"
import type { ToolMeta } from "@belay/core/Tool"
import { classOf } from "./argumentClass.ts"
import { isDestroying } from "./away.ts"
import type { Leaf } from "./text/leaves.ts"
import { partsOf, singular, wordSet } from "./text/names.ts"
import { propertiesOf } from "./text/schemas.ts"
import { alwaysActing, ownName, saysAct, verbOf } from "./text/verbs.ts"

/** How far the values in the results of a tool are trusted. */
export type Integrity = "trusted" | "directory" | "untrusted"

/** Who may see what a tool returns. */
export type Confidentiality = "public" | "private" | "secret"

/** The labels that a configuration gives to tools. */
export type Label = Integrity | Confidentiality

/** A tool as it was understood, and from what. */
export interface ToolKind {
  /** `sink`: every decisive argument is checked. `fetch`: only its addresses. `source` and `local`: nothing. */
  readonly kind: "sink" | "fetch" | "source" | "local"
  readonly why: string
  /** Whether it is known to act. A tool of which nothing is known may read as well. */
  readonly acts: boolean
  /** Whether it takes something away: it deletes, cancels, stops or blocks. */
  readonly destroys: boolean
  /** Whether others may see what it is given, also if it only reads: a search of the web. */
  readonly reachesOut: boolean
  readonly integrity: Integrity
  readonly confidentiality: Confidentiality
}

/** Words at the end of a name that has no verb: what the tool returns. */
const information = wordSet(
  `details detail info information status history summary overview profile balance metadata statistics stats directory
   catalog catalogue guide agenda documentation docs page contents availability weather forecast inbox calendar hours
   menu metrics logs log members`
)
/** Words that begin a question. */
const asking = wordSet("who what which where when is has can does how")
/** Words in names of tools that search what belongs to others. */
const outside = wordSet("web internet online google bing duckduckgo brave tavily exa serp wikipedia http https")
/** The labels of a configuration. */
export interface Labels {
  readonly sources: ReadonlyArray<readonly [pattern: string, label: Label]>
  readonly local: ReadonlyArray<string>
}

/** The order of patterns: of those that match a name, the one that says the most of it counts. */
export const preciseFirst = (one: string, other: string): number => precisionOf(other) - precisionOf(one)

const precisionOf = (pattern: string): number =>
  pattern.replaceAll("*", "").length + (pattern.includes("*") ? 0 : 1_000)

/** Returns the function that says what tools are. */
export const kindsBy = ({ local, sources }: Labels): (tool: ToolMeta) => ToolKind => {
  const rules = sources.toSorted(([one], [other]) => preciseFirst(one, other)).map(([pattern, label]) =>
    [matcher(pattern), label] as const
  )
  const isLocal = local.length === 0 ? () => false : matcher(local)
  const known = new Map<string, { readonly tool: ToolMeta; readonly kind: ToolKind }>()
  const make = (tool: ToolMeta): ToolKind => {
    const labels = rules.flatMap(([matches, label]) => matches(tool.name) ? [label] : [])
    const integrity = labels.find((one) => one === "trusted" || one === "directory" || one === "untrusted") ??
      "untrusted"
    const confidentiality = labels.find((one) => one === "secret" || one === "public") ?? "private"
    const guess = isLocal(tool.name) ? { kind: "local", why: "configured", acts: true } as const : guessOf(tool)
    const destroys = guess.kind === "sink" &&
      (tool.destructive === true || isDestroying(tool.name))
    const reachesOut = tool.openWorld ?? partsOf(tool.name).some((part) => outside.has(part))
    return { ...guess, destroys, reachesOut, integrity, confidentiality }
  }
  return (tool) => {
    const found = known.get(tool.name)
    if (found?.tool === tool) return found.kind
    const kind = make(tool)
    if (known.size >= 1_000) known.clear()
    known.set(tool.name, { tool, kind })
    return kind
  }
}

/** A tool that reads may act in one call: with `method: "POST"`, or with a statement that changes something. */
export const kindOfCall = (kind: ToolKind, leaves: ReadonlyArray<Leaf>): ToolKind => {
  if (kind.kind !== "source" && kind.kind !== "fetch") return kind
  const act = leaves.find(({ key, value }) => typeof value === "string" && saysAct(key, value))
  return act === undefined
    ? kind
    : { ...kind, kind: "sink", acts: true, destroys: isDestroying(String(act.value).slice(0, 60)) }
}

type Guess = Pick<ToolKind, "kind" | "why" | "acts">

const guessOf = (tool: ToolMeta): Guess => {
  if (tool.destructive === true) return { kind: "sink", why: "destructive", acts: true }
  const parts = partsOf(ownName(tool.name))
  // `order_status` has no verb; its first word is a noun.
  const noun = parts.at(-1) ?? ""
  const isNoun = parts.length > 1 && information.has(noun)
  const verb = verbOf(parts, isNoun)
  if (verb?.acts === true && !(tool.readOnly === true && verb.word !== parts[0] && !alwaysActing.has(verb.word))) {
    return { kind: "sink", why: `"${verb.word}" in its name`, acts: true }
  }
  if (verb === undefined && !takesText(tool.inputSchema) && (asking.has(parts[0] ?? "") || isNoun || isPlural(parts))) {
    return readOrFetch(tool, "its name says what it returns")
  }
  if (verb === undefined && tool.readOnly !== true) {
    return { kind: "sink", why: "nothing says that it only reads", acts: false }
  }
  const why = verb === undefined || verb.acts ? "it declares that it only reads" : `"${verb.word}" in its name`
  return readOrFetch(tool, why)
}

/** Two words or more of which the last is a plural, as in `customer_orders`, are a collection that is read. */
const isPlural = (parts: ReadonlyArray<string>): boolean => {
  const last = parts.at(-1) ?? ""
  return parts.length > 1 && last.length > 3 && last !== singular(last)
}

/** Whether a tool takes a text, so that it does more than read, or says what to do in an argument. */
const takesText = (schema: JsonObject): boolean =>
  Object.entries(propertiesOf(schema)).some(([name, one]) =>
    classOf(name, one).class === "content" || /^(?:action|method|operation|op|data|payload|input)$/i.test(name)
  )

const readOrFetch = ({ inputSchema }: ToolMeta, why: string): Guess =>
  takesAddress(inputSchema)
    ? { kind: "fetch", why: `${why}, and it takes an address`, acts: false }
    : { kind: "source", why, acts: false }

const takesAddress = (schema: JsonObject): boolean =>
  Object.entries(propertiesOf(schema)).some(([name, one]) => classOf(name, one).class === "url")
