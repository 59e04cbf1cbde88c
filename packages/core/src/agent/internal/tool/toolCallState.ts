/**
 * The states of a tool call. This file is the only place where the status of a call changes.
 *
 * | from | event | to |
 * | --- | --- | --- |
 * | planned, decided, started | `ask`: the policy or a hook wants a person to decide | asked |
 * | asked | `decide`: a person answered | decided; still asked while approvals are missing or it was delegated |
 * | asked | `decide-inside`: people answered questions of the call's sub-agent | decided |
 * | planned, decided, started | `start`: the tool is about to run | started |
 * | started, decided | `wait`: the call's sub-agent waits for a person | asked |
 * | any except done | `finish`: the call has its result | done |
 *
 * `settle`, `change` and `rebuild` change other fields of a call, not its status. An event that does not fit the status has no
 * effect.
 */
import type { Json } from "../../../data/Json.ts"
import type { ToolCall } from "../../../data/Message.ts"
import type { CallState, Decision, PendingAsk } from "../../../data/RunState.ts"
import type { ToolResult } from "../../../data/tool/Tool.ts"
import { fingerprint, type Settled } from "../../../hook/HookChain.ts"
import type { SubAgentRun } from "../subagent/subAgentRun.ts"

/** The state of one tool call of the current step, as in a snapshot. */
export type ToolCallState = CallState

/** The events of a tool call. */
export type ToolCallEvent =
  | { readonly type: "ask"; readonly ask: PendingAsk }
  | { readonly type: "decide"; readonly decision: Decision }
  | { readonly type: "decide-inside" }
  | { readonly type: "settle"; readonly answer: Settled }
  | { readonly type: "change"; readonly by: string }
  | { readonly type: "start"; readonly args?: Json | undefined }
  | { readonly type: "wait" }
  | { readonly type: "rebuild" }
  | { readonly type: "finish"; readonly result: ToolResult }

/** The statuses in which an event has an effect. */
const fits: { readonly [E in ToolCallEvent["type"]]: ReadonlyArray<ToolCallState["status"]> } = {
  ask: ["planned", "decided", "started"],
  decide: ["asked"],
  "decide-inside": ["asked"],
  settle: ["planned", "asked", "decided", "started"],
  change: ["planned", "asked", "decided", "started"],
  start: ["planned", "decided", "started"],
  wait: ["started", "decided"],
  rebuild: ["planned", "asked", "decided", "started"],
  finish: ["planned", "asked", "decided", "started"]
}

/** Makes the state of a new call. */
export const planned = (call: ToolCall): ToolCallState => ({ call, status: "planned" })

/** Returns the state after an event. */
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
    case "change": {
      const { changedBy = [] } = state
      return changedBy.includes(event.by) ? state : { ...state, changedBy: [...changedBy, event.by] }
    }
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

/** Applies a person's answer: it may name other approvers, be one of several approvals, or decide. */
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
  // The approval is valid for exactly these arguments.
  if (decision.type !== "approve") return next
  const answer = { hook: ask.by, fingerprint: fingerprint(ask.tool, ask.args) }
  return nextState(next, { type: "settle", answer: ask.proposed === true ? { ...answer, proposed: true } : answer })
}

/** Marks an answer that counts for every hook of the chain. */
export const everyHook = "*"

/** Marks that all hooks except gates have answered for exactly these arguments. */
export const allButGates = "*gates"

/** Whether this hook's question about exactly this value was already answered. */
export const isSettled = (state: ToolCallState, hook: string, text: () => string): boolean =>
  state.settled !== undefined && state.settled.some((one) => one.hook === hook && one.fingerprint === text())

/** A tool call of a running turn: its state, and the data that a snapshot cannot hold. */
export interface RunningCall {
  readonly state: ToolCallState
  /** The sub-agent that works for this call. */
  subAgent?: SubAgentRun | undefined
  /**
   * Decisions about the questions of that sub-agent, by the ids in the sub-agent. They are passed to it when it is
   * resumed.
   */
  decisions?: { readonly [callId: string]: Decision } | undefined
  /** The hook whose `answer` function answered the question. Absent if the host answered. */
  answeredBy?: string
  /** The answer of a sub-agent that took the conversation over. */
  transferText?: string
}

/** Changes the state of a running call. */
export const update = (call: { state: ToolCallState }, event: ToolCallEvent): void => {
  call.state = nextState(call.state, event)
}
