/**
 * Makes turns, and runs a turn in a child fiber, so that the time limit, `close` and an interruption can end it at any
 * time. `turnSteps` has the steps, and `finishTurn` ends the turn.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import type { AgentError } from "../../../data/AgentError.ts"
import { after } from "../../../data/internal/timer.ts"
import type { SessionState } from "../../../guard/internal/state/sessionState.ts"
import { type TurnState, unused } from "../../../guard/internal/state/turnState.ts"
import type { RunResult } from "../../../guard/RunResult.ts"
import { capabilitiesOf } from "../capability/capabilities.ts"
import { askModelForTool } from "../capability/llm.ts"
import type { ResolvedAgent } from "../definition/resolvedAgent.ts"
import { Turn, type TurnOperations } from "../running/turn.ts"
import { countTurn } from "../running/waitingTurns.ts"
import { finishTurn, graceMs } from "./finishTurn.ts"
import { unavailable } from "./turnGate.ts"
import { turnSteps } from "./turnSteps.ts"

/** Runs a turn to its end. With `resumed`, it continues from the phase of its state. */
export const runTurn = (turn: Turn, resumed: boolean): Effect.Effect<RunResult, AgentError> =>
  Effect.withFiber((fiber) =>
    // This is one operation, so an interruption either happens before it, or is passed on to the child.
    Effect.callback<RunResult, AgentError>((resume) => {
      const { session } = turn
      if (session.status === "busy" || session.status === "closed") {
        return resume(unavailable(session.id, session.status))
      }
      if (turn.parent === undefined && session.owner?.isParking === true) {
        return resume(unavailable(session.id, "parked"))
      }
      countTurn()
      const isNew = session.status === "new"
      session.status = "busy"
      session.waiting = undefined
      // A turn that is resumed after a limit starts counting again.
      if (turn.state.stop?.type === "limit") turn.state.used = unused()
      turn.state.stop = undefined
      turn.reached = undefined
      // A turn that is run again has waited before.
      turn.beganAt = performance.now() + (turn.io.timers?.waitedMs ?? 0)
      turn.io.services = fiber.context
      if (turn.parent === undefined) {
        session.running = turn
        if (turn.io.hasStore) session.storage.lastTurn = turn
        turn.io.holdEvents()
      }
      const steps = Effect.gen(() => turnSteps(turn, isNew, resumed))
      const child = Effect.runForkWith(fiber.context)(finishTurn(turn, steps))
      turn.fiber = child
      let stopClock = () => {}
      child.addObserver((exit) => {
        stopClock()
        const end = turn.cutOffEnd ?? exit
        releaseSession(turn, end)
        resume(end)
      })
      if (child.pollUnsafe() !== undefined) return
      stopClock = startClock(turn, fiber, child)
      return turn.session.stop = stopTurn(turn, fiber, child, stopClock)
    })
  )

/** Frees the session for the next turn. After a rotation, it is not the session in which the turn began. */
const releaseSession = (turn: Turn, exit: Exit.Exit<RunResult, AgentError>): void => {
  const { io, session } = turn
  session.stop = undefined
  session.running = undefined
  turn.used.elapsedMs = turn.usedMs
  turn.beganAt = undefined
  if (session.status === "busy") session.status = turn.sessionStartFailed ? "new" : "idle"
  io.abortSignal()
  if (turn.parent !== undefined) return
  io.releaseEvents()
  if (Exit.isSuccess(exit)) session.owner?.turnEnded(exit.value.status)
  else session.owner?.turnEnded(Cause.hasInterruptsOnly(exit.cause) ? "cancelled" : "failed")
}

type AnyFiber = Fiber.Fiber<unknown, unknown>

/** Starts the deadlines of the turn; the first is the turn's time limit. Returns a function that stops them. */
const startClock = (turn: Turn, fiber: AnyFiber, child: AnyFiber): () => void => {
  const { deadlines } = turn.io
  deadlines.start(fiber)
  deadlines.addLimit(Math.max(0, turn.agent.limits.wallClockMs - turn.used.elapsedMs), () => {
    turn.cutOff ??= "limited"
    child.interruptUnsafe()
  })
  return () => deadlines.stop()
}

/** Interrupts the turn, and waits a moment for it to end. */
const stopTurn = (turn: Turn, fiber: AnyFiber, child: AnyFiber, stopClock: () => void): Effect.Effect<void> =>
  Effect.callback<void>((done) => {
    stopClock()
    turn.io.abortSignal()
    const cancelTimer = after(fiber, graceMs, () => done(Effect.void))
    child.addObserver(() => {
      cancelTimer()
      done(Effect.void)
    })
    child.interruptUnsafe()
  })

/** Only this file imports the files above `turn.ts`, so every turn gets these. */
const operations: TurnOperations = { capabilitiesOf, askModelForTool, runTurn }

/** Makes a turn of an agent that no other agent has called. */
export const turnOf = (agent: ResolvedAgent, session: SessionState, state: TurnState): Turn =>
  new Turn({ agent, session, state, operations })
