/**
 * Runs one tool call. The steps of a pass, in order:
 *
 * | # | step | what can end the pass here |
 * | --- | --- | --- |
 * | 1 | find the tool | unknown tool |
 * | 2 | take up what happened in an earlier pass | a person's denial; a sub-agent at work; an unknown outcome |
 * | 3 | decode the arguments | arguments that do not fit |
 * | 4 | take a person's output | a person answered in the tool's place |
 * | 5 | ask the policy (`checkPolicy`) | a denial; a question to a person |
 * | 6 | ask the `preToolCall` hooks (`askPreHooks`) | a rejection, a ready result, the end of the turn, a question |
 * | 7 | decode and check changed arguments again | as in 3 and 5 |
 * | 8 | start and run (`runTool`) | a sub-agent that waits for a person |
 * | 9 | ask the `postToolCall` hooks (`finishCall`) | the result |
 *
 * A question that is answered in place begins another pass, which finds the decision in the state of the call.
 */
import type { AgentError } from "../../../data/AgentError.ts"
import type { Json } from "../../../data/Json.ts"
import type { ToolCall } from "../../../data/Message.ts"
import {
  failure,
  type PreToolCallEvent,
  success,
  type ToolMeta,
  type ToolResult,
  unrestricted
} from "../../../data/Tool.ts"
import { fingerprint } from "../../../hook/HookChain.ts"
import type { TurnEnded } from "../../TurnEnded.ts"
import { limitLoad } from "../session/rotate.ts"
import { resumeDelegation } from "../subagent/delegate.ts"
import type { Turn } from "../turn/turn.ts"
import { resolve, type Step } from "../turn/yieldable.ts"
import { askPerson } from "./askPerson.ts"
import { askPreHooks, end, type Next, type Pass } from "./askPreHooks.ts"
import { checkPolicy } from "./checkPolicy.ts"
import { denyCall, finishCall } from "./finishCall.ts"
import { runTool, waiting } from "./runTool.ts"
import { planned, type RunningCall, update } from "./toolCallState.ts"

type Failure = AgentError | TurnEnded

/** Most questions about one call that are answered in place: hooks that change the arguments every time end here. */
const maxPasses = 32

/** Runs one call until it is done, or waits for a person. */
export const runToolCall = function*(turn: Turn, call: RunningCall): Step<void, Failure> {
  let pass: Pass = "answered"
  for (let count = 0; pass === "answered"; count++) {
    const next: Next = count < maxPasses ? yield* prepareCall(turn, call) : tooManyPasses(call)
    if (next.type === "end") {
      pass = next.pass
      continue
    }
    // 8
    const { event } = next
    update(call, { type: "start", args: next.args })
    if (turn.io.hasStore) yield* turn.io.commit
    if (turn.io.hasListeners) publishStart(turn, event)
    const startedAt = performance.now()
    const result = yield* runTool(turn, call, event)
    // 9
    const outcome = { result, elapsedMs: performance.now() - startedAt, executed: true }
    pass = result === waiting ? "waits" : yield* finishCall(turn, event, outcome)
  }
  if (pass === "waits") return
  const { id } = call.state.call
  update(call, { type: "finish", result: limitLoad(turn, id, pass) })
  const { session } = turn
  if (session.root.hasDurable) session.durable.endCall(session.durableKey(id))
  if (turn.io.hasStore) yield* turn.io.commit
}

const publishStart = ({ io }: Turn, { args, id, name }: PreToolCallEvent): void =>
  io.publish({ type: "tool-start", call: { id, name, args } })

const tooManyPasses = ({ state: { call } }: RunningCall): Next =>
  end(failure(`${call.name} was not run: its arguments changed after each of ${maxPasses} approvals`))

/** Runs a tool for a hook. `waits`: a person would have to decide. */
export const runToolForHook = function*(turn: Turn, asked: ToolCall): Step<ToolResult | "waits", Failure> {
  const call: RunningCall = { state: planned(asked) }
  yield* runToolCall(turn, call)
  return call.state.result ?? "waits"
}

