/**
 * Ends a turn, however it ended: with an output, an Abort, a suspension, a limit, an error, a bug or an interruption.
 * Afterwards the conversation is valid, the state is saved, and the event is sent.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { type AgentError, PortFailed } from "../../../data/AgentError.ts"
import type { AgentEventBody } from "../../../data/AgentEvent.ts"
import type { Message } from "../../../data/Message.ts"
import { messageOf } from "../../../data/text/ErrorMessage.ts"
import type { TurnOutput } from "../../../data/Turn.ts"
import { waitingOf } from "../../../data/Waiting.ts"
import { isConflict } from "../../../guard/internal/io/storeTurn.ts"
import { revealJson, revealText, withoutRevealed } from "../../../guard/internal/point/revealText.ts"
import { callsOf } from "../../../guard/internal/state/snapshot.ts"
import { isTurnEnd } from "../../../guard/internal/state/turnEnd.ts"
import { enterPhase } from "../../../guard/internal/state/turnState.ts"
import { pendingOf } from "../../../guard/internal/toolCall/openQuestions.ts"
import type { Aborted, Completed, Limited, Parked, RunCommon, RunResult, Suspended } from "../../../guard/RunResult.ts"
import type { TurnEnded } from "../../../guard/TurnEnded.ts"
import type { HookRecord } from "../../../hook/HookRecord.ts"
import { decodesOutput } from "../output/structuredOutput.ts"
import type { Turn } from "../running/turn.ts"
import { stopBackground } from "../subagent/background.ts"
import { noteCancelled, withPartial } from "./partial.ts"
import { defectError } from "./turnSteps.ts"

/** How long an interrupted turn has to end, in milliseconds. */
export const graceMs = 250

/** Turns the exit of the steps into the result or the error of the turn. */
export const finishTurn = (
  turn: Turn,
  steps: Effect.Effect<TurnOutput, AgentError | TurnEnded>
): Effect.Effect<RunResult, AgentError> =>
  Effect.onExit(
    Effect.matchCauseEffect(
      Effect.onExit(steps, () => turn.background === undefined ? Effect.void : stopBackground(turn)),
      {
        onSuccess: (output) => complete(turn, output),
        onFailure: (cause): Effect.Effect<RunResult, AgentError> => {
          const error = Cause.squash(cause)
          if (isTurnEnd(error)) return finish(turn, resultOfEnd(turn, error.end))
          turn.closeStep("not run: the turn failed")
          // `TurnEnded` was handled above, so this is an error of an agent.
          const failed = Cause.hasDies(cause)
            ? Cause.fail(withPartial(turn, defectError(turn, cause)))
            : Cause.map(cause as Cause.Cause<AgentError>, (one) => withPartial(turn, one))
          enterPhase(turn.state, "ended")
          return Effect.failCause(failed)
        }
      }
    ),
    (exit) => {
      if (Exit.isSuccess(exit)) return Effect.void
      return (turn.cutOff !== undefined || turn.aborted !== undefined) && Cause.hasInterruptsOnly(exit.cause)
        ? Effect.map(Effect.exit(finishCutOff(turn)), (end) => void (turn.cutOffEnd = end))
        : afterFailure(turn, exit.cause)
    }
  )

/**
 * The turn was interrupted by its time limit, by an Abort in the background, or to park it. Calls that were running
 * have an unknown outcome; the others run when the turn is resumed.
 */
const finishCutOff = (turn: Turn): Effect.Effect<RunResult, AgentError> =>
  Effect.onExit(
    Effect.suspend(() => {
      if (turn.aborted !== undefined) return finish(turn, resultOfEnd(turn, turn.aborted))
      if (turn.cutOff === "parked") return finish(turn, resultOfEnd(turn, { type: "parked" }))
      const { wallClockMs: max } = turn.agent.limits
      turn.io.publish({ type: "limit", limit: "wallClockMs", used: max, max })
      return finish(turn, resultOfEnd(turn, { type: "limited", limit: "wallClockMs", used: max, max, text: "" }))
    }),
    // The state could not be saved.
    (exit) => Effect.sync(() => Exit.isFailure(exit) ? publishFailure(turn, exit.cause) : undefined)
  )

