/** The handle of a session. It runs turns, and follows the conversation into another session after a rotation. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { type AgentError, type PortFailed, SessionError, SnapshotError } from "../../../data/AgentError.ts"
import type { AgentEvent } from "../../../data/AgentEvent.ts"
import type { HostSignal, SignalAnswer } from "../../../data/Delegation.ts"
import type { RunState } from "../../../data/RunState.ts"
import type { OnSessionEndEvent } from "../../../data/SessionEvent.ts"
import type { TurnInput } from "../../../data/Turn.ts"
import { nothing, type Waiting } from "../../../data/Waiting.ts"
import type { EventHub } from "../../../guard/internal/event/eventHub.ts"
import { findNewerState } from "../../../guard/internal/io/newerState.ts"
import { randomGap } from "../../../guard/internal/io/resumeSession.ts"
import { isConflict } from "../../../guard/internal/io/storeTurn.ts"
import { notifyHooks } from "../../../guard/internal/point/askHooks.ts"
import { readInput } from "../../../guard/internal/point/receiveInput.ts"
import { askSignal } from "../../../guard/internal/point/signal.ts"
import type { SessionState, Steer } from "../../../guard/internal/state/sessionState.ts"
import type { StoredTurn } from "../../../guard/internal/state/sessionStorage.ts"
import { newTurn } from "../../../guard/internal/state/turnState.ts"
import { toEffect } from "../../../guard/internal/state/yieldable.ts"
import type { RunResult } from "../../../guard/RunResult.ts"
import type { SessionStore } from "../../../port/SessionStore.ts"
import type { Decisions, ParkOptions, ResumeOptions, Session, SteerOutcome, TurnOptions } from "../../Session.ts"
import { abandonTurn } from "../control/abandonTurn.ts"
import { continuedElsewhere, hasKey, isIdle, isStillThere, runElsewhere } from "../control/otherProcess.ts"
import { SessionControl } from "../control/sessionControl.ts"
import type { ResolvedAgent } from "../definition/resolvedAgent.ts"
import { runTurn, turnOf } from "../turn/runTurn.ts"
import { unavailable } from "../turn/turnGate.ts"
import { compact } from "../window/compact.ts"
import { shutDownCore } from "../window/startSession.ts"
import { replaceSession } from "./reloadSession.ts"

/** The parts of the runtime that a session needs. */
export interface Owner {
  /** The services of the agent's hooks. */
  readonly context: Context.Context<never> | undefined
  readonly resume: (snapshot: unknown, decisions?: Decisions) => Effect.Effect<RunResult, AgentError>
  /** Adds the session to the open sessions, and removes it from them. */
  readonly add: (handle: SessionHandle) => void
  readonly remove: (id: string) => void
  /** Makes the last turn of a loaded session. */
  readonly restore: (handle: SessionHandle, state: RunState) => void
}

type Result = Effect.Effect<RunResult, AgentError>

/** How often a turn starts again because another process was quicker. */
const maxTries = 5

/** A class, so that thousands of sessions share their methods. */
export class SessionHandle implements Session {
  /** Whether the session was opened for one turn. It closes when that turn ends, which may happen after a resume. */
  closesWithTurn = false
  private readonly agent: ResolvedAgent
  private current: SessionState
  private readonly owner: Owner
  private control: SessionControl | undefined = undefined

  constructor(agent: ResolvedAgent, session: SessionState, owner: Owner) {
    this.agent = agent
    this.current = session
    this.owner = owner
    session.owner = this
    owner.add(this)
  }

