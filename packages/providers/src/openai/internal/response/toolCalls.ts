/** Assembles tool calls from streamed parts, and returns only complete ones. */
import { digest, type Json, whyNot } from "@belay/core/Json"
import type { LlmDelta, LlmRequest } from "@belay/core/LlmCall"
import type { Message, ToolCall } from "@belay/core/Message"
import { jsonrepair } from "jsonrepair"
import { boundedJson, compact, isObject, parse, textOf } from "../request/guards.ts"

/** A tool call that is being streamed. */
interface Entry {
  vendorId: string | undefined
  /** The id that Belay uses. It does not change after the first delta. */
  id: string | undefined
  name: string | undefined
  args: string
  /** Metadata that the vendor wants back with the call. */
  extra: Json | undefined
  /** Arguments that were not emitted yet, because the name was not known. */
  unshown: string
  /** Whether the vendor said that this call is complete. */
  isDone: boolean
}

/**
 * What the vendor says about the tool calls of an answer:
 * - `complete`: they are complete
 * - `marked`: the stream has an end mark but no finish reason, so that a call without any arguments can be incomplete
 * - `unclear`: something stopped the model, so that only calls with whole arguments count
 */
export type Completeness = "complete" | "marked" | "unclear"

/** The assembled calls. */
export interface AssembledCalls {
  readonly calls: ReadonlyArray<ToolCall>
  /** Calls that the model did not finish. */
  readonly cut: ReadonlyArray<{ readonly name: string; readonly argsText: string }>
  readonly problem?: string
}

/** Assembles the tool calls of one answer. */
export interface Collector {
  readonly push: (piece: unknown) => void
  readonly count: () => number
  readonly end: (completeness: Completeness) => AssembledCalls
}

const mostCalls = 256
const longestRepair = 1_000_000

/**
 * Creates an assembler. It replaces ids that are empty or already used in the transcript, and passes deltas to `emit`.
 */
export const make = (
  request: LlmRequest,
  provider: string,
  emit: ((delta: LlmDelta) => void) | undefined
): Collector => {
  const entries: Array<Entry> = []
  const byIndex = new Map<unknown, Entry>()
  const byId = new Map<string, Entry>()
  const used = new Set<string>()
  let overflowed = false

  const isTaken = (id: string): boolean => used.has(id) || request.messages.some((message) => asksWith(message, id))
  const uniqueId = (wanted: string | undefined): string => {
    let id = wanted
    if (id === undefined || isTaken(id)) {
      const stem = `call_${digest([request.messages.length, request.messages.at(-1) ?? null])}`
      for (let n = used.size; id === undefined || isTaken(id); n++) id = `${stem}_${n}`
    }
    used.add(id)
    return id
  }
  const open = (): Entry => {
    const entry: Entry = {
      vendorId: undefined,
      id: undefined,
      name: undefined,
      args: "",
      extra: undefined,
      unshown: "",
      isDone: false
    }
    if (entries.length >= mostCalls) overflowed = true
    else entries.push(entry)
    return entry
  }
  const find = (index: unknown, id: string | undefined, name: string | undefined, args: string): Entry => {
    const known = index === undefined ? id === undefined ? entries.at(-1) : byId.get(id) : byIndex.get(index)
    const isOther = known !== undefined && (
      (id !== undefined && known.vendorId !== undefined && known.vendorId !== id)
      || (id === undefined && name !== undefined && args !== "" && known.args !== "{}" && isWhole(known.args))
    )
    const entry = known === undefined || isOther ? open() : known
    if (index !== undefined) byIndex.set(index, entry)
    if (id !== undefined) byId.set(id, entry)
    return entry
  }
  const show = (entry: Entry): void => {
    if (entry.name === undefined) return
    entry.id ??= uniqueId(entry.vendorId)
    const argsText = entry.unshown
    entry.unshown = ""
    emit?.({ type: "tool-call", id: entry.id, name: entry.name, argsText })
  }
  return {
    push: (piece) => {
      if (!isObject(piece) || overflowed) return
      const given = isObject(piece.function) ? piece.function : isObject(piece.custom) ? piece.custom : {}
      const index = typeof piece.index === "number" || typeof piece.index === "string" ? piece.index : undefined
      const id = textOf(piece.id)
      const name = textOf(given.name)
      const args = argsOf(given.arguments ?? given.input)
      const marked = piece.isDone === true ? byIndex.get(index) : undefined
      if (marked !== undefined) marked.isDone = true
      if (index === undefined && id === undefined && name === undefined && args === "") return
      const entry = find(index, id, name, args)
      const isNew = entry.name === undefined
      entry.vendorId ??= id
      entry.name ??= name
      entry.args += args
      if (isObject(piece.extra_content)) entry.extra = boundedJson(piece.extra_content)
      if (emit === undefined) return
      entry.unshown += args
      if (entry.name !== undefined && (isNew || args !== "")) show(entry)
    },
    count: () => entries.length,
    end: (completeness) => {
      if (overflowed) return { calls: [], cut: [], problem: `the answer has more than ${mostCalls} tool calls` }
      const calls: Array<ToolCall> = []
      const cut: Array<{ name: string; argsText: string }> = []
      for (const entry of entries) {
        const text = tidy(entry.args)
        const isComplete = completeness === "complete" || entry.isDone
        if (entry.name === undefined) {
          if (text !== "" && completeness !== "unclear") {
            return { calls: [], cut: [], problem: "the answer has a tool call without a name" }
          }
          continue
        }
        if (!isComplete && (text === "" || (completeness === "unclear" && !isFinal(text, entry !== entries.at(-1))))) {
          cut.push({ name: entry.name, argsText: entry.args.slice(0, 2000) })
          continue
        }
        calls.push(callOf(entry.id ?? uniqueId(entry.vendorId), entry.name, text, entry.extra, provider))
      }
      return { calls, cut }
    }
  }
}

