/** Steps 6 and 7 of a tool call: the `preToolCall` hooks, and another look at arguments that they changed. */
import type { AgentError } from "../../../data/AgentError.ts"
import type { Json } from "../../../data/Json.ts"
import { type PreToolCallEvent, success, type ToolMeta, type ToolResult } from "../../../data/Tool.ts"
import { fingerprint, type Outcome } from "../../../hook/HookChain.ts"
import type { Decode, Resume } from "../../../hook/internal/outcome.ts"
import type { TurnEnded } from "../../TurnEnded.ts"
import { askHooks } from "../turn/askHooks.ts"
import type { Turn } from "../turn/turn.ts"
import { abortOf } from "../turn/turnEnd.ts"
import { resolve, type Step } from "../turn/yieldable.ts"
import { askPerson } from "./askPerson.ts"
import { checkPolicy } from "./checkPolicy.ts"
import { denyCall, finishCall } from "./finishCall.ts"
import { allButGates, everyHook, isSettled, type RunningCall, update } from "./toolCallState.ts"

type Failure = AgentError | TurnEnded

/** How a pass ends: with a result; `answered`: somebody decided, another pass follows; `waits`: for a person. */
export type Pass = ToolResult | "answered" | "waits"

/** What follows: the tool runs, or the pass ends. */
export type Next =
  | {
    readonly type: "run"
    readonly event: PreToolCallEvent
    /** The arguments that run, where they may differ from the model's. */
    readonly args?: Json
  }
  | { readonly type: "end"; readonly pass: Pass }

/** Ends the pass. */
export const end = (pass: Pass): Next => ({ type: "end", pass })

/** Asks the hooks about a call that the policy allows. */
export const askPreHooks = function*(turn: Turn, call: RunningCall, event: PreToolCallEvent): Step<Next, Failure> {
  const { args, tool } = event
  if (isSettled(call.state, everyHook, () => fingerprint(tool.name, args))) return { type: "run", event }
  const options = { decode: decodeFor(turn, tool), resume: resumeOf(call, event) }
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

/** Reads changed arguments as the tool will, as far as that needs no waiting. */
const decodeFor = (turn: Turn, tool: ToolMeta): Decode => (value) => {
  // A hook point's value has been checked before: it is a tool call.
  const call = value as PreToolCallEvent
  const read = turn.agent.dispatcher.decode(tool, call.args)
  if (!("ok" in read)) return { ok: true, value }
  return read.ok ? { ok: true, value: { ...call, args: read.args } } : read
}

/**
 * Where the hooks go on after an approval. Hooks up to the one that asked are not asked again about exactly the
 * approved arguments; but hooks before one that proposed other arguments have not seen those.
 */
const resumeOf = ({ state }: RunningCall, { args, tool }: PreToolCallEvent): Resume | undefined => {
  const { ask, decision, settled } = state
  if (settled === undefined) return undefined
  if (isSettled(state, allButGates, () => fingerprint(tool.name, args))) return { settled, gatesOnly: true }
  const isApproved = decision?.type === "approve" && ask !== undefined && ask.proposed !== true &&
    ask.fingerprint === fingerprint(tool.name, args)
  return isApproved && ask.by !== "policy" ? { settled, after: ask.by } : { settled }
}

/** The end of the pass, where a hook decided on one. */
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
        // Once it is approved, hooks that have changed these arguments do not change them again.
        const answer = { hook: allButGates, fingerprint: fingerprint(event.name, event.args) }
        update(call, { type: "settle", answer })
      }
      if (action.args === undefined) return yield* askPerson(turn, call, { by, args: event.args, ask: action })
      const read = yield* resolve(turn.agent.dispatcher.decode(event.tool, action.args))
      return read.ok
        ? yield* askPerson(turn, call, { by, args: read.args, ask: action, isProposal: true })
        : yield* denyCall(turn, call, by, `${by} proposed arguments that do not fit: ${read.why}`)
    }
    default:
      return undefined
  }
}

/** Decodes arguments that hooks changed, and asks the policy about them. */
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
  const verdict = yield* checkPolicy(turn, call, tool, args)
  if (verdict.type === "deny") return end(yield* denyCall(turn, call, verdict.by, verdict.reason))
  if (verdict.type === "ask") {
    // The hooks have answered for exactly these arguments: only the policy's question is open.
    update(call, { type: "settle", answer: { hook: everyHook, fingerprint: fingerprint(tool.name, args) } })
    return end(yield* askPerson(turn, call, { by: "policy", args, ask: verdict.ask }))
  }
  return ready(call, verdict.grant === event.grant ? event : { ...event, grant: verdict.grant }, asked.args)
}
