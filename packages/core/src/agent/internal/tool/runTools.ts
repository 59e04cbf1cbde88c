/** Runs the tools of a step. When all calls have a result, the step is added to the conversation. */
import * as Effect from "effect/Effect"
import type { AgentError } from "../../../data/AgentError.ts"
import { askHooks } from "../../../guard/internal/point/askHooks.ts"
import type { RunningCall } from "../../../guard/internal/state/toolCallState.ts"
import { abortOf, endTurn } from "../../../guard/internal/state/turnEnd.ts"
import { extendStep } from "../../../guard/internal/state/turnState.ts"
import type { Step } from "../../../guard/internal/state/yieldable.ts"
import type { TurnEnded } from "../../../guard/TurnEnded.ts"
import type { PostStepEvent } from "../../../hook/HookPoint.ts"
import type { CoreOutput } from "../../AgentCore.ts"
import { countUse, overLimit, roomFor, stopAtLimit, stopIfReached } from "../running/reachLimit.ts"
import type { Turn } from "../running/turn.ts"
import { nextAnswer, settleBackground, settledAnswers } from "../subagent/background.ts"
import { addTransferred } from "../subagent/takeOver.ts"
import { tokensOf } from "../window/tokens.ts"
import { keepResult, runToolCall } from "./runToolCall.ts"

type Failure = AgentError | TurnEnded

/**
 * Runs every unfinished call of the open step, within the limit. Returns an output if another agent took over the
 * conversation.
 */
export const runTools = function*(turn: Turn): Step<CoreOutput | undefined, Failure> {
  const { state } = turn
  const open = state.calls.filter(({ state: { status } }) => status !== "done" && status !== "asked")
  const fresh = open.filter(isPlanned)
  const room = roomFor(turn, "toolCalls")
  const late = new Set(fresh.slice(room))
  const batch = late.size > 0 ? open.filter((call) => !late.has(call)) : open
  const begun = fresh.length - late.size
  state.toolCalls += begun
  countUse(turn, "toolCalls", begun)
  if (batch.length === 1) {
    // No generator around the call, because each one costs time (`npm run bench -- turn`).
    const result = yield* runToolCall(turn, batch[0]!)
    if (result !== "waits") keepResult(turn, batch[0]!, result)
    if (turn.io.hasStore) yield* turn.io.commit
  } else yield* runBatch(turn, batch)
  const isHeld = turn.isParking || state.calls.some(isAsked)
  if (isHeld && turn.background !== undefined) {
    yield* settleBackground(turn)
    // Their questions are put together with those of this step, and their answers are kept.
    const settled = settledAnswers(turn)
    for (const one of settled) extendStep(state, one)
    if (settled.length > 0) return yield* runTools(turn)
  }
  // Calls of a parked turn that were not started count when the turn is resumed.
  if (turn.isParking) countUse(turn, "toolCalls", late.size - state.calls.filter(isPlanned).length)
  if (turn.isParking && state.calls.some(({ state: { status } }) => status !== "done" && status !== "asked")) {
    return yield* endTurn({ type: "parked" })
  }
  if (state.calls.some(isAsked)) return yield* endTurn({ type: "suspended" })
  const stop = stopIfReached(turn)
  if (stop !== undefined) return yield* stop
  const over = late.size > 0 ? overLimit(turn, "toolCalls") : undefined
  if (over !== undefined) return yield* stopAtLimit(turn, over, "toolCalls")
  const transfer = state.calls.find((call) => call.state.transfer !== undefined)?.state.transfer
  // The turn does not end before the agents in the background. Their answers belong to this step, so that a turn that
  // waits for one of them still has the answer of the agent that took over.
  const next = transfer === undefined || turn.background === undefined ? undefined : yield* nextAnswer(turn)
  if (next !== undefined) {
    extendStep(state, next)
    return yield* runTools(turn)
  }
  const { isStored } = turn.io
  turn.closeStep("not run")
  // A run that is resumed from the stored results comes to the same conversation, so it need not be stored again.
  if (isStored) turn.io.noteStored()
  if (transfer !== undefined) addTransferred(turn, transfer)
  if (turn.hasHooks("postStep")) yield* askPostStep(turn)
  return transfer === undefined ? undefined : { text: transfer.text, finishReason: "stop" }
}

const isAsked = ({ state: { status } }: RunningCall): boolean => status === "asked"

const isPlanned = ({ state: { status } }: RunningCall): boolean => status === "planned"

/** Runs the calls of a step in parallel, unless one of the tools must run alone. */
const runBatch = (turn: Turn, batch: ReadonlyArray<RunningCall>): Effect.Effect<void, Failure> => {
  const { dispatcher } = turn.agent
  const mustRunAlone = batch.some(({ state: { call } }) => dispatcher.exclusive?.(call.name) === true)
  const concurrency = mustRunAlone ? 1 : "unbounded"
  return Effect.forEach(batch, (call) => Effect.gen(() => runAndKeep(turn, call)), { concurrency, discard: true })
}

const runAndKeep = function*(turn: Turn, call: RunningCall): Step<void, Failure> {
  const result = yield* runToolCall(turn, call)
  if (result === "waits") return
  keepResult(turn, call, result)
  if (turn.io.hasStore) yield* turn.io.commit
}

/** Runs the `postStep` hooks. They may end the turn, or rewrite the history if it stays valid. */
export const askPostStep = function*(turn: Turn): Step<void, Failure> {
  const outcome = yield* askHooks(turn, "postStep", historyOf(turn))
  if (outcome?.by === undefined) return
  const abort = abortOf(outcome)
  if (abort !== undefined) return yield* abort
  turn.rewrite(outcome.event.messages, outcome.by)
}

/** The conversation so far, for hooks that may rewrite it. */
export const historyOf = (turn: Turn): PostStepEvent => ({
  messages: turn.messages.slice(),
  usage: turn.spent.usage,
  budget: { usedTokens: tokensOf(turn), windowTokens: turn.agent.config.window?.tokens ?? 0 }
})
