/**
 * Steps 6 to 8 of a tool call: runs the `preToolCall` hooks, checks arguments that they changed, and puts all questions
 * about the call as one. So a person is asked last, about the arguments that will run.
 */
import type { AgentError } from "../../../data/AgentError.ts"
import type { Json } from "../../../data/Json.ts"
import { type PreToolCallEvent, success, type ToolMeta, type ToolResult } from "../../../data/tool/Tool.ts"
import { fingerprint, type HookQuestion, type Outcome } from "../../../hook/HookChain.ts"
import type { Decode } from "../../../hook/internal/outcome.ts"
import type { TurnEnded } from "../../TurnEnded.ts"
import { askHooks } from "../point/askHooks.ts"
import type { GuardTurn } from "../point/guardTurn.ts"
import { sameJson } from "../schema/sameValue.ts"
import { type Questions, strictest, unanswered } from "../state/questions.ts"
import { everyHook, isSettled, type RunningCall, update } from "../state/toolCallState.ts"
import { abortOf } from "../state/turnEnd.ts"
import { resolve, type Step } from "../state/yieldable.ts"
import { askPerson } from "./askPerson.ts"
import { checkPolicy } from "./checkPolicy.ts"
import { denyCall, finishCall } from "./finishCall.ts"

type Failure = AgentError | TurnEnded

/**
 * How a pass ends: with a result, with `answered` (somebody decided, so another pass follows), or with `waits` (for a
 * person).
 */
type Pass = ToolResult | "answered" | "waits"

/** What happens next: the tool runs, or the pass ends. */
export type Next =
  | {
    readonly type: "run"
    readonly event: PreToolCallEvent
    /** The arguments to run with, if they may differ from the model's. */
    readonly args?: Json
  }
  | { readonly type: "end"; readonly pass: Pass }

/** Ends the pass. */
const end = (pass: Pass): Next => ({ type: "end", pass })

/** Runs the hooks for a call that the policy allows, if a person approves what it asks. */
export const askPreHooks = function*(
  turn: GuardTurn,
  call: RunningCall,
  event: PreToolCallEvent,
  ofPolicy: ReadonlyArray<HookQuestion> = []
): Step<Next, Failure> {
  const { args, tool } = event
  const isEdited = call.state.decision?.type === "edit"
  // Arguments that a person wrote are checked, even if the hooks have seen them before another person changed them.
  const isAnswered = !isEdited && isSettled(call.state, everyHook, () => fingerprint(tool.name, args))
  const options = { decode: decodeFor(turn, call, tool), again: isEdited }
  const outcome = isAnswered ? undefined : yield* askHooks(turn, "preToolCall", event, options)
  if (outcome === undefined) return yield* askAll(turn, call, { args, event }, ofPolicy)
  const pass = yield* endedBy(turn, call, outcome)
  if (pass !== undefined) return end(pass)
  const checked = outcome.event.args === args
    ? { event: outcome.event, ofPolicy }
    : yield* checkChanged(turn, call, event, outcome)
  return "type" in checked
    ? checked
    : yield* askAll(turn, call, { args, event: checked.event }, [...checked.ofPolicy, ...outcome.questions ?? []])
}

/** Puts all questions that are still open as one. `args` are the arguments before the hooks ran. */
const askAll = function*(
  turn: GuardTurn,
  call: RunningCall,
  { args, event }: { readonly args: Json; readonly event: PreToolCallEvent },
  questions: ReadonlyArray<HookQuestion>
): Step<Next, Failure> {
  if (questions.length === 0) return ready(call, event, args)
  const text = fingerprint(event.name, event.args)
  const [first, ...rest] = unanswered(call.state, questions, text)
  if (first === undefined) return ready(call, event, args)
  const open: Questions = [first, ...rest]
  const terms = strictest(event.name, open)
  if (typeof terms === "string") return end(yield* denyCall(turn, call, first.by, terms))
  // All hooks have answered for exactly these arguments, so only the question is open.
  update(call, { type: "settle", answer: { hook: everyHook, fingerprint: text } })
  return end(yield* askPerson(turn, call, { args: event.args, questions: open }))
}

const ready = (call: RunningCall, event: PreToolCallEvent, before: Json): Next =>
  event.args !== before || call.state.ask !== undefined
    ? { type: "run", event, args: event.args }
    : { type: "run", event }

/** Decodes changed arguments as the tool will, if that is synchronous, and notes which hook changed them. */
const decodeFor = (turn: GuardTurn, running: RunningCall, tool: ToolMeta): Decode => (value, event, by) => {
  // The value of the point and its event have already been checked: they are tool calls.
  const call = value as PreToolCallEvent
  const read = turn.agent.dispatcher.decode(tool, call.args)
  if ("ok" in read && !read.ok) return read
  const args = "ok" in read ? read.args : call.args
  if (!sameJson(args, (event as PreToolCallEvent).args)) update(running, { type: "change", by })
  return { ok: true, value: { ...call, args } }
}

/** Returns the end of the pass, if a hook decided on one. */
const endedBy = function*(
  turn: GuardTurn,
  call: RunningCall,
  outcome: Outcome<"preToolCall">
): Step<Pass | undefined, Failure> {
  const { action, by = "hook", event } = outcome
  const abort = abortOf(outcome)
  if (abort !== undefined) return yield* abort
  switch (action._tag) {
    case "Reject":
      return yield* denyCall(turn, call, by, action.reason)
    case "Respond":
      return yield* finishCall(turn, event, { result: success(action.output) })
    default:
      return undefined
  }
}

/** Decodes arguments that hooks changed, and checks them with the policy. Returns the event that may run. */
const checkChanged = function*(
  turn: GuardTurn,
  call: RunningCall,
  { tool }: PreToolCallEvent,
  { by = "a hook", event }: Outcome<"preToolCall">
): Step<Next | { readonly event: PreToolCallEvent; readonly ofPolicy: ReadonlyArray<HookQuestion> }, Failure> {
  const read = yield* resolve(turn.agent.dispatcher.decode(tool, event.args))
  if (!read.ok) {
    const reason = `${by} changed the arguments to something that does not fit: ${read.why}`
    return end(yield* denyCall(turn, call, by, reason))
  }
  // An asynchronous schema could not add its defaults before the other hooks saw the arguments.
  if (!sameJson(read.args, event.args)) {
    const reason =
      `${by} changed the arguments, and the schema of ${tool.name} changes them again: return all arguments`
    return end(yield* denyCall(turn, call, by, reason))
  }
  const verdict = yield* checkPolicy(turn, call, tool, event.args)
  if (verdict.type === "deny") return end(yield* denyCall(turn, call, verdict.by, verdict.reason))
  const { grant, questions: ofPolicy = [] } = verdict
  return { event: grant === event.grant ? event : { ...event, grant }, ofPolicy }
}
