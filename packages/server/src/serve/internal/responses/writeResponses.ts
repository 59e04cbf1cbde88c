/** Writes what happens in a turn as the events and the items of the Responses API. */
import type { ToolCall } from "@belay/core/Message"
import type { PendingAsk } from "@belay/core/RunState"
import type { ToolResult } from "@belay/core/Tool"
import { idOf } from "../../../host/internal/events/eventRow.ts"
import type { Outcome } from "../../../host/Outcome.ts"
import type { Serve } from "../../Serve.ts"
import { isClientCall } from "../act.ts"
import type { Item } from "../follow.ts"
import { askIdOf, type Asking, clientCallIdOf, type Token } from "../identity.ts"
import { errorOf, responsesUsage } from "../openAi.ts"
import { refusalOfOutcome } from "../refusal.ts"
import { cut } from "../shorten.ts"
import type { Frame } from "../sse.ts"
import { OutputWriter } from "./outputWriter.ts"

/** How many numbers of a response an event of the agent has. */
const numbersOfEvent = 16

/** The fields of a response that do not change. */
export interface ResponseBase {
  readonly id: string
  readonly created_at: number
  readonly model: string
  readonly previous_response_id: string | null
}

export const responseOf = (base: ResponseBase, rest: object): object => ({
  object: "response",
  error: null,
  incomplete_details: null,
  instructions: null,
  metadata: {},
  parallel_tool_calls: true,
  temperature: null,
  tool_choice: "auto",
  tools: [],
  top_p: null,
  usage: null,
  ...base,
  ...rest
})

/** An event of the stream. Its `response` is set for those with which a response begins or ends. */
export interface ResponseEvent {
  readonly type: string
  readonly sequence_number: number
  readonly response?: object
}

/**
 * Yields the events of a response. Numbers grow with those of the agent's events, so that a stream that is read again
 * has the same numbers. `isWhole`: the client gets only the response with which the events end.
 */
export async function* responseEvents(
  serve: Serve,
  token: Token,
  base: ResponseBase,
  items: AsyncIterable<Item>,
  isWhole = false
): AsyncGenerator<ResponseEvent> {
  let sequence = -1
  let floor = 0
  const number = <E extends { readonly type: string }>(event: E) => {
    sequence = Math.max(sequence + 1, floor)
    return { ...event, sequence_number: sequence }
  }
  const output = new OutputWriter(base.id, isWhole)
  yield number({ type: "response.created", response: responseOf(base, { status: "in_progress", output: [] }) })
  yield number({ type: "response.in_progress", response: responseOf(base, { status: "in_progress", output: [] }) })
  for await (const item of items) {
    if (item.type === "end") {
      for await (const event of endOf(serve, token, base, output, item.outcome)) yield number(event)
      continue
    }
    const { event } = item
    floor = event.seq * numbersOfEvent
    if (event.parent !== undefined) continue
    switch (event.type) {
      case "text-delta":
        for (const one of output.text(event.text)) yield number(one)
        break
      case "reasoning-delta":
        for (const one of output.reasoning(event.text)) yield number(one)
        break
      case "retract":
        for (const one of output.close("incomplete")) yield number(one)
        break
      case "llm-start":
        for (const one of output.beginAnswer()) yield number(one)
        break
      case "llm-end":
        for (const one of output.close()) yield number(one)
        break
      case "tool-end":
        if (event.unfinished === true || event.client === true) break
        for (const one of output.item(toolItem(serve, event.call, event.result))) yield number(one)
        break
      case "tool-denied":
        if (event.client === true) break
        for (const one of output.item(toolItem(serve, event.call, { ok: false, error: event.reason }))) {
          yield number(one)
        }
        break
      default:
    }
  }
}

const toolItem = ({ maxEventLength }: Serve, { args, id, name }: ToolCall, result: ToolResult) => ({
  id: `mcp_${id}`,
  type: "mcp_call",
  server_label: "agent",
  name,
  arguments: cut(JSON.stringify(args), maxEventLength),
  approval_request_id: null,
  output: result.ok ? cut(JSON.stringify(result.output), maxEventLength) : null,
  error: result.ok ? null : cut(result.error, maxEventLength),
  status: result.ok ? "completed" : "failed"
})

async function* endOf(
  serve: Serve,
  token: Token,
  base: ResponseBase,
  output: OutputWriter,
  outcome: Outcome
): AsyncGenerator<{ readonly type: string }> {
  yield* output.close()
  const finished = (status: string, rest: object) => ({
    type: `response.${status}`,
    response: responseOf(base, { status, output: output.accepted, ...rest })
  })
  switch (outcome.status) {
    case "completed":
    case "aborted":
    case "limited": {
      // A hook may have answered in place of the model.
      if (!output.hasAnswer && outcome.text !== "") {
        yield* output.text(outcome.text)
        yield* output.close()
      } else if (output.isWhole && outcome.status !== "limited") output.replaceAnswer(outcome.text)
      const usage = responsesUsage(outcome.usage)
      if (outcome.status === "completed") return yield finished("completed", { usage })
      const reason = outcome.status === "limited" ? "max_output_tokens" : "content_filter"
      return yield finished("incomplete", { usage, incomplete_details: { reason } })
    }
    case "suspended": {
      const asking = { token, turnNumber: outcome.turnNumber }
      for (const ask of outcome.pending) yield* output.item(await pendingItem(asking, ask))
      return yield finished("completed", { usage: responsesUsage(outcome.usage) })
    }
    case "delivered":
      return yield finished("completed", {})
    default: {
      const { code, message } = errorOf(refusalOfOutcome(serve, outcome))
      const error = { code: code ?? "server_error", message }
      if (output.isWhole) output.dropTexts()
      return yield outcome.status === "cancelled" ? finished("cancelled", {}) : finished("failed", { error })
    }
  }
}

const pendingItem = async (asking: Asking, ask: PendingAsk) => {
  const id = await askIdOf(asking, ask)
  if (!isClientCall(ask)) {
    const about = { server_label: "agent", name: ask.tool, arguments: JSON.stringify(ask.args) }
    // The protocol has no place for the reason. Clients ignore fields that they do not know.
    return { id, type: "mcp_approval_request", ...about, reason: ask.reason }
  }
  const { args, tool: name } = ask
  const call = { call_id: await clientCallIdOf(asking, ask), name, arguments: JSON.stringify(args) }
  return { id: `fc_${id}`, type: "function_call", status: "completed", ...call }
}

/**
 * The log joins deltas, which then have other numbers. Returns where to cut them, so that the event that the reader has
 * with this number is alone, as it was.
 */
export const cutsOf = (after: number): ReadonlyArray<string> => {
  const seq = Math.floor(after / numbersOfEvent)
  return [seq - 1, seq].filter((one) => one > 0).map(idOf)
}

/** The frames of a stream, from the event after this number. */
export async function* framesOf(events: AsyncIterable<ResponseEvent>, after = -1): AsyncGenerator<Frame> {
  for await (const event of events) {
    if (event.sequence_number > after) yield { event: event.type, data: event }
  }
}

/** Returns the response with which the events end. */
export const wholeOf = async (events: AsyncIterable<ResponseEvent>): Promise<object | undefined> => {
  let last: object | undefined
  for await (const { response } of events) last = response ?? last
  return last
}
