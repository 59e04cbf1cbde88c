/** What comes from outside with a request to a model: messages of the user, and results that others have made. */
import type { Json } from "@belay/core/Json"
import { type Message, text } from "@belay/core/Message"
import type { ToolResult } from "@belay/core/Tool"
import { GuardError } from "../GuardError.ts"
import { decide } from "./decide.ts"
import type { Place } from "./place.ts"

/** The answer in place of the model. */
export interface OwnAnswer {
  readonly text: string
  readonly raw: string
}

/** Returns the result of a tool behind which is another agent, as the hooks after a delegation leave it. */
export type Delegated = (name: string, args: Json, output: Json) => Promise<ToolResult>

/** A class, because it knows which messages have been received. */
export class TurnInput {
  private readonly place: Place
  private readonly delegated: Delegated | undefined
  /** The message with which the running turn began, and how many messages there were. */
  private begunWith: { readonly key: string; readonly text: string; readonly length: number } | undefined = undefined
  private hasAnswer = false
  private isHandedOver = false
  private hasHistory = false
  private hasResults = false
  private readonly reported = new Set<string>()

  constructor(place: Place, delegated?: Delegated) {
    this.place = place
    this.delegated = delegated
  }

  /** The turn has ended: the same message again begins another one. */
  end(): void {
    this.begunWith = undefined
  }

  /** The model has answered with calls. If the same messages come again, nobody has continued this turn. */
  answered(): void {
    this.hasAnswer = true
  }

  /** Another agent continues the turn. It may read less of the conversation, with the same message at the end. */
  handOver(): void {
    this.isHandedOver = true
  }

  /** Passes what is new to the guard. Returns the answer if the model must not be asked. */
  async receive(messages: ReadonlyArray<Message>): Promise<OwnAnswer | undefined> {
    await this.takeResults(messages)
    const last = messages.at(-1)
    const { begunWith: begun, isHandedOver } = this
    this.isHandedOver = false
    if (last?.role !== "user") return undefined
    const said = text(last)
    const key = `${messages.filter(({ role }) => role === "user").length} ${said}`
    if (isHandedOver && said === begun?.text) {
      this.begunWith = { key, text: said, length: messages.length }
      return undefined
    }
    if (key === begun?.key && !(this.hasAnswer && messages.length === begun.length)) return undefined
    return await this.begin(last, messages.slice(0, -1), key)
  }

  private async begin(
    last: Extract<Message, { readonly role: "user" }>,
    earlier: ReadonlyArray<Message>,
    key: string
  ): Promise<OwnAnswer | undefined> {
    const { place } = this
    const before = this.hasHistory || earlier.length === 0 ? {} : { before: earlier }
    const files = typeof last.content === "string"
      ? []
      : last.content.flatMap((part) => part.type === "file" ? [part] : [])
    const message = text(last)
    const verdict = await place.session.userMessage({
      message,
      ...before,
      ...(files.length === 0 ? {} : { attachments: files })
    })
    if (verdict.type === "deny") throw new GuardError(verdict)
    if (verdict.type === "stop") return { text: verdict.reason, raw: "guard: stopped" }
    if (verdict.type === "respond") return { text: verdict.text, raw: "guard: answered" }
    this.begunWith = { key, text: message, length: earlier.length + 1 }
    this.hasAnswer = false
    this.hasHistory = true
    const { input } = verdict
    input.before?.forEach((now, index) => {
      if (earlier[index] !== undefined) place.noteChange(earlier[index], now)
    })
    if (input.message !== message) place.noteChange(last, { ...last, content: withText(last, input.message) })
    return undefined
  }

  /** Results of tools that ran elsewhere, for example in the browser, pass the hooks before the model reads them. */
  private async takeResults(messages: ReadonlyArray<Message>): Promise<void> {
    const { place, place: { session } } = this
    const results = messages.flatMap((message, index) => message.role === "tool" ? [{ message, index }] : [])
    if (!this.hasResults) {
      // What the model has answered already is the history.
      const start = messages.findLastIndex(({ role }) => role === "assistant")
      for (const { index, message } of results) if (index < start) this.reported.add(message.toolCallId)
      this.hasResults = true
    }
    const fresh = results.flatMap(({ message }) =>
      this.reported.has(message.toolCallId) || place.isChecked(message.toolCallId, message.content) ? [] : [message]
    )
    if (fresh.length === 0) return
    const open = new Set((await session.pending()).map(({ callId }) => callId))
    const calls = messages.flatMap((message) => message.role === "assistant" ? message.toolCalls ?? [] : [])
    for (const message of fresh) {
      const { content, isError, toolCallId: id, toolName: name } = message
      this.reported.add(id)
      // The call did not run: the person has said no, or the guard has.
      if (open.has(id)) {
        const reason = typeof content === "string" ? content : "not approved"
        await decide(session, id, { type: "deny", reason, ...place.by })
        continue
      }
      if (place.denied.has(id)) continue
      const args = calls.findLast((call) => call.id === id)?.args ?? {}
      const result: ToolResult = isError === true
        ? { ok: false, error: typeof content === "string" ? content : JSON.stringify(content) }
        : await this.delegated?.(name, args, content) ?? { ok: true, output: content }
      const verdict = await session.toolResult({ id, name, args, tool: await place.toolOf(name) }, result)
      if (verdict.type !== "allow") continue
      const now = verdict.result
      place.noteChange(
        message,
        now.ok
          ? { role: "tool", toolCallId: id, toolName: name, content: now.output }
          : { role: "tool", toolCallId: id, toolName: name, content: now.error, isError: true }
      )
    }
  }
}

const withText = (
  { content }: Extract<Message, { readonly role: "user" }>,
  now: string
): Extract<Message, { readonly role: "user" }>["content"] =>
  typeof content === "string"
    ? now
    : [{ type: "text", text: now }, ...content.filter(({ type }) => type !== "text")]
