/** What hooks of Gemini CLI say with their exit code and output, and what several of them say together. */
import type { JsonObject } from "@belay/core/Json"
import type { Answer } from "../../Dialect.ts"
import type { Finished } from "../../process/Command.ts"
import { cap, type Fields, isFields, isText, parse, reader } from "../shared/fields.ts"
import { type Counting, isMeant, lost, unheard } from "../shared/strayAnswer.ts"
import type { EventName } from "./config.ts"

/** What one hook says. */
export interface Said {
  readonly outcome: Answer["outcome"]
  /** Why it is no success, for the developer. */
  readonly problem?: string
  readonly denied?: string
  readonly asked?: string
  readonly stopped?: string
  readonly message?: string
  readonly suppress: boolean
  readonly specific: Specific
  readonly problems: ReadonlyArray<string>
}

/** What is meant for one event. */
export interface Specific {
  readonly context?: string
  readonly toolInput?: JsonObject
  readonly toolOutput?: string
  readonly tail?: { readonly name: string; readonly args: JsonObject }
  readonly request?: JsonObject
  readonly response?: JsonObject
  readonly mode?: "AUTO" | "ANY" | "NONE"
  readonly allowed?: ReadonlyArray<string>
  readonly clear?: boolean
}

/** What all hooks of one event say. */
export interface Verdict extends Omit<Specific, "context"> {
  readonly denied?: string
  readonly asked?: string
  readonly stopped?: string
  readonly contexts: ReadonlyArray<string>
  readonly messages: ReadonlyArray<string>
}

const silent = { suppress: false, specific: {}, problems: [] } as const

const denials = ["decision", "continue", "systemMessage"]
const message = { top: ["systemMessage"], inner: [] }

/** What counts at an event. Where no decision does, nothing is denied or stopped. */
const counts: { readonly [E in EventName]: Counting } = {
  SessionStart: { top: ["systemMessage"], inner: ["additionalContext"] },
  SessionEnd: message,
  BeforeAgent: { top: denials, inner: ["additionalContext"] },
  AfterAgent: { top: denials, inner: [] },
  BeforeModel: { top: denials, inner: [] },
  BeforeToolSelection: { top: [], inner: [] },
  AfterModel: { top: denials, inner: [] },
  BeforeTool: { top: denials, inner: [] },
  AfterTool: { top: denials, inner: ["additionalContext", "tailToolCallRequest"] },
  PreCompress: message,
  Notification: message
}

/**
 * Reads how a hook of an event ended. One that may not run cannot say no: before a tool a person decides. With
 * `blockOnError` that one, and one that broke, denies a prompt or a tool call.
 */
export const read =
  (event: EventName, blockOnError: boolean) => (finished: Finished, refused: string | undefined): Said => {
    const { broke, json, ...said }: Heard = refused === undefined
      ? heard(finished)
      : unrun(event, refused, blockOnError)
    const isByCode = said.denied !== undefined && json?.["decision"] === undefined
    const read = {
      ...said,
      problems: [
        ...said.problems,
        ...(json === undefined ? [] : unheard(json, counts[event], event)),
        ...(isByCode && !counts[event].top.includes("decision") ? [`${event} cannot be denied`] : []),
        ...(said.asked !== undefined && event !== "BeforeTool" ? [`ask does not count at ${event}`] : [])
      ],
      ...(broke === undefined ? {} : { problem: broke })
    }
    return broke !== undefined && blockOnError && (event === "BeforeAgent" || event === "BeforeTool")
      ? { ...read, outcome: "blocking", denied: cap(`a hook broke: it ${broke}`) }
      : read
  }

const unrun = (event: EventName, refused: string, blockOnError: boolean): Heard => ({
  ...silent,
  outcome: "nonBlockingError",
  broke: `was not run: ${refused}`,
  ...(!blockOnError && event === "BeforeTool" ? { asked: refused } : {})
})

interface Heard extends Said {
  /** Why nothing it says counts. */
  readonly broke?: string
  readonly json?: Fields
}

/**
 * Standard output is JSON, or standard error where there is none; a text that is JSON counts as what it holds. What is
 * not JSON is for the user at 0 and 1, and the reason of a denial at
 * any other code. Code 2 always denies.
 */
const heard = ({ exitCode, overflowed, stderr, stdout, timedOut }: Finished): Heard => {
  if (timedOut) return { ...silent, outcome: "cancelled", broke: "took too long and was ended" }
  // A denial is one, however much was written with it.
  if (exitCode === undefined || (overflowed && exitCode < 2)) {
    return { ...silent, outcome: "nonBlockingError", broke: overflowed ? "wrote too much" : "was killed" }
  }
  const [out, error] = [overflowed ? "" : stdout.trim(), stderr.trim()]
  const json = objectOf(out === "" ? error : out)
  const failure = exitCode === 0 ? undefined : `ended with ${exitCode}`
  if (json !== undefined) {
    const said = decode(json)
    const denied = said.denied ??
      (exitCode === 2 ? cap(said.reason ?? (out === "" ? unsaid : error || unsaid)) : undefined)
    const blocks = denied !== undefined || said.stopped !== undefined
    return {
      ...said,
      json,
      ...(denied === undefined ? {} : { denied }),
      outcome: blocks ? "blocking" : failure === undefined ? "success" : "nonBlockingError",
      ...(blocks || failure === undefined ? {} : { problem: failure })
    }
  }
  const problems = isMeant(out) || isMeant(error) ? [lost] : []
  if (exitCode === 0) return { ...silent, problems, outcome: "success", ...(out === "" ? {} : { message: cap(out) }) }
  const text = cap(error || out)
  const first = text.split("\n", 1)[0]!
  const broke = first === "" ? failure! : `${failure!}: ${first}`
  if (exitCode === 1) {
    return {
      ...silent,
      problems,
      outcome: "nonBlockingError",
      broke,
      ...(text === "" ? {} : { message: `Warning: ${text}` })
    }
  }
  return text === "" && exitCode !== 2
    ? { ...silent, outcome: "nonBlockingError", broke }
    : { ...silent, outcome: "blocking", denied: text || unsaid }
}

