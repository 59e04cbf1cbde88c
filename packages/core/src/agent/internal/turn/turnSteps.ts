/**
 * The steps of a turn, in order:
 * 1. starts the session if it is new (`startSession`)
 * 2. runs the `preTurn` hooks, once for each part of the input
 * 3. adds the messages that memory recalls
 * 4. runs the core: model and tools, until there is an output
 * 5. passes the finished turn to memory
 * 6. runs the `postTurn` hooks
 *
 * If a step from 2 to 6 fails, the `onTurnError` hooks may recover the turn.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import { type AgentError, PortFailed } from "../../../data/AgentError.ts"
import { noEffect, portEffect } from "../../../data/effect/portEffect.ts"
import { messageOf } from "../../../data/text/ErrorMessage.ts"
import type { TurnOutput } from "../../../data/Turn.ts"
import { isConflict } from "../../../guard/internal/io/storeTurn.ts"
import { askHooks } from "../../../guard/internal/point/askHooks.ts"
import { receiveInput } from "../../../guard/internal/point/receiveInput.ts"
import { isTurnEnd, stopOf } from "../../../guard/internal/state/turnEnd.ts"
import { enterPhase, userMessage } from "../../../guard/internal/state/turnState.ts"
import type { Step } from "../../../guard/internal/state/yieldable.ts"
import type { TurnEnded } from "../../../guard/TurnEnded.ts"
import type { CoreOutput } from "../../AgentCore.ts"
import type { Turn } from "../running/turn.ts"
import { restoreBackground } from "../subagent/delegate.ts"
import { continueTransfer } from "../subagent/takeOver.ts"
import { addMessages } from "../window/addMessages.ts"
import { startSession } from "../window/startSession.ts"
import { CoreContext } from "./coreContext.ts"

type Failure = AgentError | TurnEnded

/** The answer of the core, or of a hook that answered instead. */
type Answer = CoreOutput & { readonly executed: boolean }

/** Runs the steps of a turn. */
export const turnSteps = function*(turn: Turn, isNew: boolean, resumed: boolean): Step<TurnOutput, Failure> {
  // Claims the session before anything runs, because another process may resume the same turn.
  if (resumed && turn.parent === undefined && turn.io.hasStore) yield* turn.io.commit
  if (isNew) yield* startSession(turn, resumed)
  if (!turn.hasHooks("onTurnError")) return yield* work(turn, resumed)
  return yield* Effect.catchCause(Effect.gen(() => work(turn, resumed)), (cause) => {
    // The steps fail only with these two errors; anything else is a defect.
    const error = Cause.hasDies(cause) ? defectError(turn, cause) : Cause.squash(cause) as Failure
    // No hook can recover a turn whose session another process has taken over.
    return isTurnEnd(error) || Cause.hasInterruptsOnly(cause) || isConflict(error)
      ? Effect.failCause(cause)
      : Effect.gen(() => recover(turn, error))
  })
}

/** Turns a bug of the core, a provider or a port into the error of the turn. */
export const defectError = ({ agent: { core } }: Turn, cause: Cause.Cause<unknown>): PortFailed => {
  const error = Cause.squash(cause)
  return new PortFailed({ port: core.coreType, message: `the core failed: ${messageOf(error)}`, cause: error })
}

/** Runs the `onTurnError` hooks. The first hook with an answer recovers the turn. */
const recover = function*(turn: Turn, error: AgentError): Step<TurnOutput, Failure> {
  const outcome = yield* askHooks(turn, "onTurnError", { input: turn.state.input, error })
  if (outcome?.action._tag !== "Replace") return yield* Effect.fail(error)
  turn.closeStep("not run: the turn failed")
  const { text } = outcome.action.value
  // The user reads this answer, so it is added to the conversation after the question.
  const last = turn.messages.at(-1)
  if (last !== undefined && last.role !== "assistant") turn.messages.push({ role: "assistant", content: text })
  return outputOf(turn, { finishReason: "stop", ...outcome.action.value })
}

const work = function*(turn: Turn, resumed: boolean): Step<TurnOutput, Failure> {
  const { io, state } = turn
  const continues = resumed && state.phase !== "start"
  if (continues) restoreBackground(turn)
  if (continues) io.publish({ type: "turn-start", message: state.input.message, resumed })
  const answer = !continues
    ? yield* begin(turn)
    : state.phase === "ended"
    ? yield* answerBefore(turn)
    : yield* runCore(turn)
  const output = outputOf(turn, answer)
  yield* observe(turn, output)
  const outcome = yield* askHooks(turn, "postTurn", { input: state.input, output, executed: answer.executed })
  const stop = stopOf("postTurn", outcome)
  if (stop !== undefined) return yield* stop
  return outcome === undefined ? output : { ...output, ...outcome.event.output }
}

