/** The handle of a session. It runs turns, and follows the conversation into another session after a rotation. */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { type AgentError, SnapshotError } from "../../../data/AgentError.ts"
import type { HostSignal, SignalAnswer } from "../../../data/Delegation.ts"
import { messageOf } from "../../../data/ErrorMessage.ts"
import type { OnSessionEndEvent } from "../../../data/SessionEvent.ts"
import type { TurnInput } from "../../../data/Turn.ts"
import type { RunResult } from "../../RunResult.ts"
import type { Decisions, Session } from "../../Session.ts"
import type { ResolvedAgent } from "../config/resolvedAgent.ts"
import { askHooks, notifyHooks } from "../turn/askHooks.ts"
import { runTurn } from "../turn/runTurn.ts"
import { Turn } from "../turn/turn.ts"
import { turnOperations } from "../turn/turnOperations.ts"
import { newTurn } from "../turn/turnState.ts"
import { toEffect } from "../turn/yieldable.ts"
import { compact } from "./compact.ts"
import type { SessionState } from "./sessionState.ts"

/** The parts of the runtime that a session needs. */
interface Owner {
  /** The services of the agent's hooks. */
  readonly context: Context.Context<never> | undefined
  readonly resume: (snapshot: unknown, decisions?: Decisions) => Effect.Effect<RunResult, AgentError>
  /** Adds the session to the open sessions, and removes it from them. */
  readonly add: (handle: SessionHandle) => void
  readonly remove: (id: string) => void
}

/** A class, so that thousands of sessions share their methods. */
export class SessionHandle implements Session {
  /** Whether the session was opened for one turn. It closes when that turn ends, which may happen after a resume. */
  closesWithTurn = false
  private readonly agent: ResolvedAgent
  private current: SessionState
  private readonly owner: Owner

  constructor(agent: ResolvedAgent, session: SessionState, owner: Owner) {
    this.agent = agent
    this.current = session
    this.owner = owner
    session.owner = this
    owner.add(this)
  }

  get session() {
    return this.current
  }
  get id() {
    return this.current.id
  }
  get state() {
    return this.current.state
  }
  get messages() {
    return this.current.messages.slice()
  }
  get pending() {
    return this.current.waiting?.pending() ?? []
  }

  /** The conversation continues in another session. */
  follow(next: SessionState): void {
    this.owner.remove(this.current.id)
    this.current = next
    next.owner = this
    this.owner.add(this)
  }

  run(input: string | TurnInput): Effect.Effect<RunResult, AgentError> {
    return this.withServices(Effect.suspend(() => {
      const { current } = this
      if (current.status === "busy" || current.status === "closed") return runTurn(this.turn(current.turnNumber), false)
      current.waiting?.abandon("not run: nobody decided before the next turn")
      current.waiting = undefined
      return runTurn(this.turn(++current.turnNumber, typeof input === "string" ? { message: input } : input), false)
    }))
  }

  resume(decisions?: Decisions): Effect.Effect<RunResult, AgentError> {
    return Effect.suspend(() => {
      const { id, waiting } = this.current
      if (waiting === undefined) {
        return new SnapshotError({ problem: "finished", message: `session ${id} has no turn that waits` })
      }
      return Effect.flatMap(waiting.snapshot, (snapshot) => this.owner.resume(snapshot, decisions))
    })
  }

  signal(signal: HostSignal): Effect.Effect<SignalAnswer> {
    return this.withServices(Effect.gen({ self: this }, function*() {
      const outcome = yield* askHooks(this.turn(this.current.turnNumber), "onSignal", signal)
      if (outcome?.action._tag === "Respond") return { allowed: true, answer: outcome.action.output }
      return outcome?.action._tag === "Reject" && signal.blockable
        ? { allowed: false, reason: outcome.action.reason }
        : { allowed: true }
    }))
  }

  get compact() {
    return this.withServices(toEffect(() => compact(this.turn(this.current.turnNumber), "manual")))
  }

  close(reason: OnSessionEndEvent["reason"] = "done"): Effect.Effect<void> {
    return this.withServices(Effect.suspend(() => {
      const { agent: { chain, core, hub }, current } = this
      if (current.status === "closed") return Effect.void
      const hasStarted = current.status !== "new"
      const { stop = Effect.void } = current
      current.status = "closed"
      this.owner.remove(current.id)
      const isNoticed = chain.has("onSessionEnd") || hub.listeners.size > 0 || core.shutdown !== undefined
      return hasStarted && isNoticed ? Effect.ensuring(stop, this.end(current, reason)) : stop
    }))
  }

  /**
   * Runs the `onSessionEnd` hooks, shuts the core down and sends the event. Each step happens even if an earlier one
   * fails.
   */
  private end(session: SessionState, reason: OnSessionEndEvent["reason"]): Effect.Effect<void> {
    const turn = this.turn(session.turnNumber)
    const { core } = this.agent
    const shutdown = core.shutdown === undefined
      ? Effect.void
      : Effect.catchCause(
        Effect.suspend(() => core.shutdown!(session.id)),
        (cause) =>
          Effect.sync(() => turn.io.warn(`shutdown of the core failed: ${messageOf(Cause.squash(cause))}`, "runtime"))
      )
    const hooks = Effect.gen(function*() {
      yield* notifyHooks(turn, "onSessionEnd", { sessionId: session.id, reason })
    })
    const event = Effect.sync(() => turn.io.publish({ type: "session-end", reason }))
    return Effect.ensuring(hooks, Effect.andThen(shutdown, event))
  }

  /** Makes a turn of this session. It is a turn to run, or the turn that hooks see at points outside of turns. */
  private turn(turnNumber: number, input: TurnInput = { message: "" }): Turn {
    const { agent, current } = this
    return new Turn({ agent, session: current, state: newTurn(input, turnNumber), operations: turnOperations })
  }

  /**
   * Provides the services of the agent's hooks to an Effect. Services that it already has (clock, tracer, span) stay.
   */
  withServices<A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> {
    const { context } = this.owner
    return context === undefined
      ? effect
      : Effect.updateContext(effect, (now: Context.Context<never>) => Context.merge(context, now))
  }
}
