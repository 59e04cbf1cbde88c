/** The state of a turn: plain data, from which a snapshot is made. Its phase and its open step change only here. */
import type { AssistantMessage, Message, ToolCall } from "../../../data/Message.ts"
import type { RunState } from "../../../data/RunState.ts"
import { failure, type ToolResult } from "../../../data/Tool.ts"
import type { TurnInput } from "../../../data/Turn.ts"
import * as Usage from "../../../data/Usage.ts"
import { planned, type RunningCall } from "../tool/toolCallState.ts"

export interface TurnState {
  readonly turnNumber: number
  /** What the user said, as hooks have left it so far. */
  input: TurnInput
  /** Model calls so far. */
  stepNumber: number
  readonly phase: RunState["phase"]
  /** The model's message whose tools are not all done; it joins the conversation together with their results. */
  readonly open: AssistantMessage | undefined
  /** The tool calls of that message. */
  readonly calls: ReadonlyArray<RunningCall>
  usage: Usage.Usage
  /** Model calls, with those of hooks and every attempt. */
  llmCalls: number
  toolCalls: number
  followUps: number
  /** Milliseconds that earlier runs of this turn took. */
  elapsedBefore: number
}

/** The fields that only this file writes. */
type Writable = { -readonly [K in keyof TurnState]: TurnState[K] }

/** The state of a turn that begins. */
export const newTurn = (input: TurnInput, turnNumber: number): TurnState => ({
  turnNumber,
  input,
  stepNumber: 0,
  phase: "start",
  open: undefined,
  calls: [],
  usage: Usage.zero,
  llmCalls: 0,
  toolCalls: 0,
  followUps: 0,
  elapsedBefore: 0
})

/** The state of a turn that goes on from a snapshot. */
export const storedTurn = (stored: RunState): TurnState => ({
  turnNumber: stored.turnNumber,
  input: stored.input,
  stepNumber: stored.stepNumber,
  phase: stored.phase,
  open: stored.open,
  calls: stored.calls.map((state) => ({ state })),
  usage: stored.usage,
  llmCalls: stored.counts.llmCalls,
  toolCalls: stored.counts.toolCalls,
  followUps: stored.counts.followUps,
  elapsedBefore: stored.counts.elapsedMs
})

/** The turn enters another phase. */
export const enterPhase = (turn: Writable, phase: TurnState["phase"]): void => {
  turn.phase = phase
}

/** The model asked for tools: the step stays open until all of them have a result. */
export const openStep = (turn: Writable, message: AssistantMessage, calls: ReadonlyArray<ToolCall>): void => {
  turn.open = message
  turn.calls = calls.map((call) => ({ state: planned(call) }))
  turn.phase = "tools"
}

/** Moves the open step into the conversation. Calls that have no result get an error that says why. */
export const closeStep = (turn: Writable, messages: Array<Message>, why: string): void => {
  const { calls, open } = turn
  if (open === undefined) return
  messages.push(open)
  for (const { state: { call, result, status } } of calls) {
    messages.push(toolMessage(call, result ?? failure(status === "started" ? interrupted : why)))
  }
  turn.open = undefined
  turn.calls = []
  turn.phase = "model"
}

const interrupted = "interrupted while it ran: its outcome is unknown"

const toolMessage = (call: ToolCall, result: ToolResult): Message =>
  result.ok
    ? { role: "tool", toolCallId: call.id, toolName: call.name, content: result.output }
    : { role: "tool", toolCallId: call.id, toolName: call.name, content: result.error, isError: true }
