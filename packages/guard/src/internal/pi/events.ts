/** The events of pi as steps of guarded sessions. */
import type { GivenCall, GuardSession } from "@belay/core/Driver"
import type { Json } from "@belay/core/Json"
import type { FilePart } from "@belay/core/Message"
import type { ToolCallVerdict } from "@belay/core/Verdict"
import { decide } from "../decide.ts"
import { injectedText, withInjected } from "../injected.ts"
import { jsonOf, sameJson } from "../json.ts"
import type { Described } from "../place.ts"
import { unseenBeside } from "../unseen.ts"
import { writeArgs } from "../writeArgs.ts"

/** A part of a message. */
interface Part {
  readonly type: string
  readonly text?: string
  readonly mimeType?: string
}

/** What the guard uses of the context of an event. */
export interface PiContext {
  readonly hasUI: boolean
  readonly signal: AbortSignal | undefined
  readonly abort: () => void
  readonly sessionManager: { readonly getSessionId: () => string }
  readonly ui: {
    readonly confirm: (title: string, message: string, options?: { signal?: AbortSignal }) => Promise<boolean>
    readonly notify: (message: string, type?: "info" | "warning" | "error") => void
  }
}

/** A message that the user sends, or another extension for the user. */
interface InputEvent {
  readonly text: string
  readonly images?: ReadonlyArray<Part>
}
type InputAnswer = { action: "continue" } | { action: "handled" } | { action: "transform"; text: string }

interface ToolEvent {
  readonly toolName: string
  readonly toolCallId: string
  readonly input: object
}

interface ToolEnd extends ToolEvent {
  readonly content: ReadonlyArray<Part>
  readonly isError: boolean
}

interface SettleEvent {
  readonly outcome: string
  readonly context: { readonly contextMessages: ReadonlyArray<unknown> }
}

/** One conversation of pi. */
export interface Conversation {
  readonly session: GuardSession
  /** What hooks have injected, by the call in whose result the model reads it. */
  readonly context: Map<string, string>
  /** What hooks have injected with the message of the user. */
  opening: string
}

/** What the events share. */
export interface Parts {
  readonly find: (id: string) => Conversation
  readonly describe: (name: string) => Described
  readonly approvedBy: string | undefined
}

/** The name of what the guard adds to a conversation. */
const customType = "belay-guard"

/** A message of the user begins a turn. pi goes on if this throws, so it never does. */
export const onInput = (parts: Parts) => async (event: InputEvent, context: PiContext): Promise<InputAnswer> => {
  const refuse = (reason: string, type: "info" | "error" = "error"): InputAnswer => {
    context.ui.notify(reason, type)
    return { action: "handled" }
  }
  try {
    const conversation = find(parts, context)
    const attachments = (event.images ?? []).map(({ mimeType = "image/*" }): FilePart => ({
      type: "file",
      mediaType: mimeType,
      url: "data:,"
    }))
    const verdict = await conversation.session.userMessage(unseenBeside(event.text, attachments))
    if (verdict.type === "respond") return refuse(verdict.text, "info")
    if (verdict.type !== "allow") return refuse(verdict.reason)
    conversation.opening = joined(verdict.context.map(({ text }) => text))
    const { message } = verdict.input
    return message === event.text ? { action: "continue" } : { action: "transform", text: message }
  } catch (error) {
    return refuse(`the guard failed: ${messageOf(error)}`)
  }
}

/** Adds what hooks have injected with the message of the user. */
export const onStart = (parts: Parts) => (_event: unknown, context: PiContext) => {
  const conversation = find(parts, context)
  const { opening: content } = conversation
  conversation.opening = ""
  return content === "" ? undefined : { message: { customType, content, display: false } }
}

/** A tool is about to run. pi blocks it if this throws. */
export const onCall = (parts: Parts) => async (event: ToolEvent, context: PiContext) => {
  const { context: injected, session } = find(parts, context)
  const call = callOf(parts, event)
  const verdict = await decided(parts, session, call, context)
  // The turn may have been cancelled while the guard was deciding.
  if (context.signal?.aborted === true) return { block: true, reason: "the turn was cancelled" }
  const refused = (reason: string) => ({ block: true, reason: withInjected(reason, verdict.context) })
  switch (verdict.type) {
    case "allow":
      writeArgs(event.input, verdict.args)
      if (verdict.context.length > 0) injected.set(call.id, injectedText(verdict.context))
      return undefined
    case "respond":
      return refused(`not run, and this is its result: ${shown(verdict.result)}`)
    case "ask":
      return refused(`not run: more people have to approve: ${verdict.question.reason}`)
    case "deny":
      return refused(verdict.reason)
    case "stop":
      context.abort()
      return { block: true, reason: verdict.reason, terminate: true }
  }
}