const asksWith = (message: Message, id: string): boolean =>
  message.role === "assistant" && message.toolCalls?.some((call) => call.id === id) === true

const callOf = (id: string, name: string, text: string, extra: Json | undefined, provider: string): ToolCall => {
  const metadata = extra === undefined ? {} : { metadata: { [provider]: { extra_content: extra } } }
  if (text === "") return { id, name, args: {}, ...metadata }
  const parsed = parse(text)
  // `whyNot` has checked that it is JSON.
  if (parsed !== undefined && whyNot(parsed) === undefined) return { id, name, args: parsed as Json, ...metadata }
  return { id, name, args: parsed === undefined ? repairArguments(text) : null, malformed: text, ...metadata }
}

/** Repairs syntax errors. Arguments that were cut off are not completed. */
const repairArguments = (text: string): Json => {
  if (text.length > longestRepair || isUnfinished(text)) return null
  try {
    const value: unknown = JSON.parse(jsonrepair(text))
    // `whyNot` has checked that it is JSON.
    return isObject(value) && whyNot(value) === undefined ? value as Json : null
  } catch {
    return null
  }
}

/** Whether a text ends inside a string, an object or an array. */
const isUnfinished = (text: string): boolean => {
  let depth = 0
  let isQuoted = false
  for (let at = 0; at < text.length; at++) {
    const letter = text[at]
    if (letter === "\\") at++
    else if (letter === `"`) isQuoted = !isQuoted
    else if (isQuoted) continue
    else if (letter === "{" || letter === "[") depth++
    else if (letter === "}" || letter === "]") depth--
  }
  return isQuoted || depth > 0
}

const argsOf = (given: unknown): string =>
  typeof given === "string" ? given : given === null || given === undefined ? "" : compact(given)

/** Some servers begin every call with an empty object. */
const tidy = (args: string): string => args.trim().replace(/^\{\}\s*(?=\{)/, "")

/** Whether the arguments are complete. More can follow `{}`, because some servers begin every call with it. */
const isFinal = (text: string, isFollowed: boolean): boolean => (isFollowed || text !== "{}") && isWhole(text)

const isWhole = (args: string): boolean => {
  const text = tidy(args)
  return text.endsWith("}") && isObject(parse(text))
}
