/**
 * Makes a recording from what a session store keeps: the conversation and its decision records.
 *
 * @since 0.1.0
 */
import type { AgentEvent, AgentEventBody } from "@belay/core/AgentEvent"
import { checked } from "@belay/core/ArgumentCheck"
import type { HookPointName } from "@belay/core/HookPoint"
import type { HookRecord } from "@belay/core/HookRecord"
import type { JsonObject } from "@belay/core/Json"
import { type AssistantMessage, type Message, text, type ToolMessage } from "@belay/core/Message"
import type { Entry, Recording } from "./Recording.ts"

/** The parts of a stored session that are read. A `RunState` has them. @category models @since 0.1.0 */
export interface StoredSession {
  readonly sessionId: string
  readonly messages: ReadonlyArray<Message>
}

/**
 * Makes the recording. It has less than one of a `Recorder`: no times of calls, no usage, no refused messages, nothing
 * of sub-agents, and nothing that compaction has removed.
 *
 * @category constructors
 * @since 0.1.0
 */
export const toRecording = checked(
  "Transcript.toRecording",
  ["session", "records"],
  (session: StoredSession, records: ReadonlyArray<HookRecord> = []): Recording => {
    const transcript = new Transcript(session, records)
    for (const [index, message] of session.messages.entries()) transcript.take(message, index)
    transcript.endTurn()
    return { entries: transcript.entries }
  }
)

const unpriced = { inputTokens: 0, outputTokens: 0 }

/** A class, because each message depends on where the turn is. */
class Transcript {
  readonly entries: Array<Entry> = []
  private readonly session: StoredSession
  private readonly records: ReadonlyArray<HookRecord>
  private readonly calls = new Map<string, NonNullable<AssistantMessage["toolCalls"]>[number]>()
  private nextRecord = 0
  private turnNumber = 0
  private stepNumber = 0
  private isOpen = false
  private answer = ""
  private time: number
  private seq = 0

  constructor(session: StoredSession, records: ReadonlyArray<HookRecord>) {
    this.session = session
    this.records = records.filter(({ hooks }) => hooks.some(({ answer }) => answer !== "Continue"))
    this.time = records[0]?.time ?? 0
  }

  take(message: Message, index: number): void {
    if (message.role === "user") {
      if (message.source === undefined) this.beginTurn(text(message))
      else this.event({ type: "inject", hook: message.source, text: text(message) })
    } else if (message.role === "assistant") this.takeAnswer(message, index)
    else this.takeResult(message)
  }

  endTurn(): void {
    if (!this.isOpen) return
    this.isOpen = false
    this.addRecords(() => true)
    this.event({ type: "turn-end", status: "ended", text: this.answer, usage: unpriced })
  }

  private beginTurn(message: string): void {
    this.endTurn()
    this.turnNumber++
    this.stepNumber = 0
    this.answer = ""
    this.isOpen = true
    this.event({ type: "turn-start", message, resumed: false })
    this.input("preTurn", { message })
  }

  private takeAnswer(message: AssistantMessage, index: number): void {
    const { content, toolCalls = [] } = message
    this.stepNumber++
    this.answer = content
    const messages = this.session.messages.slice(0, index)
    // Messages and calls are JSON.
    const request = { messages, tools: [], parameters: {} } as unknown as JsonObject
    const finishReason = toolCalls.length > 0 ? "tool-calls" : "stop"
    const response = { model: "recorded", text: content, toolCalls, finishReason } as unknown as JsonObject
    this.event({ type: "llm-start", provider: "recorded", model: undefined, attempt: 1 })
    this.input("preLlmCall", request)
    this.addRecords(({ point, stepNumber }) => /Llm/.test(point) && (stepNumber ?? 0) <= this.stepNumber)
    this.input("postLlmCall", { request, response, provider: "recorded", attempt: 1, executed: true })
    const end = { provider: "recorded", model: "model", attempt: 1, text: content, toolCalls, finishReason } as const
    this.event({ type: "llm-end", ...end, usage: undefined, durationMs: 0 })
    for (const call of toolCalls) {
      this.calls.set(call.id, call)
      this.event({ type: "tool-start", call })
      this.input("preToolCall", { id: call.id, name: call.name, args: call.args })
    }
  }

  private takeResult({ content, isError, toolCallId }: ToolMessage): void {
    const call = this.calls.get(toolCallId)
    if (call === undefined) return
    this.addRecords(({ callId }) => callId === toolCallId)
    const result = isError === true
      ? { ok: false as const, error: typeof content === "string" ? content : JSON.stringify(content) }
      : { ok: true as const, output: content }
    const end = { call, result, elapsedMs: 0, executed: true }
    // Calls and results are JSON.
    this.input("postToolCall", end as unknown as JsonObject)
    this.event({ type: "tool-end", ...end })
  }

  /** Adds the next records that belong here. Records are in the order in which things happened. */
  private addRecords(belongs: (record: HookRecord) => boolean): void {
    while (true) {
      const record = this.records[this.nextRecord]
      if (record === undefined || (record.turnNumber ?? 0) > this.turnNumber || !belongs(record)) return
      this.nextRecord++
      this.time = record.time ?? this.time
      this.event({ type: "hook", record })
    }
  }

  private event(body: AgentEventBody): void {
    const { sessionId } = this.session
    const { stepNumber, time, turnNumber } = this
    const meta = {
      seq: ++this.seq,
      sessionId,
      rootSessionId: sessionId,
      turnNumber,
      stepNumber,
      time,
      agent: "agent",
      agentPath: ["agent"]
    }
    // The metadata and one body are an event.
    this.entries.push({ type: "event", event: { ...meta, ...body } as AgentEvent })
  }

  private input(point: HookPointName, event: JsonObject): void {
    const { sessionId } = this.session
    const { stepNumber, time, turnNumber } = this
    const place = { sessionId, rootSessionId: sessionId, turnNumber, stepNumber, agent: "agent", depth: 0, time }
    this.entries.push({ type: "input", point, ...place, event })
  }
}
