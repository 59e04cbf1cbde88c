/** Writes what happens in a turn as chunks of the UI message stream. The types of chunks are those of version 1. */
import type { AgentEvent } from "@belay/core/AgentEvent"
import type { ToolCall } from "@belay/core/Message"
import type { PendingAsk } from "@belay/core/RunState"
import type { Conversation } from "../../../host/Host.ts"
import type { Outcome } from "../../../host/Outcome.ts"
import type { Serve } from "../../Serve.ts"
import { isClientCall } from "../act.ts"
import type { Item } from "../follow.ts"
import { askIdOf, type Asking, clientCallIdOf, type Token } from "../identity.ts"
import { refusalOfOutcome } from "../refusal.ts"
import { cutJson } from "../shorten.ts"
import { changeOf } from "./storedUi.ts"

/** A chunk of the stream. */
export interface Chunk {
  readonly type: string
  readonly [field: string]: unknown
}

/** What the writer needs to know about the turn. */
export interface UiTurn {
  readonly token: Token
  /** The id of the message of the assistant. */
  readonly messageId: string
  /** Whether to send the decisions of hooks. */
  readonly hooks: boolean
  /** Reads the conversation, when the turn has ended. */
  readonly conversation: () => PromiseLike<Conversation | undefined>
}

/** Yields the chunks of a turn. */
export async function* uiChunks(serve: Serve, turn: UiTurn, items: AsyncIterable<Item>): AsyncGenerator<Chunk> {
  const { hooks, messageId } = turn
  const writer = new UiWriter(serve.maxEventLength, hooks)
  yield { type: "start", messageId }
  for await (const item of items) {
    if (item.type === "event") yield* writer.event(item.event)
    else yield* endOf(serve, turn, writer, item.outcome)
  }
}

/** A class, because it is the state of a message that is written. */
class UiWriter {
  /** Whether text was written since the last call of a tool. */
  hasText = false
  private readonly maxLength: number
  private readonly hooks: boolean
  private readonly shown = new Set<string>()
  private parts = 0
  /** The text or the reasoning that is written. */
  private open: { readonly kind: "text" | "reasoning"; readonly id: string } | undefined
  private isInStep = false
  /** Whether the step has text and nothing else so far. */
  private canReset = false

  constructor(maxLength: number, hooks: boolean) {
    this.maxLength = maxLength
    this.hooks = hooks
  }

  *event(event: AgentEvent): Iterable<Chunk> {
    if (event.type === "hook" && this.hooks && isDecision(event.record)) yield hookChunk(event.record)
    if (event.parent !== undefined) return
    switch (event.type) {
      case "turn-start":
        // A process continues what another one has left in the middle of an answer.
        if (event.resumed) yield* this.reset()
        break
      case "llm-start":
        yield* this.beginStep()
        break
      case "text-delta":
        yield* this.delta("text", event.text)
        break
      case "reasoning-delta":
        yield* this.delta("reasoning", event.text)
        break
      case "retract":
        yield* this.reset()
        break
      case "llm-end":
        yield* this.close()
        this.canReset = false
        break
      case "tool-start":
      case "tool-progress":
      case "tool-end":
      case "tool-denied":
        yield* this.tool(event)
        break
      default:
    }
  }

  *delta(kind: "text" | "reasoning", delta: string): Iterable<Chunk> {
    if (this.open?.kind !== kind) {
      yield* this.close()
      this.open = { kind, id: `${kind}-${++this.parts}` }
      yield { type: `${kind}-start`, id: this.open.id }
    }
    if (kind === "text") this.hasText = true
    yield { type: `${kind}-delta`, id: this.open.id, delta }
  }

  *close(): Iterable<Chunk> {
    if (this.open === undefined) return
    const { id, kind } = this.open
    this.open = undefined
    yield { type: `${kind}-end`, id }
  }

  *endStep(): Iterable<Chunk> {
    yield* this.close()
    if (this.isInStep) yield { type: "finish-step" }
  }

  *input(toolCallId: string, name: string, input: unknown, changed?: ToolCall["changed"]): Iterable<Chunk> {
    this.hasText = false
    this.canReset = false
    if (this.shown.has(toolCallId)) return
    this.shown.add(toolCallId)
    yield {
      type: "tool-input-available",
      toolCallId,
      toolName: name,
      input: cutJson(input, this.maxLength),
      dynamic: true,
      ...(changed === undefined ? {} : { providerMetadata: changeOf(changed) })
    }
  }

  private *beginStep(): Iterable<Chunk> {
    // Another attempt of the same call continues the step.
    if (this.isInStep && this.canReset) return
    yield* this.endStep()
    this.isInStep = true
    this.canReset = true
    yield { type: "start-step" }
  }