/** Steps 1 to 7: the call as it is to run, or the end of the pass. */
const prepareCall = function*(turn: Turn, running: RunningCall): Step<Next, Failure> {
  const { agent } = turn
  const { call, decision } = running.state
  // 1
  const tool = agent.tools.get(call.name)
  if (tool === undefined) return end(unknownTool(turn, call.name))
  // 2
  const earlier = running.state.status === "planned" ? undefined : yield* takeUp(turn, running, tool)
  if (earlier !== undefined) return end(earlier)
  // 3
  const decoded = yield* resolve(agent.dispatcher.decode(tool, argsToRun(running)))
  if (!decoded.ok) return end(failure(whyMisfit(call.malformed, decoded.why)))
  const { args } = decoded
  noteDecoded(turn, running, args)
  // 4
  if (running.state.status === "decided" && decision?.type === "respond") {
    const event = { ...call, args, tool, grant: unrestricted }
    return end(
      yield* finishCall(turn, event, { result: success(decision.output), elapsedMs: 0, executed: false })
    )
  }
  // 5
  const verdict = yield* checkPolicy(turn, running, tool, args)
  if (verdict.type === "deny") return end(yield* denyCall(turn, running, verdict.by, verdict.reason))
  if (verdict.type === "ask") {
    return end(yield* askPerson(turn, running, { by: "policy", args, ask: verdict.ask }))
  }
  // 6, 7
  const event: PreToolCallEvent = { ...call, args, tool, grant: verdict.grant }
  return turn.hasHooks("preToolCall") ? yield* askPreHooks(turn, running, event) : { type: "run", event }
}

const unknownTool = ({ agent: { tools } }: Turn, name: string): ToolResult =>
  failure(`unknown tool "${name}": the tools are ${[...tools.keys()].join(", ") || "none"}`)

/** What an earlier pass, or an earlier process, leads to; nothing when the call goes on like a new one. */
const takeUp = function*(turn: Turn, running: RunningCall, tool: ToolMeta): Step<Pass | undefined, Failure> {
  const { ask, call, child, decision, status } = running.state
  if (status === "decided" && decision?.type === "deny") {
    return yield* denyCall(turn, running, running.answeredBy ?? "person", decision.reason)
  }
  const delegate = turn.agent.delegates.get(call.name)
  if (delegate !== undefined && (running.subAgent !== undefined || child !== undefined)) {
    const event: PreToolCallEvent = { ...call, args: ask?.args ?? call.args, tool, grant: unrestricted }
    const startedAt = performance.now()
    const result = yield* resumeDelegation(turn, running, event, delegate)
    if (result === "waits") return result
    return yield* finishCall(turn, event, { result, elapsedMs: performance.now() - startedAt, executed: true })
  }
  return status === "started" && tool.idempotent !== true && delegate === undefined
    ? failure(
      "unknown outcome: the process ended while this tool ran. " +
        "Check whether it had its effect before calling it again."
    )
    : undefined
}

/** The arguments that a person wrote, those that a person saw, or those of the model. */
const argsToRun = ({ state: { ask, call, decision } }: RunningCall): Json =>
  decision?.type === "edit" ? decision.args : ask?.args ?? call.args

/** Takes note of arguments that fit: written by a person, they answer the question; malformed ones were repaired. */
const noteDecoded = ({ io }: Turn, running: RunningCall, args: Json): void => {
  const { ask, call, decision, status } = running.state
  if (decision?.type === "edit" && ask !== undefined) {
    const answer = { hook: ask.by, fingerprint: fingerprint(call.name, args), edited: true }
    update(running, { type: "settle", answer })
  }
  if (call.malformed !== undefined && status === "planned") {
    io.publish({ type: "args-repaired", call, text: call.malformed })
  }
}

const whyMisfit = (malformed: string | undefined, why: string): string =>
  malformed === undefined
    ? `the arguments do not fit the tool's schema: ${why}`
    : `the arguments are not valid JSON: ${malformed.slice(0, 200)}`