/** Finishes a turn that has an output. If the agent has an `output` schema, the answer is decoded. */
const complete = (turn: Turn, { finishReason, text }: TurnOutput): Effect.Effect<RunResult, AgentError> => {
  const { core } = turn.agent
  enterPhase(turn.state, "ended")
  endDurableTurn(turn)
  if (!decodesOutput(core)) {
    return finish(turn, resultOf(turn, revealText(turn, text), { status: "completed", finishReason }), text)
  }
  const forUser = revealJson(turn, text)
  const decoded = forUser === text
    ? core.decodeOutput(text)
    : Effect.mapError(core.decodeOutput(forUser), (error) => withoutRevealed(error, text))
  return Effect.flatMap(
    Effect.mapError(decoded, (error) => withPartial(turn, error)),
    (object) => finish(turn, resultOf(turn, forUser, { status: "completed", finishReason, object }), text)
  )
}

/** Deletes the durable state of the turn. The turn of a sub-agent is a part of the root's turn. */
const endDurableTurn = ({ parent, session }: Turn): void => {
  if (parent === undefined && session.hasDurable) session.durable.endTurn()
}

const resultOfEnd = (turn: Turn, end: TurnEnded["end"]): RunResult => {
  if (end.type === "aborted") {
    turn.closeStep(`not run: ${end.reason}`)
    enterPhase(turn.state, "ended")
    endDurableTurn(turn)
    return resultOf(turn, end.reason, { status: "aborted", reason: end.reason, by: end.by })
  }
  if (end.type === "parked") turn.state.stop = { type: "parked" }
  if (end.type === "limited") turn.state.stop = { type: "limit", limit: end.limit, used: end.used, max: end.max }
  keepWaiting(turn)
  const snapshot = turn.io.snapshot()
  if (end.type === "suspended") {
    return resultOf(turn, "", { status: "suspended", pending: pendingOf(turn.state.calls), snapshot })
  }
  if (end.type === "parked") {
    return resultOf(turn, "", { status: "parked", pending: pendingOf(turn.state.calls), snapshot })
  }
  const { limit, max, text, used } = end
  return resultOf(turn, text, { status: "limited", limit, used, max, snapshot })
}

/** Keeps the turn in the session, so that it can be resumed until another turn starts. */
export const keepWaiting = (turn: Turn): void => {
  turn.session.waiting = {
    turnNumber: turn.state.turnNumber,
    pending: () => pendingOf(turn.state.calls),
    waiting: () => waitingOf({ ...turn.state, calls: callsOf(turn.state) }),
    snapshot: Effect.suspend(() => turn.io.sign(turn.io.snapshot())),
    abandon: (why) => turn.closeStep(why),
    end: (why) =>
      Effect.suspend(() => {
        turn.closeStep(why)
        turn.state.stop = undefined
        enterPhase(turn.state, "ended")
        endDurableTurn(turn)
        return turn.io.hasStore ? turn.io.commitRest : Effect.void
      })
  }
}

/** Saves the state and sends the event. `text` is the text for everybody except the user. */
const finish = (turn: Turn, result: RunResult, text = result.text): Effect.Effect<RunResult, AgentError> => {
  const { io } = turn
  const saved = Effect.mapError(
    io.commitEnd({ type: "turn-end", status: result.status, text, usage: result.usage, ...failOpensOf(turn) }),
    (error) => withPartial(turn, error)
  )
  if (turn.parent !== undefined || !("snapshot" in result)) return Effect.as(saved, result)
  // Taken after the commit, so that a run resumed from it continues from the state in the store.
  const signed = Effect.suspend(() => io.sign(io.snapshot()))
  return Effect.andThen(saved, Effect.map(signed, (snapshot) => Object.assign(result, { snapshot })))
}