  private get store(): SessionStore | undefined {
    return this.agent.config.store
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
  get waiting(): Waiting {
    return this.current.waiting?.waiting() ?? nothing
  }

  listen(listener: (event: AgentEvent) => void): () => void {
    return this.controls.listen(listener)
  }

  /** Runs an Effect, and calls the listener with the events of this session while it runs. */
  listening<A, E>(onEvent: TurnOptions["onEvent"], effect: Effect.Effect<A, E>): Effect.Effect<A, E> {
    if (onEvent === undefined) return effect
    return Effect.uninterruptibleMask((restore) => {
      const stop = this.listen(onEvent)
      return Effect.ensuring(restore(effect), Effect.sync(stop))
    })
  }

  /** The conversation continues in another session. */
  follow(next: SessionState): void {
    this.owner.remove(this.current.id)
    this.current = next
    next.owner = this
    this.owner.add(this)
  }

  private get controls(): SessionControl {
    return this.control ??= new SessionControl(
      () => this.current,
      this.store === undefined ? undefined : Effect.ignore(Effect.suspend(() => this.refresh))
    )
  }

  get hub(): EventHub | undefined {
    return this.control?.hub
  }
  get steers(): ReadonlyArray<Steer> {
    return this.control?.steers ?? []
  }
  settleSteer(steer: Steer, outcome: SteerOutcome): void {
    this.control?.settleSteer(steer, outcome)
  }
  get isParking(): boolean {
    return this.control?.isParking === true
  }
  turnEnded(status = "failed"): void {
    this.control?.turnEnded(status)
  }

  private get isBusy(): boolean {
    return this.control?.isBusy ?? this.current.status === "busy"
  }

  run(input: string | TurnInput, { onEvent, whenBusy = "error" }: TurnOptions = {}): Result {
    const turnInput = readInput(this.id, input, this.agent.limits)
    if (turnInput instanceof SessionError) return turnInput
    if (this.store === undefined && whenBusy === "error" && this.control?.gate === undefined) {
      return this.withServices(this.listening(onEvent, Effect.suspend(() => this.startTurn(turnInput))))
    }
    const run = this.listening(onEvent, Effect.suspend(() => this.runNewest(turnInput)))
    return this.withServices(whenBusy === "queue" ? this.runInLine(run) : this.controls.alone(whenBusy, run))
  }

  /** Waits in line, and again if another process has begun a turn meanwhile. */
  private runInLine(run: Result): Result {
    return Effect.catch(
      this.controls.alone("queue", run),
      (error) => error instanceof SessionError && error.problem === "busy" ? this.runInLine(run) : Effect.fail(error)
    )
  }

  /** Starts a turn, and closes a turn that waits. */
  private startTurn(input: TurnInput): Effect.Effect<RunResult, AgentError> {
    const { current } = this
    if (current.status === "busy" || current.status === "closed") return runTurn(this.turn(current.turnNumber), false)
    current.waiting?.abandon("not run: nobody decided before the next turn")
    current.waiting = undefined
    return runTurn(this.turn(++current.turnNumber, input), false)
  }

  /**
   * Loads the newest state, then runs a turn. If another process was quicker, and has finished its turn before this one
   * was saved for the first time, the turn starts again from the newest state.
   */
  private runNewest(input: TurnInput, tries = 1, had = hasKey(this.current, input)): Result {
    return Effect.flatMap(this.refresh, (newer) => {
      const elsewhere = newer === undefined ? undefined : runElsewhere(newer, this.waiting, had ? {} : input)
      return elsewhere ?? Effect.catch(this.startTurn(input), (error) => {
        if (!isConflict(error) || this.current.storage.lastTurn?.io.commits !== 0) return this.failCurrent(error)
        return tries < maxTries ? Effect.suspend(() => this.runNewest(input, tries + 1, had)) : this.failCurrent(error)
      })
    })
  }

  /** Fails. If another process has changed the session, it is loaded again before. */
  private failCurrent(error: AgentError): Effect.Effect<never, AgentError> {
    return isConflict(error)
      ? Effect.andThen(Effect.ignore(this.refresh), Effect.fail(error))
      : Effect.fail(error)
  }

  /** Loads the session again if another process has changed it. Returns the new state. */
  get refresh(): Effect.Effect<RunState | undefined, PortFailed | SnapshotError> {
    return Effect.suspend(() => {
      const { current, store } = this
      if (store === undefined || !isIdle(current)) return Effect.undefined
      return Effect.map(findNewerState(store, current), (state) => {
        // A turn may have begun, or another call may have loaded the session, while this one was waiting.
        if (state === undefined || current !== this.current || !isIdle(current)) return undefined
        this.replace(state)
        return state
      })
    })
  }

  get reload(): Effect.Effect<void, PortFailed | SnapshotError> {
    return Effect.asVoid(this.refresh)
  }

  private replace(state: RunState): void {
    const next = replaceSession(this.current, state)
    this.current.status = "closed"
    this.follow(next)
    this.owner.restore(this, state)
  }

  resume(decisions?: Decisions, { onEvent }: ResumeOptions = {}): Effect.Effect<RunResult, AgentError> {
    return this.controls.alone(
      "ahead",
      this.listening(
        onEvent,
        Effect.suspend(() => this.resumeNewest(decisions))
      )
    )
  }

  /**
   * Loads the newest state, then resumes the turn. It is tried again if another process has saved the session without
   * continuing the turn, for example because it released the session.
   */
  private resumeNewest(decisions: Decisions | undefined, tries = 1): Effect.Effect<RunResult, AgentError> {
    const { current: before } = this
    return Effect.flatMap(this.refresh, (newer) => {
      const { id, revision, waiting } = this.current
      if (newer !== undefined && before.waiting !== undefined && !isStillThere(this.waiting)) {
        return continuedElsewhere(id, before, revision)
      }
      if (waiting === undefined) {
        return new SnapshotError({ problem: "finished", message: `session ${id} has no turn that waits` })
      }
      const waited = JSON.stringify(this.waiting)
      const resumed = Effect.flatMap(waiting.snapshot, (snapshot) => this.owner.resume(snapshot, decisions))
      return Effect.catch(resumed, (error) => {
        if (!isConflict(error) || this.current.storage.lastTurn?.io.commits !== 0) return this.failCurrent(error)
        return Effect.flatMap(
          Effect.ignore(this.refresh),
          () =>
            tries < maxTries && JSON.stringify(this.waiting) === waited
              ? this.resumeNewest(decisions, tries + 1)
              : Effect.fail(error)
        )
      })
    })
  }

  abandon(reason?: string): Effect.Effect<boolean, SessionError | PortFailed | SnapshotError> {
    return this.withServices(this.controls.alone("error", abandonTurn(this, reason)))
  }

  park({ withinMs }: ParkOptions = {}): Effect.Effect<Waiting> {
    const refreshed = Effect.map(Effect.ignore(this.refresh), () => this.waiting)
    return Effect.andThen(Effect.suspend(() => this.controls.park(withinMs)), refreshed)
  }

  get release(): Effect.Effect<void, SessionError | PortFailed> {
    return this.withServices(Effect.suspend(() => {
      const { current } = this
      if (current.status === "closed") return Effect.void
      if (this.store === undefined && current.status !== "new") return unavailable(current.id, "not-stored")
      return this.controls.alone("ahead", Effect.andThen(this.save, this.leaveNewest("release")))
    }))
  }

  /** Saves what has changed outside of turns. If another process has changed the session, that counts. */
  private get save(): Effect.Effect<void, PortFailed> {
    if (this.store === undefined) return Effect.void
    return Effect.suspend(() => {
      const { savable } = this
      // In the store, a turn that could not be saved can still be resumed.
      if (savable === undefined || this.current.status === "busy" || this.current.storage.isBehind) return Effect.void
      return Effect.catch(savable.io.commitRest, (error) => isConflict(error) ? Effect.void : Effect.fail(error))
    })
  }

  /** The turn through which changes outside of turns are saved. */
  private get savable(): StoredTurn | undefined {
    return this.store === undefined || this.isForeign ? undefined : this.current.storage.lastTurn
  }

  /**
   * Whether saving could take the session away from another process, which left its turn or still runs it, or could
   * write over a commit whose outcome is unknown.
   */
  private get isForeign(): boolean {
    const { storage: { lastTurn, unknownCommit } } = this.current
    const { waiting } = this
    const isLeft = waiting.type === "process" && waiting.why === "left"
    return unknownCommit !== undefined || (isLeft && lastTurn?.io.commits === 0)
  }

  steer(input: string | TurnInput): Effect.Effect<SteerOutcome> {
    const read = readInput(this.id, input, this.agent.limits)
    if (read instanceof SessionError) return Effect.die(read)
    const missed = Effect.as(Effect.ignore(this.refresh), { type: "notRunning" } as const)
    return Effect.suspend(() => this.isBusy ? this.controls.steer(read) : missed)
  }

  signal(signal: HostSignal): Effect.Effect<SignalAnswer> {
    const answer = toEffect(() => askSignal(this.turn(this.current.turnNumber), signal))
    return this.withServices(this.store === undefined ? answer : this.onNewest(answer))
  }

  get compact() {
    return this.withServices(this.onNewest(toEffect(() => compact(this.turn(this.current.turnNumber), "manual"))))
  }

  /** Runs an Effect outside of turns, on the newest state, and saves what it changes. */
  private onNewest<A>(effect: Effect.Effect<A>): Effect.Effect<A> {
    return Effect.andThen(Effect.ignore(this.refresh), Effect.tap(effect, () => Effect.ignore(this.save)))
  }

  close(reason: OnSessionEndEvent["reason"] = "done"): Effect.Effect<void> {
    return this.withServices(this.leaveNewest(reason))
  }

  /**
   * Ends the session, or only lets it out of memory. If somebody listens, the last event needs a number that no other
   * process has used, so the newest state is loaded before.
   */
  private leaveNewest(reason: OnSessionEndEvent["reason"] | "release"): Effect.Effect<void> {
    return Effect.suspend(() => {
      const { current: { status, storage }, store } = this
      const isListened = this.agent.hub.active || this.hub?.active === true
      const canAsk = isListened && status === "idle" && store !== undefined && storage.unknownCommit === undefined
      const leave = Effect.suspend(() => this.leave(reason))
      return canAsk ? Effect.andThen(Effect.ignore(this.refresh), leave) : leave
    })
  }

  private leave(reason: OnSessionEndEvent["reason"] | "release"): Effect.Effect<void> {
    const { agent: { chain, core, hub }, current } = this
    if (current.status === "closed") return Effect.void
    const hasStarted = current.status !== "new"
    const { stop = Effect.void } = current
    current.status = "closed"
    this.control?.gate?.refuse("closed")
    this.owner.remove(current.id)
    const hasHooks = reason !== "release" && chain.has("onSessionEnd")
    const isNoticed = hasHooks || hub.active || this.hub?.active === true || core.shutdown !== undefined
    return hasStarted && isNoticed ? Effect.ensuring(stop, this.end(current, reason)) : stop
  }

  /**
   * Runs the `onSessionEnd` hooks unless the session is only released, shuts the core down and sends the event. Each
   * step happens even if an earlier one fails.
   */
  private end(session: SessionState, reason: OnSessionEndEvent["reason"] | "release"): Effect.Effect<void> {
    const turn = this.turn(session.turnNumber)
    const { core } = this.agent
    const shutdown = shutDownCore(core, session.id, (message) => turn.io.warn(message, "runtime"))
    const hooks = reason === "release"
      ? Effect.void
      : Effect.gen(function*() {
        yield* notifyHooks(turn, "onSessionEnd", { sessionId: session.id, reason })
      })
    const publish = () =>
      turn.io.publish(reason === "release" ? { type: "session-release" } : { type: "session-end", reason })
    const publishAfterGap = () => {
      // Another process may use the next number.
      session.lastEvent += randomGap()
      publish()
    }
    const event = Effect.suspend(() =>
      this.savable === undefined
        ? Effect.sync(this.store !== undefined && this.isForeign ? publishAfterGap : publish)
        : Effect.catch(
          this.savable.io.commitBefore(publish),
          (error) => Effect.sync(isConflict(error) ? publishAfterGap : publish)
        )
    )
    return Effect.ensuring(hooks, Effect.andThen(shutdown, event))
  }

  /** Makes a turn of this session. It is a turn to run, or the turn that hooks see at points outside of turns. */
  private turn(turnNumber: number, input: TurnInput = { message: "" }) {
    const { agent, current } = this
    return turnOf(agent, current, newTurn(input, turnNumber))
  }

  /** Provides the services of the agent's hooks. Those that the Effect already has (clock, tracer, span) stay. */
  withServices<A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> {
    const { context } = this.owner
    return context === undefined
      ? effect
      : Effect.updateContext(effect, (now: Context.Context<never>) => Context.merge(context, now))
  }
}
