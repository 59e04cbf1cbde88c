/** Runs the tools of a step. When all calls have a result, the step joins the conversation. */
import * as Effect from "effect/Effect"
import type { AgentError } from "../../../data/AgentError.ts"
import type { PostStepEvent } from "../../../hook/HookPoint.ts"
import type { CoreOutput } from "../../AgentCore.ts"
import type { TurnEnded } from "../../TurnEnded.ts"
import { tokensOf } from "../session/tokens.ts"
import { askHooks } from "../turn/askHooks.ts"
import { reachLimit } from "../turn/reachLimit.ts"
import type { Turn } from "../turn/turn.ts"
import { abortOf, endTurn } from "../turn/turnEnd.ts"
import type { Step, Yieldable } from "../turn/yieldable.ts"
import { runToolCall } from "./runToolCall.ts"
import type { RunningCall } from "./toolCallState.ts"

type Failure = AgentError | TurnEnded

/**
 * Runs every call of the open step that is not done, within the cap. Gives back an output when another agent took the
 * conversation over.
 */
export const runTools = function*(turn: Turn): Step<CoreOutput | undefined, Failure> {
  const { agent: { limits }, state, used } = turn
  const open = state.calls.filter(({ state: { status } }) => status !== "done" && status !== "asked")
  const room = limits.toolCalls - used.toolCalls
  const batch = open.length > room ? open.slice(0, room) : open
  used.toolCalls += batch.length
  for (const call of batch) if (call.state.status === "planned") state.toolCalls++
  yield* runBatch(turn, batch)
  if (state.calls.some((call) => call.state.status === "asked")) {
    if (turn.io.hasStore) yield* turn.io.commit
    return yield* endTurn({ type: "suspended" })
  }
  if (batch.length < open.length) return yield* reachLimit(turn, "toolCalls", used.toolCalls, limits.toolCalls)
  const text = state.calls.find(({ transferText }) => transferText !== undefined)?.transferText
  turn.closeStep("not run")
  if (text !== undefined) turn.messages.push({ role: "assistant", content: text })
  if (turn.hasHooks("postStep")) yield* askPostStep(turn)
  return text === undefined ? undefined : { text, finishReason: "stop" }
}

/** Calls of one step run side by side, unless one of their tools has to run alone. */
const runBatch = (turn: Turn, batch: ReadonlyArray<RunningCall>): Yieldable<void, Failure> => {
  if (batch.length === 1) return runToolCall(turn, batch[0]!)
  const { dispatcher } = turn.agent
  const mustRunAlone = batch.some(({ state: { call } }) => dispatcher.exclusive?.(call.name) === true)
  return Effect.forEach(batch, (call) => Effect.gen(() => runToolCall(turn, call)), {
    concurrency: mustRunAlone ? 1 : "unbounded",
    discard: true
  })
}

/** `postStep` hooks may rewrite the history, when it stays valid, or end the turn. */
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
  usage: turn.state.usage,
  budget: { usedTokens: tokensOf(turn), windowTokens: turn.agent.config.window?.tokens ?? 0 }
})
