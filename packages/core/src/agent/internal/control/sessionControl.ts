/**
 * What the host does to a session while a turn runs or may run: it listens, waits in line, steers the turn, and parks
 * it.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type { SessionError } from "../../../data/AgentError.ts"
import type { AgentEvent } from "../../../data/AgentEvent.ts"
import type { TurnInput } from "../../../data/Turn.ts"
import { EventHub } from "../../../guard/internal/event/eventHub.ts"
import type { SessionState, Steer } from "../../../guard/internal/state/sessionState.ts"
import type { SteerOutcome } from "../../Session.ts"
import { TurnGate, type WhenBusy } from "../turn/turnGate.ts"

const noSteers: ReadonlyArray<Steer> = []

/** A class, because only sessions that need it have one, and its fields are the state of the requests. */
export class SessionControl {
  gate: TurnGate | undefined = undefined
  hub: EventHub | undefined = undefined
  steers: ReadonlyArray<Steer> = noSteers
  /** How many calls of `park` wait for the running turn, and who is called when no turn runs any more. */
  private parks = 0
  private readonly idleWaiters: Array<() => void> = []
  private readonly session: () => SessionState
  private readonly refresh: Effect.Effect<unknown> | undefined

  constructor(session: () => SessionState, refresh: Effect.Effect<unknown> | undefined) {
    this.session = session
    this.refresh = refresh
  }

  get isBusy(): boolean {
    return this.gate?.isBusy ?? this.session().status === "busy"
  }

  get isParking(): boolean {
    return this.parks > 0
  }

  /** Calls the listener with every event of this session and of the sub-agents that work for it. */
  listen(listener: (event: AgentEvent) => void): () => void {
    return (this.hub ??= new EventHub()).listen(listener)
  }

  /** Runs an Effect while no other turn of this session runs. */
  alone<A, E>(whenBusy: WhenBusy, effect: Effect.Effect<A, E>): Effect.Effect<A, E | SessionError> {
    return (this.gate ??= new TurnGate(this.session, this.refresh)).use(whenBusy, effect)
  }

  /** A turn has ended, or one that was about to begin does not begin. */
  turnEnded(status: string): void {
    if (this.steers.length > 0 && this.session().status !== "busy") {
      // The end of a turn that has not failed is saved, with all of its messages.
      const isSaved = status !== "failed" && status !== "cancelled"
      for (const steer of this.steers) {
        const missed = { type: "missed", status } as const
        this.settleSteer(steer, isSaved ? steer.delivered ?? missed : missed)
      }
    }
    if (!this.isBusy) { for (const resolve of this.idleWaiters.splice(0)) resolve() }
    this.gate?.next()
  }

  /** Sends a message to the running turn. */
  steer(input: TurnInput): Effect.Effect<SteerOutcome> {
    return Effect.callback<SteerOutcome>((resume) => {
      const steer: Steer = { input, delivered: undefined, settle: (outcome) => resume(Effect.succeed(outcome)) }
      this.steers = [...this.steers, steer]
      return Effect.sync(() => this.removeSteer(steer))
    })
  }

  settleSteer(steer: Steer, outcome: SteerOutcome): void {
    // It may have been withdrawn while hooks were checking it.
    if (!this.steers.includes(steer)) return
    this.removeSteer(steer)
    steer.settle(outcome)
  }

  private removeSteer(steer: Steer): void {
    this.steers = this.steers.filter((one) => one !== steer)
  }

  /** Stops the running turn at its next commit point, or after `withinMs` milliseconds. Succeeds when no turn runs. */
  park(withinMs: number | undefined): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.gate?.refuse("parked")
      if (!this.isBusy) return Effect.void
      this.parks++
      // The turn may stop at once, so the waiter is there before the request.
      const stopped = Deferred.makeUnsafe<void>()
      const idle = Deferred.await(stopped)
      this.idleWaiters.push(() => Deferred.doneUnsafe(stopped, Effect.void))
      this.session().running?.requestPark()
      const interrupt = Effect.suspend(() => this.session().running?.interruptToPark ?? Effect.void)
      const late = Effect.andThen(Effect.andThen(Effect.sleep(withinMs ?? 0), interrupt), Effect.never)
      const inTime = withinMs === undefined ? idle : Effect.raceFirst(idle, late)
      return Effect.ensuring(inTime, Effect.sync(() => this.parks--))
    })
  }
}
