/**
 * The state of a turn: plain data, from which snapshots are made. Only this file changes the phase and the open step.
 */
import type { AssistantMessage, Message, ToolCall, ToolMessage } from "../../../data/Message.ts"
import type { CallState, LimitUse, RunState } from "../../../data/RunState.ts"
import { failure, type ToolResult } from "../../../data/tool/Tool.ts"
import type { TurnInput } from "../../../data/Turn.ts"
import * as Usage from "../../../data/Usage.ts"
import { sameJson } from "../schema/sameValue.ts"
import { CostMeter, storedCost } from "./costMeter.ts"
import { planned, type RunningCall } from "./toolCallState.ts"

export interface TurnState {
  readonly turnNumber: number
  /** The input of the user, with the changes of the hooks so far. */
  input: TurnInput
  /** The number of model calls so far. */
  stepNumber: number
  readonly phase: RunState["phase"]
  /** The model's message whose tools are not all done. It is added to the conversation together with their results. */
  readonly open: AssistantMessage | undefined
  /** The tool calls of that message. */
  readonly calls: ReadonlyArray<RunningCall>
  /** Why the turn stopped before its end, if no question stopped it. */
  stop: RunState["stop"]
  usage: Usage.Usage
  /** What the model calls of this turn cost so far. */
  readonly cost: CostMeter
  /** The usage of model calls, including those of hooks and every attempt. */
  llmCalls: number
  toolCalls: number
  followUps: number
  /** How long earlier runs of this turn took, in milliseconds. */
  elapsedBefore: number
  /** What the turn and its sub-agents have used of the limits. */
  used: { -readonly [K in keyof LimitUse]-?: NonNullable<LimitUse[K]> }
  /** How often a hook failed and the chain continued, also in sub-agents. */
  failOpens: number
}

/** Nothing is used yet. */
export const unused = (): TurnState["used"] => ({ steps: 0, toolCalls: 0, followUps: 0, elapsedMs: 0, failOpens: 0 })

/** The fields that only this file writes. */
type Writable = { -readonly [K in keyof TurnState]: TurnState[K] }

/** Makes the state of a new turn. */
export const newTurn = (input: TurnInput, turnNumber: number): TurnState => ({
  turnNumber,
  input,
  stepNumber: 0,
  phase: "start",
  open: undefined,
  calls: [],
  stop: undefined,
  usage: Usage.zero,
  cost: new CostMeter(),
  llmCalls: 0,
  toolCalls: 0,
  followUps: 0,
  elapsedBefore: 0,
  used: unused(),
  failOpens: 0
})

/** Makes the state of a turn that continues from a snapshot. */
export const storedTurn = (stored: RunState): TurnState => ({
  turnNumber: stored.turnNumber,
  input: stored.input,
  stepNumber: stored.stepNumber,
  phase: stored.phase,
  open: stored.open,
  calls: stored.calls.map((state) => ({ state })),
  stop: stored.stop,
  usage: stored.usage,
  cost: new CostMeter(storedCost(stored)),
  llmCalls: stored.counts.llmCalls,
  toolCalls: stored.counts.toolCalls,
  followUps: stored.counts.followUps,
  elapsedBefore: stored.counts.elapsedMs,
  used: { ...unused(), ...stored.used },
  failOpens: stored.counts.failOpens ?? 0
})

/** Changes the phase of the turn. */
export const enterPhase = (turn: Writable, phase: TurnState["phase"]): void => {
  turn.phase = phase
}

/** Opens a step for the tool calls of the model. It stays open until all of them have a result. */
export const openStep = (turn: Writable, message: AssistantMessage, calls: ReadonlyArray<ToolCall>): void => {
  turn.open = message
  turn.calls = calls.map((call) => ({ state: planned(call) }))
  turn.phase = "tools"
}

/** Adds a call to the open step. */
export const extendStep = (turn: Writable, call: ToolCall): void => {
  const open = turn.open!
  turn.open = { ...open, toolCalls: [...(open.toolCalls ?? []), call] }
  turn.calls = [...turn.calls, { state: planned(call) }]
}