  /** Takes back the text of the step, because the model begins again. */
  private *reset(): Iterable<Chunk> {
    if (!this.isInStep || !this.canReset) return
    this.open = undefined
    this.hasText = false
    yield { type: "reset-step" }
  }

  private *tool(event: Extract<AgentEvent, { readonly type: `tool-${string}` }>): Iterable<Chunk> {
    switch (event.type) {
      case "tool-progress":
        if (this.shown.has(event.callId)) {
          yield { ...this.output(event.callId, event.value), preliminary: true }
        }
        break
      case "tool-start":
        yield* this.call(event.call)
        break
      case "tool-end":
        if (event.unfinished === true || event.client === true) break
        yield* this.call(event.call)
        yield event.result.ok
          ? this.output(event.call.id, event.result.output)
          : errorChunk(event.call.id, event.result.error)
        break
      case "tool-denied":
        if (event.client === true) break
        yield* this.call(event.call)
        yield event.by === "person"
          ? { type: "tool-output-denied", toolCallId: event.call.id }
          : errorChunk(event.call.id, event.reason)
        break
      default:
    }
  }

  private *call({ args, changed, id, name }: ToolCall): Iterable<Chunk> {
    yield* this.input(id, name, args, changed)
  }

  private output(toolCallId: string, output: unknown): Chunk {
    return { type: "tool-output-available", toolCallId, output: cutJson(output, this.maxLength), dynamic: true }
  }
}

const errorChunk = (toolCallId: string, errorText: string): Chunk => ({
  type: "tool-output-error",
  toolCallId,
  errorText,
  dynamic: true
})

type DecisionRecord = Extract<AgentEvent, { readonly type: "hook" }>["record"]

/** Whether a hook has decided something that concerns the user. */
const isDecision = ({ action }: DecisionRecord): boolean => action !== "Continue"

const hookChunk = ({ action, callId, decidedBy, hooks, point, subject }: DecisionRecord): Chunk => ({
  type: "data-hook",
  data: { point, action, subject, callId, by: decidedBy, why: hooks.find(({ hook }) => hook === decidedBy)?.why }
})

async function* endOf(serve: Serve, turn: UiTurn, writer: UiWriter, outcome: Outcome): AsyncGenerator<Chunk> {
  yield* writer.close()
  switch (outcome.status) {
    case "completed":
    case "limited":
    case "aborted": {
      // A hook may have answered in place of the model.
      if (!writer.hasText && outcome.text !== "") {
        yield* writer.delta("text", outcome.text)
        yield* writer.close()
      }
      if (outcome.status === "completed") yield* filesOf(await turn.conversation())
      yield* writer.endStep()
      const { status, usage } = outcome
      return yield { type: "finish", finishReason: finishReasons[status], messageMetadata: { status, usage } }
    }
    case "suspended": {
      const asking = { token: turn.token, turnNumber: outcome.turnNumber }
      for (const ask of outcome.pending) yield* questionChunks(asking, writer, ask)
      yield* writer.endStep()
      const { status, usage } = outcome
      return yield { type: "finish", finishReason: "tool-calls", messageMetadata: { status, usage } }
    }
    case "delivered":
      return yield { type: "finish", finishReason: "other" }
    case "cancelled":
      return yield { type: "abort", reason: "cancelled" }
    default:
      yield { type: "error", errorText: refusalOfOutcome(serve, outcome).message }
  }
}

const finishReasons = { completed: "stop", limited: "length", aborted: "content-filter" } as const

async function* questionChunks(asking: Asking, writer: UiWriter, ask: PendingAsk): AsyncGenerator<Chunk> {
  if (isClientCall(ask)) return yield* writer.input(await clientCallIdOf(asking, ask), ask.tool, ask.args)
  yield* writer.input(ask.callId, ask.tool, ask.args)
  const { allowed, by, callId, details, expiresAt, reason, reasons } = ask
  yield {
    type: "tool-approval-request",
    approvalId: await askIdOf(asking, ask),
    toolCallId: callId,
    reason,
    approvalDescriptor: { by, allowed, expiresAt, details, reasons }
  }
}

/** The files and the sources of the answer. They are in the conversation only. */
function* filesOf(conversation: Conversation | undefined): Iterable<Chunk> {
  const last = conversation?.messages.at(-1)
  if (last?.role !== "assistant") return
  for (const { mediaType, url } of last.files ?? []) yield { type: "file", mediaType, url }
  for (const [index, { title, url }] of (last.citations ?? []).entries()) {
    if (url !== undefined) {
      yield { type: "source-url", sourceId: `source-${index}`, url, ...(title === undefined ? {} : { title }) }
    }
  }
}