/** Asks the person in front of pi. Without one, a question is a refusal. */
const decided = async (
  { approvedBy }: Parts,
  session: GuardSession,
  call: GivenCall,
  { hasUI, signal, ui }: PiContext
): Promise<ToolCallVerdict> => {
  const verdict = await session.toolCall(call)
  if (verdict.type !== "ask") return verdict
  const { args, by: hook, reason } = verdict.question
  if (!hasUI) {
    return await decide(session, call.id, {
      type: "deny",
      reason: `not run: ${hook} asks a person, and nobody is there: ${reason}`
    }, verdict.context)
  }
  const text = `${reason}\n\n${JSON.stringify(args, undefined, 2)}`
  const isApproved = await ui.confirm(`Run ${call.name}?`, text, signal === undefined ? {} : { signal })
  const by = approvedBy === undefined ? {} : { by: approvedBy }
  return await decide(
    session,
    call.id,
    isApproved ? { type: "approve", ...by } : { type: "deny", reason: "a person refused the call", ...by },
    verdict.context
  )
}

/** A tool has run. pi shows the original result if this throws, so it never does. */
export const onResult = (parts: Parts) => async (event: ToolEnd, context: PiContext) => {
  const replaced = (text: string, isError: boolean) => ({
    content: [{ type: "text" as const, text }],
    // The terminal shows the result from here.
    details: {},
    isError
  })
  try {
    const { context: injected, session } = find(parts, context)
    const before = outputOf(event.content)
    const verdict = await session.toolResult(
      callOf(parts, event),
      event.isError ? { ok: false, error: shown(before) } : { ok: true, output: before }
    )
    if (verdict.type === "stop") {
      context.abort()
      return replaced(verdict.reason, true)
    }
    const { result } = verdict
    const now: Json = result.ok ? result.output : result.error
    const isSame = result.ok !== event.isError && sameJson(now, result.ok ? before : shown(before))
    const more = joined([injected.get(idOf(event.toolCallId)) ?? "", ...verdict.context.map(({ text }) => text)])
    injected.delete(idOf(event.toolCallId))
    if (!isSame) return replaced(joined([shown(now), more]), !result.ok)
    return more === "" ? undefined : { content: [...event.content, { type: "text" as const, text: more }] }
  } catch (error) {
    return replaced(`withheld, because the guard failed: ${messageOf(error)}`, true)
  }
}

/** The turn is about to end. */
export const onSettle =
  (parts: Parts) => async ({ context: { contextMessages }, outcome }: SettleEvent, context: PiContext) => {
    if (outcome !== "completed") return undefined
    const last = contextMessages.findLast((message) => Object(message).role === "assistant")
    const { content = [] } = Object(last) as { readonly content?: ReadonlyArray<Part> }
    const text = content.flatMap((part) => part.type === "text" ? [part.text ?? ""] : []).join("")
    const verdict = await find(parts, context).session.beforeStop({ text })
    if (verdict.type !== "continue") return undefined
    return {
      continue: true,
      entries: [{ type: "custom_message" as const, customType, content: verdict.message, display: true }]
    }
  }

const find = (parts: Parts, { sessionManager }: PiContext): Conversation => parts.find(sessionManager.getSessionId())

const callOf = ({ describe }: Parts, { input, toolCallId, toolName: name }: ToolEvent): GivenCall => ({
  id: idOf(toolCallId),
  name,
  args: jsonOf(input ?? {}),
  tool: describe(name)
})

/** Calls that a tool makes have the id of its call, a slash and a number. The ids of the guard have no slash. */
const idOf = (id: string): string => id.replaceAll("%", "%25").replaceAll("/", "%2F")

/** Returns what the model would read. Hooks see that there is a picture, and its bytes stay with pi. */
const outputOf = (content: ReadonlyArray<Part>): Json => {
  if (content.every(({ type }) => type === "text")) return joined(content.map(({ text = "" }) => text))
  return content.map(({ mimeType = "image/*", text = "", type }) =>
    type === "text" ? { type, text } : { type, mimeType }
  )
}

const joined = (texts: ReadonlyArray<string>): string => texts.filter((text) => text !== "").join("\n\n")

const shown = (value: Json): string => typeof value === "string" ? value : JSON.stringify(value)

const messageOf = (error: unknown): string => error instanceof Error ? error.message : String(error)