/** Adds a call that another loop is about to make. Its message is not in this conversation. */
export const addCall = (turn: Writable, call: RunningCall): void => {
  turn.calls = [...turn.calls, call]
}

/** Removes a call that is done, and whose result another loop keeps. */
export const removeCall = (turn: Writable, call: RunningCall): void => {
  turn.calls = turn.calls.filter((one) => one !== call)
}

/** Moves the open step into the conversation. Calls without a result get an error with the reason. */
export const closeStep = (
  turn: Writable,
  messages: Array<Message>,
  why: string,
  noteOf: (call: CallState) => string | undefined,
  isShown: (call: CallState) => boolean
): void => {
  const { calls, open } = turn
  if (open === undefined) return
  messages.push(
    withExecutedArgs(
      open,
      calls.map(({ state }) => state).filter((call) => call.changedBy === undefined || isShown(call))
    )
  )
  for (const { state, subAgent } of calls) {
    const { call, changedBy, child, result, status } = state
    // A sub-agent that waits for a person has worked before.
    const hasBegun = status === "started" || subAgent !== undefined || child !== undefined
    const message = toolMessage(call, result ?? failure(hasBegun ? interrupted : why))
    const note = changedBy === undefined || !isShown(state) ? undefined : noteOf(state)
    messages.push(note === undefined || note === "" ? message : { ...message, note })
  }
  turn.open = undefined
  turn.calls = []
  turn.phase = "model"
}

const interrupted = "interrupted while it ran: its outcome is unknown"

const toolMessage = (call: ToolCall, result: ToolResult): ToolMessage =>
  result.ok
    ? { role: "tool", toolCallId: call.id, toolName: call.name, content: result.output }
    : { role: "tool", toolCallId: call.id, toolName: call.name, content: result.error, isError: true }

/** Makes the message of the user from an input. */
export const userMessage = ({ attachments = [], key, message }: TurnInput): Message => {
  const content = attachments.length === 0 ? message : [{ type: "text" as const, text: message }, ...attachments]
  return key === undefined ? { role: "user", content } : { role: "user", content, key }
}

/** Returns an input that hooks may have changed, with the key of the original one. */
export const withKeyOf = (original: TurnInput, input: TurnInput): TurnInput => {
  if (input.key === original.key) return input
  const { key: _key, ...changed } = input
  return original.key === undefined ? changed : { ...changed, key: original.key }
}

/**
 * Returns the model's message with the arguments that its calls ran with, and who changed them: those after the last
 * `preToolCall` hook. What a confidential hook puts in their place around the call itself (`wrapToolCall`) is never
 * shown. A vendor may have signed a call that has metadata. Such a call keeps the model's arguments beside the others,
 * so that the provider can send the vendor exactly what it signed.
 */
const withExecutedArgs = (message: AssistantMessage, calls: ReadonlyArray<CallState>): AssistantMessage => {
  const isChanged = calls.some(({ changedBy, executedArgs }) => executedArgs !== undefined || changedBy !== undefined)
  if (!isChanged || message.toolCalls === undefined) return message
  const states = new Map(calls.map((state) => [state.call.id, state]))
  return {
    ...message,
    toolCalls: message.toolCalls.map((call) => {
      const state = states.get(call.id)
      return state === undefined ? call : executedCall(message, call, state)
    })
  }
}

const executedCall = (
  { metadata }: AssistantMessage,
  call: ToolCall,
  { changedBy, executedArgs: args }: CallState
): ToolCall => {
  if (args === undefined || sameJson(args, call.args)) return call
  // A vendor may have stored or signed what the model wrote. Defaults alone do not change that.
  if (changedBy === undefined) {
    return metadata === undefined && call.metadata === undefined ? withArgs(call, args) : call
  }
  const changed = call.metadata === undefined ? { by: changedBy } : { by: changedBy, asked: call.args }
  return { ...withArgs(call, args), changed }
}

const withArgs = ({ malformed: _malformed, ...call }: ToolCall, args: ToolCall["args"]): ToolCall => ({ ...call, args })
