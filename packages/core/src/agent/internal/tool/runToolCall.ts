/**
 * Runs one tool call. The steps of a pass, in order:
 *
 * | # | step | what can end the pass here |
 * | --- | --- | --- |
 * | 1 | find the tool | unknown tool |
 * | 2 | continue from an earlier pass | a person's denial; a running sub-agent; an unknown outcome |
 * | 3 | decode the arguments | arguments that do not fit |
 * | 4 | use a person's output | a person answered instead of the tool |
 * | 5 | check the policy (`checkPolicy`) | a denial |
 * | 6 | run the `preToolCall` hooks (`askPreHooks`) | a rejection, a ready result, the end of the turn |
 * | 7 | decode and check changed arguments again | as in 3 and 5 |
 * | 8 | put the questions of the policy and the hooks as one (`askPerson`) | a question to a person |
 * | 9 | run the tool (`runTool`) | a sub-agent that waits for a person; a tool that the client runs |
 * | 10 | run the `postToolCall` hooks (`finishCall`) | the result |
 *
 * When a question is answered in this process, another pass follows. It finds the decision in the state of the call.
 */
import * as Effect from "effect/Effect"
import type { AgentError } from "../../../data/AgentError.ts"
import type { Json } from "../../../data/Json.ts"
import type { ToolCall } from "../../../data/Message.ts"
import type { PendingAsk } from "../../../data/RunState.ts"
import {
  failure,
  type PreToolCallEvent,
  success,
  type ToolMeta,
  type ToolResult,
  unrestricted
} from "../../../data/tool/Tool.ts"
import { changesOf, type DefinitionChange, definitionOf } from "../../../data/tool/ToolDefinition.ts"
import { ask } from "../../../hook/HookAction.ts"
import { fingerprint } from "../../../hook/HookChain.ts"
import type { TurnEnded } from "../../TurnEnded.ts"
import { checkResult } from "../point/inputParts.ts"
import type { Turn } from "../point/turn.ts"
import { sameJson } from "../schema/sameValue.ts"
import { narrowest, questionsOf } from "../state/questions.ts"
import { approvalOf, askersOf, planned, type RunningCall, update } from "../state/toolCallState.ts"
import { stopOf } from "../state/turnEnd.ts"
import type { Step } from "../state/yieldable.ts"
import { resumeDelegation } from "../subagent/delegate.ts"
import { askPerson, type Question } from "../toolCall/askPerson.ts"
import { askPreHooks, type Next } from "../toolCall/askPreHooks.ts"
import { checkPolicy } from "../toolCall/checkPolicy.ts"
import { denyCall, finishCall } from "../toolCall/finishCall.ts"
import { limitLoad } from "../window/rotate.ts"
import { runTool, waiting } from "./runTool.ts"

type Failure = AgentError | TurnEnded

/** The maximum number of passes of one call. It stops hooks that change the arguments every time. */
const maxPasses = 32

/**
 * Runs one call until it has a result or waits: for a person, or because the turn is parked. The caller keeps the
 * result with `keepResult`. All steps are in one function, because each generator between a tool and the fiber costs
 * time (`npm run bench -- turn`).
 */
export const runToolCall = function*(turn: Turn, running: RunningCall): Step<ToolResult | "waits", Failure> {
  const { agent, io } = turn
  if (turn.isParking) return "waits"
  for (let count = 0; count < maxPasses; count++) {
    const { call, decision, status } = running.state
    // 1
    const tool = agent.tools.get(call.name)
    if (tool === undefined) return unknownTool(turn, call.name)
    // 2
    const earlier = status === "planned" ? undefined : yield* takeUp(turn, running, tool)
    if (earlier === "answered") continue
    if (earlier !== undefined) return earlier
    // 3
    const decoding = agent.dispatcher.decode(tool, argsToRun(running))
    const decoded = Effect.isEffect(decoding) ? yield* decoding : decoding
    if (!decoded.ok) return failure(whyMisfit(call.malformed, decoded.why))
    const { args } = decoded
    noteDecoded(turn, running, args)
    // 4
    if (status === "decided" && decision?.type === "respond") {
      const event = { ...call, args, tool, grant: unrestricted }
      const isOfClient = running.state.ask?.client === true
      const output = isOfClient ? yield* receiveResult(turn, decision.output) : decision.output
      return yield* finishCall(turn, event, { result: success(output) })
    }
    // 5
    const verdict = yield* checkPolicy(turn, running, tool, args)
    if (verdict.type === "deny") return yield* denyCall(turn, running, verdict.by, verdict.reason)
    // 6, 7, 8
    const event: PreToolCallEvent = { ...call, args, tool, grant: verdict.grant }
    const next: Next = turn.hasHooks("preToolCall") || verdict.questions !== undefined
      ? yield* askPreHooks(turn, running, event, verdict.questions)
      : { type: "run", event }
    if (next.type === "end") {
      if (next.pass === "answered") continue
      return next.pass
    }
    // 9
    if (agent.clientTools?.has(call.name) === true) {
      const pass = yield* askPerson(turn, running, clientQuestion(call.name, next.event.args))
      if (pass === "answered") continue
      return pass
    }
    const { event: { args: toRun } } = next
    update(running, { type: "start", args: toRun === call.args ? undefined : toRun })
    if (io.hasStore) yield* io.commit
    publishStart(turn, running, next.event)
    const startedAt = performance.now()
    const result = yield* runTool(turn, running, next.event)
    // 10
    return result === waiting
      ? "waits"
      : yield* finishCall(turn, next.event, { result, startedAt, approval: approvalOf(running.state) })
  }
  const { name } = running.state.call
  return failure(`${name} was not run: its arguments changed after each of ${maxPasses} approvals`)
}