/**
 * Any that denies denies; reasons, contexts and messages are put together in order, and of a field that several set the
 * last counts.
 */
export const merge = (all: ReadonlyArray<Said>): Verdict => {
  const join = (pick: (said: Said) => string | undefined) => {
    const found = all.map(pick).filter(isText)
    return found.length === 0 ? undefined : found.join("\n")
  }
  const denied = join((said) => said.denied)
  const asks = new Set(all.map((said) => said.asked).filter(isText))
  const asked = asks.size === 0 ? undefined : [...asks].join("\n")
  const stopped = join((said) => said.stopped)
  const merged = all.reduce<Specific>((before, { specific }) => ({
    ...before,
    ...specific,
    ...mergedObject("toolInput", before.toolInput, specific.toolInput),
    ...mergedObject("request", before.request, specific.request),
    ...mode(before.mode, specific.mode),
    ...(before.allowed === undefined || specific.allowed === undefined
      ? {}
      : { allowed: [...before.allowed, ...specific.allowed] }),
    ...(before.clear === true ? { clear: true } : {})
  }), {})
  const { context: _, ...rest } = merged
  return {
    ...rest,
    ...(denied === undefined ? {} : { denied }),
    ...(asked === undefined ? {} : { asked }),
    ...(stopped === undefined ? {} : { stopped }),
    contexts: all.flatMap(({ specific: { context } }) => context === undefined ? [] : [context]),
    messages: all.flatMap(({ message, suppress }) => message === undefined || suppress ? [] : [message])
  }
}

/** Merges what hooks want of a request: single settings of its `config` too. */
export const mergeRequest = (before: JsonObject, more: JsonObject): JsonObject => ({
  ...before,
  ...more,
  ...(isFields(before["config"]) && isFields(more["config"])
    ? { config: { ...before["config"], ...more["config"] } as JsonObject }
    : {})
})

const mergedObject = (
  key: "toolInput" | "request",
  before: JsonObject | undefined,
  more: JsonObject | undefined
): Specific =>
  before === undefined || more === undefined
    ? {}
    : { [key]: key === "request" ? mergeRequest(before, more) : { ...before, ...more } }

const modes = ["AUTO", "ANY", "NONE"] as const

/** The strictest. */
const mode = (before: Specific["mode"], more: Specific["mode"]): Specific =>
  before === undefined || more === undefined
    ? {}
    : { mode: modes[Math.max(modes.indexOf(before), modes.indexOf(more))]! }

const unsaid = "No reason provided"

/** An object, also where it was written as a text of JSON. */
const objectOf = (text: string): Fields | undefined => {
  const value = parse(text)
  const inner = isText(value) ? parse(value) : value
  return isFields(inner) ? inner : undefined
}

const decode = (json: Fields): Omit<Said, "outcome"> & { readonly reason?: string } => {
  const { fields, flag, object, oneOf, problems, text } = reader()
  const decision = oneOf(json, "decision", "allow", "approve", "deny", "block", "ask")
  const stop = flag(json, "continue") === false
  const [reason, stopReason, message] = [text(json, "reason"), text(json, "stopReason"), text(json, "systemMessage")]
  const why = cap(reason || stopReason || unsaid)
  const specific = fields(json, "hookSpecificOutput") ?? {}
  const config = fields(specific, "toolConfig")
  const tail = fields(specific, "tailToolCallRequest")
  const name = tail === undefined ? undefined : text(tail, "name")
  const context = text(specific, "additionalContext")
  const [toolInput, toolOutput] = [object(specific, "tool_input"), text(specific, "tool_output")]
  const [request, response] = [object(specific, "llm_request"), object(specific, "llm_response")]
  const chosen = config === undefined ? undefined : oneOf(config, "mode", ...modes)
  const allowed = config?.["allowedFunctionNames"]
  const isList = Array.isArray(allowed) && allowed.every(isText)
  if (allowed !== undefined && !isList) problems.push("allowedFunctionNames does not count: expected a list of texts")
  return {
    ...(reason === undefined ? {} : { reason }),
    ...(decision === "deny" || decision === "block" ? { denied: why } : {}),
    ...(decision === "ask" ? { asked: why } : {}),
    ...(stop ? { stopped: cap(stopReason || reason || unsaid) } : {}),
    ...(message === undefined || message === "" ? {} : { message: cap(message) }),
    suppress: flag(json, "suppressOutput") === true,
    specific: {
      ...(context === undefined || context.trim() === "" ? {} : { context }),
      ...(toolInput === undefined ? {} : { toolInput }),
      ...(toolOutput === undefined ? {} : { toolOutput }),
      ...(tail === undefined || name === undefined ? {} : { tail: { name, args: object(tail, "args") ?? {} } }),
      ...(request === undefined ? {} : { request }),
      ...(response === undefined ? {} : { response }),
      ...(chosen === undefined ? {} : { mode: chosen }),
      ...(isList ? { allowed } : {}),
      ...(flag(specific, "clearContext") === true ? { clear: true } : {})
    },
    problems
  }
}