/**
 * The answer that a sub-agent had given before its process ended. Its turn is over and its caller does not know: the
 * model is not asked again, also if the turn had failed or a hook had aborted it.
 */
const answerBefore = function*({ agent: { core }, messages }: Turn): Step<Answer, PortFailed> {
  const last = messages.at(-1)
  if (last?.role === "assistant") {
    return { text: last.content, finishReason: "stop", executed: true }
  }
  const message = "the turn had ended without an answer when its process ended"
  return yield* new PortFailed({ port: core.coreType, message })
}

/** Runs steps 2 to 4 of a new turn. */
const begin = function*(turn: Turn): Step<Answer, Failure> {
  const { state } = turn
  const { answer, before } = yield* receiveInput(turn)
  yield* recall(turn)
  enterPhase(state, "model")
  if (before !== undefined) {
    // Hooks with `preTurn` have checked these messages.
    const others = turn.agent.concealers.filter(({ preTurn }) => preTurn === undefined)
    addMessages(turn, before, "the client", others)
  }
  turn.messages.push(userMessage(state.input))
  if (answer === undefined) {
    continueTransfer(turn)
    return yield* runCore(turn)
  }
  turn.messages.push({ role: "assistant", content: answer })
  return { text: answer, finishReason: "stop", executed: false }
}

const runCore = function*(turn: Turn): Step<Answer, Failure> {
  const { core } = turn.agent
  const running = core.runTurn(turn.state.input, new CoreContext(turn))
  const output = readOutput(core.coreType, yield* Effect.isEffect(running) ? running : noEffect("runTurn", running))
  if (output instanceof PortFailed) return yield* output
  return { text: output.text, finishReason: output.finishReason, executed: true }
}

/** Adds the messages that memory recalls. If memory fails, there is a warning and the turn continues without them. */
const recall = function*(turn: Turn): Step<void> {
  const { agent: { memory }, session, state } = turn
  if (memory?.preTurnContext === undefined) return
  const recalled = portEffect("preTurnContext", () => memory.preTurnContext!(state.input, session.id))
  addMessages(turn, yield* Effect.catchCause(recalled, (cause) => Effect.as(warnMemory(turn, cause), [])), "memory")
}

/** Passes the finished turn to memory. A failure becomes a warning. */
const observe = function*(turn: Turn, output: TurnOutput): Step<void> {
  const { agent: { memory }, session, state } = turn
  if (memory?.postTurnObserve === undefined) return
  const observed = portEffect("postTurnObserve", () => memory.postTurnObserve!(state.input, output, session.id))
  yield* Effect.catchCause(observed, (cause) => warnMemory(turn, cause))
}

const warnMemory = ({ io }: Turn, cause: Cause.Cause<unknown>): Effect.Effect<void> =>
  Effect.sync(() => io.warn(`memory failed: ${messageOf(Cause.squash(cause))}`, "runtime"))

const outputOf = ({ state }: Turn, { finishReason, text }: CoreOutput): TurnOutput => ({
  text,
  finishReason,
  usage: state.usage,
  steps: state.stepNumber,
  toolCalls: state.toolCalls
})

/** Returns the output, or the error for a value that is not one: a core may be a program without types. */
const readOutput = (coreType: string, output: unknown): CoreOutput | PortFailed => {
  const problem = problemOf(output)
  return problem === undefined
    // `problemOf` has checked the fields.
    ? output as CoreOutput
    : new PortFailed({
      port: coreType,
      message: `the core ${coreType} returned something that is not an output: ${problem}; ` +
        "it returns { text, finishReason }",
      cause: output
    })
}

const problemOf = (output: unknown): string | undefined => {
  if (typeof output !== "object" || output === null) return `it is ${show(output)}`
  // It is an object, so any key may be read.
  const { finishReason, text } = output as { readonly [key: string]: unknown }
  if (typeof text !== "string") return `text is ${show(text)}`
  return typeof finishReason === "string" ? undefined : `finishReason is ${show(finishReason)}`
}

const show = (value: unknown): string => {
  if (value === null || value === undefined || typeof value === "number") return String(value)
  return typeof value === "object" ? "an object" : `a ${typeof value}`
}
