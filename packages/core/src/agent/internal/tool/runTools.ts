/** Runs the tools of a step. When all calls have a result, the step is added to the conversation. */
import * as Effect from "effect/Effect"
import type { AgentError } from "../../../data/AgentError.ts"
import type { PostStepEvent } from "../../../hook/HookPoint.ts"
import type { CoreOutput } from "../../AgentCore.ts"
import type { TurnEnded } from "../../TurnEnded.ts"
import { reachLimit } from "../outcome/reachLimit.ts"
import { abortOf, endTurn } from "../outcome/turnEnd.ts"
import { tokensOf } from "../session/tokens.ts"
import { askHooks } from "../turn/askHooks.ts"
import type { Turn } from "../turn/turn.ts"
import type { Step } from "../turn/yieldable.ts"
import { keepResult, runToolCall } from "./runToolCall.ts"
import type { RunningCall } from "./toolCallState.ts"

type Failure = AgentError | TurnEnded

/**
 * Runs every unfinished call of the open step, within the limit. Returns an output if another agent took over the
 * conversation.
 */
export const runTools = function*(turn: Turn): Step<CoreOutput | undefined, Failure> {
  const { agent: { limits }, state, used } = turn
  const open = state.calls.filter(({ state: { status } }) => status !== "done" && status !== "asked")
  const room = limits.toolCalls - used.toolCalls
  const batch = open.length > room ? open.slice(0, room) : open
  used.toolCalls += batch.length
  for (const call of batch) if (call.state.status === "planned") state.toolCalls++
  if (batch.length === 1) {
    // No generator around the call, because each one costs time (`npm run bench -- turn`).
    const result = yield* runToolCall(turn, batch[0]!)
    if (result !== "waits") keepResult(turn, batch[0]!, result)
    if (turn.io.hasStore) yield* turn.io.commit
  } else yield* runBatch(turn, batch)
  if (turn.isParking && state.calls.some(({ state: { status } }) => status !== "done" && status !== "asked")) {
    return yield* endTurn({ type: "parked" })
  }
  if (state.calls.some((call) => call.state.status === "asked")) return yield* endTurn({ type: "suspended" })
  if (batch.length < open.length) return yield* reachLimit(turn, "toolCalls", used.toolCalls, limits.toolCalls)
  const text = state.calls.find(({ transferText }) => transferText !== undefined)?.transferText
  const { isStored } = turn.io
  turn.closeStep("not run")
  // A run that is resumed from the stored results comes to the same conversation, so it need not be stored again.
  if (isStored) turn.io.noteStored()
  if (text !== undefined) turn.messages.push({ role: "assistant", content: text })
  if (turn.hasHooks("postStep")) yield* askPostStep(turn)
  return text === undefined ? undefined : { text, finishReason: "stop" }
}

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
  usage: turn.state.usage,
  budget: { usedTokens: tokensOf(turn), windowTokens: turn.agent.config.window?.tokens ?? 0 }
})
