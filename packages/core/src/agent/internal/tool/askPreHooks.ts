/** Steps 6 and 7 of a tool call: runs the `preToolCall` hooks, and checks arguments that they changed. */
import type { AgentError } from "../../../data/AgentError.ts"
import type { Json } from "../../../data/Json.ts"
import { type PreToolCallEvent, success, type ToolMeta, type ToolResult } from "../../../data/tool/Tool.ts"
import { fingerprint, type Outcome } from "../../../hook/HookChain.ts"
import type { Decode, Resume } from "../../../hook/internal/outcome.ts"
import type { TurnEnded } from "../../TurnEnded.ts"
import { abortOf } from "../outcome/turnEnd.ts"
import { askHooks } from "../turn/askHooks.ts"
import type { Turn } from "../turn/turn.ts"
import { resolve, type Step } from "../turn/yieldable.ts"
import { askPerson } from "./askPerson.ts"
import { checkPolicy } from "./checkPolicy.ts"
import { denyCall, finishCall } from "./finishCall.ts"
import { sameJson } from "./schema/sameValue.ts"
import { allButGates, everyHook, isSettled, type RunningCall, update } from "./toolCallState.ts"

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

/** Runs the hooks for a call that the policy allows. */
export const askPreHooks = function*(turn: Turn, call: RunningCall, event: PreToolCallEvent): Step<Next, Failure> {
  const { args, tool } = event
  if (isSettled(call.state, everyHook, () => fingerprint(tool.name, args))) return { type: "run", event }
  const options = { decode: decodeFor(turn, call, tool), resume: resumeOf(call, event) }
  const outcome = yield* askHooks(turn, "preToolCall", event, options)
  if (outcome === undefined) return ready(call, event, args)
  const pass = yield* endedBy(turn, call, outcome)
  if (pass !== undefined) return end(pass)
  return outcome.event.args === args
    ? ready(call, outcome.event, args)
    : yield* checkChanged(turn, call, event, outcome)
}

const ready = (call: RunningCall, event: PreToolCallEvent, before: Json): Next =>
  event.args !== before || call.state.ask !== undefined
    ? { type: "run", event, args: event.args }
    : { type: "run", event }

/** Decodes changed arguments as the tool will, if that is synchronous, and notes which hook changed them. */
const decodeFor = (turn: Turn, running: RunningCall, tool: ToolMeta): Decode => (value, event, by) => {
  // The value of the point and its event have already been checked: they are tool calls.
  const call = value as PreToolCallEvent
  const read = turn.agent.dispatcher.decode(tool, call.args)
  if ("ok" in read && !read.ok) return read
  const args = "ok" in read ? read.args : call.args
  if (!sameJson(args, (event as PreToolCallEvent).args)) update(running, { type: "change", by })
  return { ok: true, value: { ...call, args } }
}

/**
 * Returns from which hook the chain continues after an approval. For exactly the approved arguments, the hooks up to
 * the one that asked do not run again. If that hook proposed other arguments, the hooks before it have not seen them:
 * they are asked again, and their changes, which the proposal contains, are not made twice.
 */
const resumeOf = ({ state: { settled } }: RunningCall, { args, tool }: PreToolCallEvent): Resume | undefined => {
  if (settled === undefined) return undefined
  const text = fingerprint(tool.name, args)
  const answers = settled.filter((one) => one.fingerprint === text && one.edited !== true)
  if (answers.some(({ hook }) => hook === allButGates)) return { settled, gatesOnly: true }
  // The policy may have asked about the same arguments after the hook.
  const last = answers.findLast(({ hook }) => hook !== "policy")
  if (last === undefined) return { settled }
  return last.proposed === true ? { settled, again: last.hook } : { settled, after: last.hook }
}

/** Returns the end of the pass, if a hook decided on one. */
const endedBy = function*(
  turn: Turn,
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
    case "Ask": {
      if (outcome.atGate === true && action.args === undefined) {
        // After the approval, hooks that have changed these arguments do not change them again.
        const answer = { hook: allButGates, fingerprint: fingerprint(event.name, event.args) }
        update(call, { type: "settle", answer })
      }
      if (action.args === undefined) return yield* askPerson(turn, call, { by, args: event.args, ask: action })
      const read = yield* resolve(turn.agent.dispatcher.decode(event.tool, action.args))
      if (read.ok && !sameJson(read.args, event.args)) update(call, { type: "change", by })
      return read.ok
        ? yield* askPerson(turn, call, { by, args: read.args, ask: action, isProposal: true })
        : yield* denyCall(turn, call, by, `${by} proposed arguments that do not fit: ${read.why}`)
    }
    default:
      return undefined
  }
}

/** Decodes arguments that hooks changed, and checks them with the policy. */
const checkChanged = function*(
  turn: Turn,
  call: RunningCall,
  asked: PreToolCallEvent,
  { by = "a hook", event }: Outcome<"preToolCall">
): Step<Next, Failure> {
  const { args, tool } = event
  const read = yield* resolve(turn.agent.dispatcher.decode(tool, args))
  if (!read.ok) {
    const reason = `${by} changed the arguments to something that does not fit: ${read.why}`
    return end(yield* denyCall(turn, call, by, reason))
  }
  // An asynchronous schema could not add its defaults before the other hooks saw the arguments.
  if (!sameJson(read.args, args)) {
    const reason =
      `${by} changed the arguments, and the schema of ${tool.name} changes them again: return all arguments`
    return end(yield* denyCall(turn, call, by, reason))
  }
  const verdict = yield* checkPolicy(turn, call, tool, args)
  if (verdict.type === "deny") return end(yield* denyCall(turn, call, verdict.by, verdict.reason))
  if (verdict.type === "ask") {
    // The hooks have answered for exactly these arguments, so only the policy's question is open.
    update(call, { type: "settle", answer: { hook: everyHook, fingerprint: fingerprint(tool.name, args) } })
    return end(yield* askPerson(turn, call, { by: "policy", args, ask: verdict.ask }))
  }
  return ready(call, verdict.grant === event.grant ? event : { ...event, grant: verdict.grant }, asked.args)
}