/** After an error or an interruption: makes the conversation valid and saves it. */
const afterFailure = (turn: Turn, cause: Cause.Cause<AgentError>): Effect.Effect<void> => {
  const { agent: { config: { store } }, io, session, state, whyCutOff } = turn
  if (whyCutOff !== undefined && Cause.hasInterruptsOnly(cause)) {
    // An agent above stops and can be resumed, so this turn stays as it is.
    return Effect.sync(() =>
      io.publish({ type: "turn-end", status: whyCutOff, text: "", usage: turn.spent.usage, ...failOpensOf(turn) })
    )
  }
  turn.closeStep("not run: the turn was cancelled")
  const error = Cause.squash(cause)
  if (Cause.hasInterruptsOnly(cause)) noteCancelled(turn)
  enterPhase(state, "ended")
  const end = failureEnd(turn, cause)
  if (turn.parent !== undefined) return Effect.sync(() => io.publish(end))
  endDurableTurn(turn)
  const isUnknown = store !== undefined && session.storage.unknownCommit !== undefined
  const storeFailed = error instanceof PortFailed && error.port === "store"
  if (storeFailed) session.storage.isBehind = true
  if ((isUnknown && storeFailed) || isConflict(error)) return Effect.sync(() => io.publishUnsaved(end))
  if (store === undefined || storeFailed) return Effect.sync(() => io.publish(end))
  const saved = isUnknown ? saveInTime(turn, end) : io.commitEnd(end)
  return Effect.catch(saved, (failure) =>
    Effect.sync(() => {
      io.warn(failure.message, "runtime")
      if (isUnknown || isConflict(failure)) io.publishUnsaved(end)
      else io.publish(end)
    }))
}

/**
 * Waits only for a part of the time that the turn has to end, because a store whose commit was interrupted may never
 * answer.
 */
const saveInTime = ({ io, session: { id } }: Turn, end: AgentEventBody): Effect.Effect<void, PortFailed> =>
  Effect.timeoutOrElse(io.commitEnd(end), {
    duration: graceMs / 2,
    orElse: () =>
      new PortFailed({
        port: "store",
        message: `the session store did not answer in time, so it may not have the end of the turn of session ${id}`
      })
  })

const publishFailure = (turn: Turn, cause: Cause.Cause<AgentError>): void => turn.io.publish(failureEnd(turn, cause))

/** Makes the last event of a turn that failed or was cancelled. */
const failureEnd = (turn: Turn, cause: Cause.Cause<AgentError>): AgentEventBody => {
  const { usage } = turn.spent
  const failOpens = failOpensOf(turn)
  if (Cause.hasInterruptsOnly(cause)) {
    return { type: "turn-end", status: "cancelled", text: "the turn was cancelled", usage, ...failOpens }
  }
  return { type: "turn-end", status: "failed", text: messageOf(Cause.squash(cause)), usage, ...failOpens }
}

const failOpensOf = ({ state: { failOpens } }: Turn): { readonly failOpens?: number } =>
  failOpens === 0 ? {} : { failOpens }

/** The fields of one kind of result, in addition to the common ones. */
type Specific =
  | Omit<Completed, keyof RunCommon>
  | Omit<Suspended, keyof RunCommon>
  | Omit<Limited, keyof RunCommon>
  | Omit<Parked, keyof RunCommon>
  | Omit<Aborted, keyof RunCommon>

/**
 * Makes the result: plain data, which does not change when the conversation continues. `text` is the text for the user.
 */
const resultOf = <S extends Specific>(turn: Turn, text: string, specific: S): RunCommon & S => {
  const { io: { records }, messages, session, state } = turn
  const { cost, usage } = turn.spent
  const common = {
    sessionId: session.id,
    turnNumber: state.turnNumber,
    text,
    usage,
    cost,
    steps: state.stepNumber,
    toolCalls: state.toolCalls,
    failOpens: state.failOpens,
    records: records.length === 0 ? noRecords : records.slice()
  }
  const result: RunCommon = messages.length <= smallConversation
    ? { ...common, messages: messages.slice() }
    : Object.assign(copiedWhenRead(messages), common)
  return Object.assign(result, specific)
}

const noRecords: ReadonlyArray<HookRecord> = Object.freeze([])

/** Longer conversations are copied only when they are read, so that the cost of a turn does not grow with them. */
const smallConversation = 1_000

const copiedWhenRead = (log: ReadonlyArray<Message>): Pick<RunCommon, "messages"> => {
  const { length } = log
  let copy: ReadonlyArray<Message> | undefined
  const data = {
    get messages() {
      return copy ??= log.slice(0, length)
    }
  }
  return Object.defineProperty(data, Symbol.for("nodejs.util.inspect.custom"), printed)
}

/** Node would print a getter instead of the messages. */
const printed: PropertyDescriptor = {
  value(this: object) {
    return { ...this }
  }
}