/** The client runs its tools, and answers with the result. */
const clientQuestion = (name: string, args: Json): Question => ({
  args,
  questions: [{
    by: "client",
    ask: ask(`the client runs ${name}`, undefined, { allowed: ["respond", "deny"], standing: "none" })
  }],
  isForClient: true
})

/** The model reads the result of a client's tool, so the hooks that check messages check it too. */
const receiveResult = function*(turn: Turn, given: Json): Step<Json, Failure> {
  const { output, stop } = yield* checkResult(turn, given)
  if (stop?.action._tag === "Respond") return stop.action.output.text
  const stopped = stopOf("preTurn", stop)
  return stopped === undefined ? output : yield* stopped
}

const publishStart = ({ io }: Turn, { state: { changedBy } }: RunningCall, event: PreToolCallEvent): void => {
  if (!io.hasListeners) return
  const { args, id, name } = event
  const changed = changedBy === undefined ? {} : { changed: { by: changedBy } }
  io.publish({ type: "tool-start", call: { id, name, args, ...changed } })
}

/** Keeps the result of a call. The call is then done. */
export const keepResult = (turn: Turn, running: RunningCall, result: ToolResult): void => {
  const { session } = turn
  const { id } = running.state.call
  update(running, { type: "finish", result: limitLoad(turn, id, result) })
  if (session.root.hasDurable) session.durable.endCall(session.durableKey(id))
}

/** Runs a tool for a hook. `waits` means that a person would have to decide. */
export const runToolForHook = function*(turn: Turn, asked: ToolCall): Step<ToolResult | "waits", Failure> {
  const running: RunningCall = { state: planned(asked) }
  const result = yield* runToolCall(turn, running)
  if (result === "waits") return result
  keepResult(turn, running, result)
  return running.state.result ?? result
}

const unknownTool = ({ agent: { tools } }: Turn, name: string): ToolResult =>
  failure(`unknown tool "${name}": the tools are ${[...tools.keys()].join(", ") || "none"}`)

/** Continues from an earlier pass or an earlier process. Returns nothing if the call continues like a new one. */
const takeUp = function*(
  turn: Turn,
  running: RunningCall,
  tool: ToolMeta
): Step<ToolResult | "waits" | "answered" | undefined, Failure> {
  const { ask, call, child, decision, status } = running.state
  if (status === "decided" && decision?.type === "deny") {
    return yield* denyCall(turn, running, running.answeredBy ?? "person", decision.reason)
  }
  if (status === "decided" && ask?.definition !== undefined) {
    const changed = changesOf(ask.definition, yield* definitionOf(tool))
    if (changed.length > 0) return yield* askAboutChange(turn, running, ask, changed)
  }
  const delegate = turn.agent.delegates.get(call.name)
  if (delegate !== undefined && (running.subAgent !== undefined || child !== undefined)) {
    const event: PreToolCallEvent = { ...call, args: ask?.args ?? call.args, tool, grant: unrestricted }
    const startedAt = performance.now()
    publishStart(turn, running, event)
    const result = yield* resumeDelegation(turn, running, event, delegate)
    if (result === "waits") return result
    return yield* finishCall(turn, event, { result, startedAt })
  }
  return status === "started" && tool.idempotent !== true && delegate === undefined
    ? failure(
      "unknown outcome: the process ended while this tool ran. " +
        "Check whether it had its effect before calling it again."
    )
    : undefined
}

/** Asks the question of a decided call again, because the tool is no longer what the person approved. */
const askAboutChange = (
  turn: Turn,
  running: RunningCall,
  earlier: PendingAsk,
  changed: ReadonlyArray<DefinitionChange>
): Step<"answered" | "waits", AgentError> =>
  askPerson(turn, running, {
    args: argsToRun(running),
    questions: narrowest(questionsOf(earlier), "none"),
    again: { changed, earlier }
  })

/** Returns the arguments to use: those that a person wrote, those that a person saw, or those of the model. */
const argsToRun = ({ state: { ask, call, decision } }: RunningCall): Json =>
  decision?.type === "edit" ? decision.args : ask?.args ?? call.args

/**
 * Records that the arguments fit. Arguments that a person wrote answer the question; malformed ones have been repaired.
 */
const noteDecoded = ({ io }: Turn, running: RunningCall, args: Json): void => {
  const { ask, call, decision, status } = running.state
  if (decision?.type === "edit" && ask !== undefined) {
    const text = fingerprint(call.name, args)
    for (const hook of askersOf(ask)) {
      update(running, { type: "settle", answer: { hook, fingerprint: text, edited: true } })
    }
    if (!sameJson(args, ask.args)) update(running, { type: "change", by: decision.by ?? "a person" })
  }
  if (call.malformed !== undefined && status === "planned") {
    io.publish({ type: "args-repaired", call, text: call.malformed })
  }
}

const whyMisfit = (malformed: string | undefined, why: string): string =>
  malformed === undefined
    ? `the arguments do not fit the tool's schema: ${why}`
    : `the arguments are not valid JSON: ${malformed.slice(0, 200)}`
