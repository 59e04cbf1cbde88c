/**
 * Lets one turn of a session in at a time. A message with `whenBusy: "queue"` waits in line until the session is free
 * and no turn waits in it, here or in another process. The line is in the memory of this process.
 */
import * as Effect from "effect/Effect"
import { SessionError } from "../../../data/AgentError.ts"
import type { SessionState } from "../../../guard/internal/state/sessionState.ts"

/**
 * What happens if another turn is running. A message fails with `error` and waits in line with `queue`. `ahead` is for
 * resuming: it does not wait for the messages in line, because they wait for the turn that it resumes.
 */
export type WhenBusy = "error" | "queue" | "ahead"

/** How often to ask the store while a message is in line, in milliseconds. */
const watchMs = 100

/** A place in the line. */
interface Ticket {
  enter: (effect: Effect.Effect<void, SessionError>) => void
}

/** A class, because each session with a store has one, and its fields are the state of the line. */
export class TurnGate {
  private readonly session: () => SessionState
  private inside: Ticket | undefined = undefined
  private queue: Array<Ticket> = []
  /** Loads the session again if another process has changed it. Absent without a store. */
  private readonly refresh: Effect.Effect<unknown> | undefined

  constructor(session: () => SessionState, refresh: Effect.Effect<unknown> | undefined) {
    this.session = session
    this.refresh = refresh
  }

  /** Whether a turn is running or about to run. */
  get isBusy(): boolean {
    return this.inside !== undefined || this.session().status === "busy"
  }

  /** Runs an Effect alone. If it cannot start now, it waits in line or fails, as `whenBusy` says. */
  use<A, E>(whenBusy: WhenBusy, effect: Effect.Effect<A, E>): Effect.Effect<A, E | SessionError> {
    return Effect.suspend(() => {
      const ticket: Ticket = { enter: () => {} }
      return Effect.onExit(
        Effect.andThen(Effect.suspend(() => this.enter(ticket, whenBusy)), effect),
        () => Effect.sync(() => this.leave(ticket))
      )
    })
  }

  /** Lets the next message in, if the session is free. Called whenever a turn has ended. */
  next(): void {
    const { status, waiting } = this.session()
    const [first] = this.queue
    if (first === undefined || this.isBusy || waiting !== undefined || status === "closed") return
    this.queue.shift()
    this.admit(first)
    first.enter(Effect.void)
  }

  /** Fails all messages in line, because the session is closed or parked. */
  refuse(problem: "closed" | "parked"): void {
    const { id } = this.session()
    for (const ticket of this.queue.splice(0)) {
      ticket.enter(unavailable(id, problem))
    }
  }

  private enter(ticket: Ticket, whenBusy: WhenBusy): Effect.Effect<void, SessionError> {
    const { id, status, waiting } = this.session()
    if (status === "closed") return unavailable(id, "closed")
    const isFree = !this.isBusy && (whenBusy === "ahead" || this.queue.length === 0)
    if (isFree && (whenBusy !== "queue" || waiting === undefined)) {
      this.admit(ticket)
      return Effect.void
    }
    if (whenBusy !== "queue") return unavailable(id, "busy")
    const inLine = Effect.callback<void, SessionError>((resume) => {
      ticket.enter = resume
      this.queue.push(ticket)
    })
    return this.refresh === undefined ? inLine : Effect.raceFirst(inLine, this.watch(this.refresh))
  }

  /** Nobody says when a turn of another process has ended, so the store is asked. */
  private watch(refresh: Effect.Effect<unknown>): Effect.Effect<never> {
    const look = Effect.suspend(() => this.inside === undefined ? refresh : Effect.void)
    return Effect.forever(
      Effect.andThen(Effect.sleep(watchMs), Effect.andThen(look, Effect.sync(() => this.next())))
    )
  }

  private admit(ticket: Ticket): void {
    this.inside = ticket
  }

  private leave(ticket: Ticket): void {
    if (this.inside === ticket) this.inside = undefined
    this.queue = this.queue.filter((one) => one !== ticket)
    this.session().owner?.turnEnded()
  }
}

/** The error of a session that cannot run a turn now. */
export const unavailable = (sessionId: string, problem: keyof typeof problems): SessionError =>
  new SessionError({ sessionId, problem, message: `session ${sessionId} ${problems[problem]}` })

const problems = {
  busy: "is busy with another turn",
  closed: "is closed: open it again with `agent.session`",
  parked: "was parked before this turn began, so nothing of it was done",
  "not-stored": "cannot be released: the agent has no `store`, so the conversation would be lost. Close it instead"
} as const
