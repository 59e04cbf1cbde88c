/**
 * Decides whether a tool call may run, and with which arguments. The steps of a pass, in order:
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
 * | 8 | put the questions of the policy and the hooks as one (`askPerson`) | a question to a person; a client's tool |
 *
 * When a question is answered in this process, another pass follows. It finds the decision in the state of the call.
 * Afterwards, the driver runs the tool and finishes the call (`finishCall`).
 */
import * as Effect from "effect/Effect"
import type { AgentError } from "../../../data/AgentError.ts"
import type { Json } from "../../../data/Json.ts"
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
import type { GuardTurn } from "../point/guardTurn.ts"
import { checkResult } from "../point/inputParts.ts"
import { sameJson } from "../schema/sameValue.ts"
import { narrowest, questionsOf } from "../state/questions.ts"
import { askersOf, type RunningCall, update } from "../state/toolCallState.ts"
import { stopOf } from "../state/turnEnd.ts"
import type { Step } from "../state/yieldable.ts"
import { askPerson, type Question } from "./askPerson.ts"
import { askPreHooks, type Next } from "./askPreHooks.ts"
import { checkPolicy } from "./checkPolicy.ts"
import { denyCall, finishCall } from "./finishCall.ts"

type Failure = AgentError | TurnEnded

/** What happens after the guard: the tool runs, or the call has a result, or it waits for a person. */
export type Allowed = { readonly type: "run"; readonly event: PreToolCallEvent } | ToolResult | "waits"

/** Continues the sub-agent that works for the call. */
export type TakeOver = (event: PreToolCallEvent) => Step<ToolResult | "waits", Failure>

/** The maximum number of passes of one call. It stops hooks that change the arguments every time. */
const maxPasses = 32

/**
 * Runs steps 1 to 8 until the call may run, has a result or waits. All steps are in one function, because each
 * generator between a tool and the fiber costs time (`npm run bench -- turn`). `takeOver` is set if the tool delegates.
 */
export const allowCall = function*(
  turn: GuardTurn,
  running: RunningCall,
  takeOver?: TakeOver
): Step<Allowed, Failure> {
  const { agent } = turn
  for (let count = 0; count < maxPasses; count++) {
    const { call, decision, status } = running.state
    // 1
    const tool = agent.tools.get(call.name)
    if (tool === undefined) return unknownTool(turn, call.name)
    // 2
    const earlier = status === "planned" ? undefined : yield* takeUp(turn, running, tool, takeOver)
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
    if (agent.clientTools?.has(call.name) !== true) return next
    const pass = yield* askPerson(turn, running, clientQuestion(call.name, next.event.args))
    if (pass !== "answered") return pass
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
const receiveResult = function*(turn: GuardTurn, given: Json): Step<Json, Failure> {
  const { output, stop } = yield* checkResult(turn, given)
  if (stop?.action._tag === "Respond") return stop.action.output.text
  const stopped = stopOf("preTurn", stop)
  return stopped === undefined ? output : yield* stopped
}

const unknownTool = ({ agent: { tools } }: GuardTurn, name: string): ToolResult =>
  failure(`unknown tool "${name}": the tools are ${[...tools.keys()].join(", ") || "none"}`)

/** Continues from an earlier pass or an earlier process. Returns nothing if the call continues like a new one. */
const takeUp = function*(
  turn: GuardTurn,
  running: RunningCall,
  tool: ToolMeta,
  takeOver: TakeOver | undefined
): Step<ToolResult | "waits" | "answered" | undefined, Failure> {
  const { ask, call, child, decision, status } = running.state
  if (status === "decided" && decision?.type === "deny") {
    return yield* denyCall(turn, running, running.answeredBy ?? "person", decision.reason)
  }
  if (status === "decided" && ask?.definition !== undefined) {
    const changed = changesOf(ask.definition, yield* definitionOf(tool))
    if (changed.length > 0) return yield* askAboutChange(turn, running, ask, changed)
  }
  if (takeOver !== undefined && (running.subAgent !== undefined || child !== undefined)) {
    return yield* takeOver({ ...call, args: ask?.args ?? call.args, tool, grant: unrestricted })
  }
  return status === "started" && tool.idempotent !== true && takeOver === undefined
    ? failure(
      "unknown outcome: this tool was interrupted while it ran, or its process ended. " +
        "Check whether it had its effect before calling it again."
    )
    : undefined
}

/** Asks the question of a decided call again, because the tool is no longer what the person approved. */
const askAboutChange = (
  turn: GuardTurn,
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
const noteDecoded = ({ io }: GuardTurn, running: RunningCall, args: Json): void => {
  const { ask, call, decision, settled = [], status } = running.state
  if (decision?.type === "edit" && ask !== undefined) {
    const text = fingerprint(call.name, args)
    // Also those who asked before an earlier edit, which was their answer then.
    const before = settled.flatMap(({ edited, hook }) => edited === true ? [hook] : [])
    for (const hook of new Set([...askersOf(ask), ...before])) {
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
