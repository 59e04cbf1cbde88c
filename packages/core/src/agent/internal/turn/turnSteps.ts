/**
 * What happens in a turn, in order:
 *
 * 1. start the session, when it is new (`startSession`)
 * 2. `preTurn` hooks
 * 3. messages that memory recalls
 * 4. the core: model and tools, until it has an output
 * 5. memory observes the finished turn
 * 6. `postTurn` hooks
 *
 * When 2 to 6 fail, the `onTurnError` hooks may recover the turn.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import { type AgentError, PortFailed } from "../../../data/AgentError.ts"
import { messageOf } from "../../../data/ErrorMessage.ts"
import type { Message } from "../../../data/Message.ts"
import type { TurnInput, TurnOutput } from "../../../data/Turn.ts"
import type { Outcome } from "../../../hook/HookChain.ts"
import type { CoreOutput } from "../../AgentCore.ts"
import type { TurnEnded } from "../../TurnEnded.ts"
import { addMessages } from "../session/addMessages.ts"
import { startSession } from "../session/startSession.ts"
import { askHooks } from "./askHooks.ts"
import { CoreContext } from "./coreContext.ts"
import type { Turn } from "./turn.ts"
import { isTurnEnd, stopOf } from "./turnEnd.ts"
import { enterPhase } from "./turnState.ts"
import type { Step } from "./yieldable.ts"

type Failure = AgentError | TurnEnded

/** What the core, or a hook in its place, has answered. */
type Answer = CoreOutput & { readonly executed: boolean }

/** Runs the steps of a turn. */
export const turnSteps = function*(turn: Turn, isNew: boolean, resumed: boolean): Step<TurnOutput, Failure> {
  if (isNew) yield* startSession(turn, resumed)
  if (!turn.hasHooks("onTurnError")) return yield* work(turn, resumed)
  return yield* Effect.catchCause(Effect.gen(() => work(turn, resumed)), (cause) => {
    // The steps fail with these two only; anything else is a defect.
    const error = Cause.hasDies(cause) ? defectError(turn, cause) : Cause.squash(cause) as Failure
    return isTurnEnd(error) || Cause.hasInterruptsOnly(cause)
      ? Effect.failCause(cause)
      : Effect.gen(() => recover(turn, error))
  })
}

/** A bug of the core, a provider or a port, as the error of the turn. */
export const defectError = ({ agent: { core } }: Turn, cause: Cause.Cause<unknown>): PortFailed => {
  const error = Cause.squash(cause)
  return new PortFailed({ port: core.coreType, message: `the core failed: ${messageOf(error)}`, cause: error })
}

/** Tells the hooks that the turn failed; the first that has an answer recovers it. */
const recover = function*(turn: Turn, error: AgentError): Step<TurnOutput, Failure> {
  const outcome = yield* askHooks(turn, "onTurnError", { input: turn.state.input, error })
  if (outcome?.action._tag !== "Replace") return yield* Effect.fail(error)
  turn.closeStep("not run: the turn failed")
  const { text } = outcome.action.value
  // The user reads this answer, so it belongs to the conversation, where the question is.
  const last = turn.messages.at(-1)
  if (last !== undefined && last.role !== "assistant") turn.messages.push({ role: "assistant", content: text })
  return outputOf(turn, { finishReason: "stop", ...outcome.action.value })
}

const work = function*(turn: Turn, resumed: boolean): Step<TurnOutput, Failure> {
  const { io, state } = turn
  const continues = resumed && state.phase !== "start"
  if (continues) io.publish({ type: "turn-start", message: state.input.message, resumed })
  const answer = continues ? yield* runCore(turn) : yield* begin(turn)
  const output = outputOf(turn, answer)
  yield* observe(turn, output)
  const outcome = yield* askHooks(turn, "postTurn", { input: state.input, output, executed: answer.executed })
  const stop = stopOf("postTurn", outcome)
  if (stop !== undefined) return yield* stop
  return outcome === undefined ? output : { ...output, ...outcome.event.output }
}

/** Steps 2 to 4 of a turn that begins. */
const begin = function*(turn: Turn): Step<Answer, Failure> {
  const { state } = turn
  const outcome = yield* askHooks(turn, "preTurn", state.input)
  const keepsMessage = outcome?.action._tag === "Abort" && outcome.action.keepMessage === true
  publishStart(turn, outcome, keepsMessage)
  state.input = inputAfter(turn, outcome)
  if (keepsMessage) turn.messages.push(userMessage(state.input))
  const stop = stopOf("preTurn", outcome)
  if (stop !== undefined) return yield* stop
  yield* recall(turn)
  enterPhase(state, "model")
  turn.messages.push(userMessage(state.input))
  if (outcome?.action._tag !== "Respond") return yield* runCore(turn)
  const { text } = outcome.action.output
  turn.messages.push({ role: "assistant", content: text })
  return { text, finishReason: "stop", executed: false }
}

/** Listeners get the message as the hooks left it, and nothing of a message that hooks refused. */
const publishStart = (turn: Turn, outcome: Outcome<"preTurn"> | undefined, keepsMessage: boolean): void => {
  if (!turn.io.hasListeners) return
  const tag = outcome?.action._tag
  const isRefused = tag === "Reject" || (tag === "Abort" && !keepsMessage)
  const { message } = outcome?.event ?? turn.state.input
  turn.io.publish({ type: "turn-start", message: isRefused ? "" : message, resumed: false })
}

/**
 * The input as the hooks left it. `onTurnError` hooks see the same of a refused turn; they see nothing of what a
 * confidential hook refused.
 */
const inputAfter = (turn: Turn, outcome: Outcome<"preTurn"> | undefined): TurnInput => {
  if (outcome === undefined) return turn.state.input
  const refusedBy = outcome.action._tag === "Reject" ? outcome.by : undefined
  const isHidden = refusedBy !== undefined &&
    turn.agent.chain.hooks.some(({ confidential, name }) => confidential === true && name === refusedBy)
  return isHidden ? { message: "" } : outcome.event
}

const userMessage = ({ attachments = [], message }: TurnInput): Message => ({
  role: "user",
  content: attachments.length === 0 ? message : [{ type: "text", text: message }, ...attachments]
})

const runCore = function*(turn: Turn): Step<Answer, Failure> {
  const output = yield* turn.agent.core.runTurn(turn.state.input, new CoreContext(turn))
  return { text: output.text, finishReason: output.finishReason, executed: true }
}

/** Memory recalls messages. Its failure is a warning: the turn goes on without them. */
const recall = function*(turn: Turn): Step<void> {
  const { agent: { memory }, session, state } = turn
  if (memory?.preTurnContext === undefined) return
  const recalled = Effect.suspend(() => memory.preTurnContext!(state.input, session.id))
  addMessages(turn, yield* Effect.catchCause(recalled, (cause) => Effect.as(warnMemory(turn, cause), [])), "memory")
}

/** Memory sees the finished turn. Its failure is a warning. */
const observe = function*(turn: Turn, output: TurnOutput): Step<void> {
  const { agent: { memory }, session, state } = turn
  if (memory?.postTurnObserve === undefined) return
  const observed = Effect.suspend(() => memory.postTurnObserve!(state.input, output, session.id))
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
