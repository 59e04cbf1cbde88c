/**
 * The states of a tool call. This file is the only place where the status of a call changes.
 *
 * | from | event | to |
 * | --- | --- | --- |
 * | planned, decided, started | `ask`: the policy or a hook wants a person to decide | asked |
 * | asked | `decide`: a person answered | decided; still asked while approvals are missing or it was delegated |
 * | asked | `remembered`: an earlier approval answers the question | decided |
 * | asked | `decide-inside`: people answered questions of the call's sub-agent | decided |
 * | planned, decided, started | `allow`: the tool may run, and nobody has begun to run it | decided |
 * | planned, decided, started | `start`: the tool is about to run | started |
 * | started, decided | `wait`: the call's sub-agent waits for a person | asked |
 * | any except done | `finish`: the call has its result | done |
 *
 * `settle`, `change`, `transfer` and `rebuild` change other fields of a call, not its status. An event that does not
 * fit the status has no effect.
 */
import type { Json } from "../../../data/Json.ts"
import type { ToolCall } from "../../../data/Message.ts"
import type { CallState, Decision, PendingAsk } from "../../../data/RunState.ts"
import type { ApprovalOfCall, ToolResult } from "../../../data/tool/Tool.ts"
import { fingerprint } from "../../../hook/HookChain.ts"
import type { SubAgentRun } from "./subAgentRun.ts"

/** The state of one tool call of the current step, as in a snapshot. */
export type ToolCallState = CallState

/** The events of a tool call. */
export type ToolCallEvent =
  | { readonly type: "ask"; readonly ask: PendingAsk }
  | { readonly type: "decide"; readonly decision: Decision }
  | { readonly type: "remembered" }
  | { readonly type: "decide-inside" }
  | { readonly type: "settle"; readonly answer: Settled }
  | { readonly type: "change"; readonly by: string }
  | { readonly type: "allow"; readonly args?: Json | undefined }
  | { readonly type: "start"; readonly args?: Json | undefined }
  | { readonly type: "wait" }
  | { readonly type: "transfer"; readonly transfer: Transfer }
  | { readonly type: "rebuild" }
  | { readonly type: "finish"; readonly result: ToolResult }

/** A question that was answered for exactly this value. */
type Settled = NonNullable<CallState["settled"]>[number]

/** The answer of an agent that took the conversation over. */
export type Transfer = NonNullable<CallState["transfer"]>

/** The statuses in which an event has an effect. */
const fits: { readonly [E in ToolCallEvent["type"]]: ReadonlyArray<ToolCallState["status"]> } = {
  ask: ["planned", "decided", "started"],
  decide: ["asked"],
  remembered: ["asked"],
  "decide-inside": ["asked"],
  settle: ["planned", "asked", "decided", "started"],
  change: ["planned", "asked", "decided", "started"],
  allow: ["planned", "decided", "started"],
  start: ["planned", "decided", "started"],
  wait: ["started", "decided"],
  transfer: ["planned", "asked", "decided", "started"],
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
    case "remembered":
      return settleAll({ ...state, status: "decided", decision: { type: "approve", by: "rule" } })
    case "decide-inside":
      return { ...state, status: "decided" }
    case "settle":
      return { ...state, settled: [...(state.settled ?? []), event.answer] }
    case "change": {
      const { changedBy = [] } = state
      return changedBy.includes(event.by) ? state : { ...state, changedBy: [...changedBy, event.by] }
    }
    case "allow":
    case "start": {
      const status = event.type === "start" ? "started" : "decided"
      return event.args === undefined ? { ...state, status } : { ...state, status, executedArgs: event.args }
    }
    case "wait":
      return { ...state, status: "asked" }
    case "transfer":
      return { ...state, transfer: event.transfer }
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
  if (decision.type !== "approve") return { ...state, status: "decided", decision }
  const { quorum = 1 } = ask
  const approved = approve(ask, decision)
  const next: ToolCallState = { ...state, ask: approved }
  if (quorum > 1 && (approved.approved ?? []).length < quorum) return next
  return settleAll({ ...next, status: "decided", decision })
}

/** Adds an approval. A person counts once. The approval is remembered if everybody wants that, in the narrowest way. */
const approve = (ask: PendingAsk, { by, remember }: Extract<Decision, { readonly type: "approve" }>): PendingAsk => {
  const { approved = [], remember: before, ...rest } = ask
  if (by !== undefined && approved.includes(by)) return ask
  const isFirst = approved.length === 0
  const wanted = isFirst ? remember : before === undefined || remember === undefined ? undefined : {
    what: narrower.find((what) => what === before.what || what === remember.what)!,
    scope: before.scope === "session" ? before.scope : remember.scope
  }
  return {
    ...rest,
    ...(by === undefined ? isFirst ? {} : { approved } : { approved: [...approved, by] }),
    ...(wanted === undefined ? {} : { remember: wanted })
  }
}

const narrower = ["arguments", "field", "tool"] as const

/** The approval is valid for exactly these arguments. It answers everybody who has asked. */
const settleAll = (state: ToolCallState): ToolCallState => {
  const { ask } = state
  if (ask === undefined) return state
  const text = fingerprint(ask.tool, ask.args)
  const answers = askersOf(ask).map((hook) => ({ hook, fingerprint: text }))
  return { ...state, settled: [...(state.settled ?? []), ...answers] }
}

/** Returns what a person approved about a call, for hooks. An approval by a rule was remembered. */
export const approvalOf = ({ ask, decision }: ToolCallState): ApprovalOfCall | undefined => {
  if (ask === undefined || decision?.type !== "approve") return undefined
  const { remember } = ask
  return {
    ...(decision.by === undefined || decision.by === "rule" ? {} : { by: decision.by }),
    ...(remember === undefined ? {} : { remember: remember.what })
  }
}

/** Returns the names of everybody who asks. */
export const askersOf = ({ by, reasons }: PendingAsk): ReadonlyArray<string> =>
  reasons === undefined ? [by] : [...new Set(reasons.map((one) => one.by))]

/** Marks that all hooks have answered for exactly these arguments, so that they do not run again. */
export const everyHook = "*"

/** Whether this hook's question about exactly this value was approved. */
export const isSettled = (state: ToolCallState, hook: string, text: () => string): boolean =>
  state.settled !== undefined &&
  state.settled.some((one) => one.hook === hook && one.edited !== true && one.fingerprint === text())

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
  /** Who denied the call: a hook, `policy` or `person`. */
  deniedBy?: string
}

/** Changes the state of a running call. */
export const update = (call: { state: ToolCallState }, event: ToolCallEvent): void => {
  call.state = nextState(call.state, event)
}
