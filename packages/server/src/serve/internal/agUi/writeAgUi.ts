/** Writes what happens in a turn as events of AG-UI. */
import type { AgentEvent } from "@belay/core/AgentEvent"
import { defined } from "@belay/core/Fields"
import type { ToolCall } from "@belay/core/Message"
import type { PendingAsk } from "@belay/core/RunState"
import type { ToolResult } from "@belay/core/Tool"
import type { Outcome } from "../../../host/Outcome.ts"
import type { Serve } from "../../Serve.ts"
import { isClientCall } from "../act.ts"
import type { Item } from "../follow.ts"
import { askIdOf, type Asking, clientCallIdOf, type Token } from "../identity.ts"
import { refusalOfOutcome } from "../refusal.ts"
import { cut } from "../shorten.ts"

/** An event. */
export interface AgUiEvent {
  readonly type: string
  readonly [field: string]: unknown
}

/** The run, as the client names it. */
export interface AgUiRun {
  readonly threadId: string
  readonly runId: string
  readonly token: Token
}

/** Yields the events of a run. */
export async function* agUiEvents(serve: Serve, run: AgUiRun, items: AsyncIterable<Item>): AsyncGenerator<AgUiEvent> {
  const { runId, threadId } = run
  const writer = new AgUiWriter(runId, serve.maxEventLength)
  yield { type: "RUN_STARTED", threadId, runId }
  for await (const item of items) {
    if (item.type === "event") yield* writer.event(item.event)
    else yield* endOf(serve, run, writer, item.outcome)
  }
}

/** A class, because it is the state of a run that is written. */
class AgUiWriter {
  /** Whether text was written since the last call of a tool. */
  hasText = false
  private readonly runId: string
  private readonly maxLength: number
  private readonly shown = new Set<string>()
  private count = 0
  private step: string | undefined
  /** The message that is written. */
  private open: { readonly kind: "text" | "reasoning"; readonly id: string } | undefined

  constructor(runId: string, maxLength: number) {
    this.runId = runId
    this.maxLength = maxLength
  }

  *event(event: AgentEvent): Iterable<AgUiEvent> {
    if (event.parent !== undefined) return
    switch (event.type) {
      case "llm-start":
        yield* this.endStep()
        this.step = `step ${event.stepNumber}.${event.attempt}`
        yield { type: "STEP_STARTED", stepName: this.step }
        break
      case "text-delta":
        yield* this.delta("text", event.text)
        break
      case "reasoning-delta":
        yield* this.delta("reasoning", event.text)
        break
      case "retract": {
        const id = this.open?.id
        yield* this.close()
        yield { type: "CUSTOM", name: "belay.retract", value: { messageId: id ?? null } }
        break
      }
      case "llm-end":
        yield* this.endStep()
        break
      case "tool-start":
        yield* this.call(event.call.id, event.call.name, event.call.args)
        if (event.call.changed !== undefined) {
          const { call: { changed: { by }, id: toolCallId } } = event
          yield { type: "CUSTOM", name: "belay.changed", value: { toolCallId, by } }
        }
        break
      case "tool-end":
        if (event.unfinished !== true && event.client !== true) yield* this.result(event.call, event.result)
        break
      case "tool-denied":
        if (event.client !== true) yield* this.result(event.call, { ok: false, error: event.reason })
        break
      default:
    }
  }

  *delta(kind: "text" | "reasoning", delta: string): Iterable<AgUiEvent> {
    if (delta === "") return
    if (this.open?.kind !== kind) {
      yield* this.close()
      this.open = { kind, id: `${this.runId}-${++this.count}` }
      if (kind === "reasoning") yield { type: "REASONING_START", messageId: this.open.id }
      yield kind === "text"
        ? { type: "TEXT_MESSAGE_START", messageId: this.open.id, role: "assistant" }
        : { type: "REASONING_MESSAGE_START", messageId: this.open.id, role: "reasoning" }
    }
    if (kind === "text") this.hasText = true
    const type = kind === "text" ? "TEXT_MESSAGE_CONTENT" : "REASONING_MESSAGE_CONTENT"
    yield { type, messageId: this.open.id, delta }
  }

