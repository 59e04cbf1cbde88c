/**
 * The states of a tool call. This file is the only place where the status of a call changes.
 *
 * | from | event | to |
 * | --- | --- | --- |
 * | planned, decided, started | `ask`: the policy or a hook wants a person to decide | asked |
 * | asked | `decide`: a person answered | decided; still asked while approvals are missing or it was delegated |
 * | asked | `decide-inside`: people answered questions of the sub-agent that works for this call | decided |
 * | planned, decided, started | `start`: the tool is about to run | started |
 * | started, decided | `wait`: the sub-agent that works for this call waits for a person | asked |
 * | any but done | `finish`: the call has its result | done |
 *
 * `settle` and `rebuild` change what is known of a call, not its status. An event that does not fit the status changes
 * nothing.
 */
import type { Json } from "../../../data/Json.ts"
import type { ToolCall } from "../../../data/Message.ts"
import type { CallState, Decision, PendingAsk } from "../../../data/RunState.ts"
import type { ToolResult } from "../../../data/Tool.ts"
import { fingerprint, type Settled } from "../../../hook/HookChain.ts"
import type { SubAgentRun } from "../subagent/subAgentRun.ts"

/** One tool call of the current step: what a snapshot says of it. */
export type ToolCallState = CallState

/** What happens to a tool call. */
export type ToolCallEvent =
  | { readonly type: "ask"; readonly ask: PendingAsk }
  | { readonly type: "decide"; readonly decision: Decision }
  | { readonly type: "decide-inside" }
  | { readonly type: "settle"; readonly answer: Settled }
  | { readonly type: "start"; readonly args?: Json | undefined }
  | { readonly type: "wait" }
  | { readonly type: "rebuild" }
  | { readonly type: "finish"; readonly result: ToolResult }

/** The statuses at which an event counts. */
const fits: { readonly [E in ToolCallEvent["type"]]: ReadonlyArray<ToolCallState["status"]> } = {
  ask: ["planned", "decided", "started"],
  decide: ["asked"],
  "decide-inside": ["asked"],
  settle: ["planned", "asked", "decided", "started"],
  start: ["planned", "decided", "started"],
  wait: ["started", "decided"],
  rebuild: ["planned", "asked", "decided", "started"],
  finish: ["planned", "asked", "decided", "started"]
}

/** The state of a call that the model has just asked for. */
export const planned = (call: ToolCall): ToolCallState => ({ call, status: "planned" })

/** The state after an event. */
export const nextState = (state: ToolCallState, event: ToolCallEvent): ToolCallState => {
  if (!fits[event.type].includes(state.status)) return state
  switch (event.type) {
    case "ask":
      return { ...state, status: "asked", ask: event.ask }
    case "decide":
      return decide(state, event.decision)
    case "decide-inside":
      return { ...state, status: "decided" }
    case "settle":
      return { ...state, settled: [...(state.settled ?? []), event.answer] }
    case "start":
      return event.args === undefined
        ? { ...state, status: "started" }
        : { ...state, status: "started", executedArgs: event.args }
    case "wait":
      return { ...state, status: "asked" }
    case "rebuild": {
      const { child: _child, ...rest } = state
      return rest
    }
    case "finish":
      return { ...state, status: "done", result: event.result }
  }
}

/** What a person's answer does: it may name other approvers, be one of several approvals, or decide. */
const decide = (state: ToolCallState, decision: Decision): ToolCallState => {
  const { ask } = state
  if (ask === undefined) return state
  if (decision.type === "delegate") return { ...state, ask: { ...ask, approvers: decision.to } }
  const { quorum = 1 } = ask
  let next: ToolCallState = state
  if (decision.type === "approve" && decision.by !== "rule" && quorum > 1) {
    const before = ask.approved ?? []
    const approved = decision.by === undefined || before.includes(decision.by) ? before : [...before, decision.by]
    next = { ...state, ask: { ...ask, approved } }
    if (approved.length < quorum) return next
  }
  next = { ...next, status: "decided", decision }
  // What was approved is approved for exactly these arguments.
  return decision.type === "approve"
    ? nextState(next, { type: "settle", answer: { hook: ask.by, fingerprint: fingerprint(ask.tool, ask.args) } })
    : next
}

/** Stands for all hooks of the chain in an answer that counts for each of them. */
export const everyHook = "*"

/** Stands for all hooks but gates: they have answered for exactly these arguments. */
export const allButGates = "*gates"

/** Whether the question of this hook about exactly this value was answered before. */
export const isSettled = (state: ToolCallState, hook: string, text: () => string): boolean =>
  state.settled !== undefined && state.settled.some((one) => one.hook === hook && one.fingerprint === text())

/** A tool call while the turn runs: its state, and what no snapshot can hold. */
export interface RunningCall {
  readonly state: ToolCallState
  /** The sub-agent that works for this call. */
  subAgent?: SubAgentRun | undefined
  /** What people decided about the questions of that sub-agent, by their ids there; given to it when it is resumed. */
  decisions?: { readonly [callId: string]: Decision } | undefined
  /** The hook whose own function has answered the question; absent where the host did. */
  answeredBy?: string
  /** The answer of a sub-agent that took the conversation over. */
  transferText?: string
}

/** Changes the state of a running call. */
export const update = (call: { state: ToolCallState }, event: ToolCallEvent): void => {
  call.state = nextState(call.state, event)
}