  *close(): Iterable<AgUiEvent> {
    if (this.open === undefined) return
    const { id: messageId, kind } = this.open
    this.open = undefined
    if (kind === "text") return yield { type: "TEXT_MESSAGE_END", messageId }
    yield { type: "REASONING_MESSAGE_END", messageId }
    yield { type: "REASONING_END", messageId }
  }

  *endStep(): Iterable<AgUiEvent> {
    yield* this.close()
    if (this.step !== undefined) yield { type: "STEP_FINISHED", stepName: this.step }
    this.step = undefined
  }

  *call(toolCallId: string, name: string, args: unknown): Iterable<AgUiEvent> {
    yield* this.close()
    this.hasText = false
    if (this.shown.has(toolCallId)) return
    this.shown.add(toolCallId)
    yield { type: "TOOL_CALL_START", toolCallId, toolCallName: name }
    yield { type: "TOOL_CALL_ARGS", toolCallId, delta: cut(JSON.stringify(args ?? {}), this.maxLength) }
    yield { type: "TOOL_CALL_END", toolCallId }
  }

  private *result({ args, id, name }: ToolCall, result: ToolResult): Iterable<AgUiEvent> {
    yield* this.call(id, name, args)
    const output = result.ok ? result.output : result.error
    const content = cut(typeof output === "string" ? output : JSON.stringify(output), this.maxLength)
    yield { type: "TOOL_CALL_RESULT", messageId: `${this.runId}-result-${id}`, toolCallId: id, content, role: "tool" }
  }
}

async function* endOf(
  serve: Serve,
  { runId, threadId, token }: AgUiRun,
  writer: AgUiWriter,
  outcome: Outcome
): AsyncGenerator<AgUiEvent> {
  yield* writer.endStep()
  const finished = (end: object): AgUiEvent => ({ type: "RUN_FINISHED", threadId, runId, outcome: end })
  switch (outcome.status) {
    case "completed":
    case "limited":
    case "aborted":
      // A hook may have answered in place of the model.
      if (!writer.hasText && outcome.text !== "") {
        yield* writer.delta("text", outcome.text)
        yield* writer.close()
      }
      return yield finished({ type: "success" })
    case "suspended": {
      const interrupts: Array<object> = []
      const pendingToolCallIds: Array<string> = []
      const asking = { token, turnNumber: outcome.turnNumber }
      for (const ask of outcome.pending) {
        if (!isClientCall(ask)) {
          yield* writer.call(ask.callId, ask.tool, ask.args)
          interrupts.push(await interruptOf(asking, ask))
        } else {
          const id = await clientCallIdOf(asking, ask)
          yield* writer.call(id, ask.tool, ask.args)
          pendingToolCallIds.push(id)
        }
      }
      return yield finished(
        interrupts.length > 0 ? { type: "interrupt", interrupts } : { type: "success", pendingToolCallIds }
      )
    }
    case "delivered":
      return yield finished({ type: "success" })
    case "cancelled":
      return yield finished({ type: "cancelled" })
    default: {
      const { kind, message } = refusalOfOutcome(serve, outcome)
      yield { type: "RUN_ERROR", message, code: kind }
    }
  }
}

const interruptOf = async (asking: Asking, ask: PendingAsk): Promise<object> => {
  const { args, by, callId, details, expiresAt, reason, reasons, tool } = ask
  return {
    id: await askIdOf(asking, ask),
    reason: "tool_approval",
    message: `${tool}: ${reason}`,
    toolCallId: callId,
    responseSchema,
    ...(expiresAt === undefined ? {} : { expiresAt: new Date(expiresAt).toISOString() }),
    metadata: { tool, args, by, ...defined({ details, reasons }) }
  }
}

/** What the payload of a resume entry may have. */
const responseSchema = {
  type: "object",
  properties: {
    approved: { type: "boolean" },
    reason: { type: "string", description: "why it is denied" },
    args: { type: "object", description: "other arguments for the tool" },
    always: { type: "boolean", description: "approve this tool in this session from now on" },
    field: { type: "boolean", description: "approve other values of the same field in this turn" }
  },
  required: ["approved"]
}
