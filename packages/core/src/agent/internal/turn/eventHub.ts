/** Sends events to listeners. No event is built while nobody listens. */
import type { AgentEvent, AgentEventBody } from "../../../data/AgentEvent.ts"
import { frozenCopy } from "../../../data/internal/copyJson.ts"

/** Receives events, synchronously and in order. A listener that throws is removed. */
type Listener = (event: AgentEvent) => void

/**
 * The listeners of one agent. Events of a sub-agent also go to the listeners of the agents above it. A class because
 * `active` is asked at every step.
 */
export class EventHub {
  readonly listeners: Set<Listener> = new Set()
  private readonly others: ReadonlyArray<EventHub>

  constructor(...others: ReadonlyArray<EventHub>) {
    this.others = others
  }

  /** Whether anybody listens. */
  get active(): boolean {
    return this.listeners.size > 0 || (this.others.length > 0 && this.others.some(({ active }) => active))
  }

  /** Sends one event to every listener. */
  send(event: AgentEvent): void {
    for (const listener of [...this.listeners]) {
      // oxlint-disable-next-line belay/no-try -- a listener is foreign code on a synchronous path
      try {
        listener(event)
      } catch {
        this.listeners.delete(listener)
      }
    }
    for (const other of this.others) other.send(event)
  }
}

/** Where an event comes from. */
interface Source {
  readonly agent: { readonly name: string }
  readonly session: { readonly id: string; lastEvent: number }
  readonly state: { readonly turnNumber: number; readonly stepNumber: number }
}

/** Completes an event and sends it. Listeners get frozen copies: nothing they do to an event reaches the run. */
export const publish = (hub: EventHub, { agent, session, state }: Source, body: AgentEventBody): void => {
  const event: Record<string, unknown> = {
    seq: ++session.lastEvent,
    sessionId: session.id,
    turnNumber: state.turnNumber,
    stepNumber: state.stepNumber,
    time: performance.timeOrigin + performance.now(),
    agent: agent.name,
    ...body
  }
  for (const key of Object.keys(body)) {
    const value = event[key]
    if (typeof value === "object" && value !== null) event[key] = frozenCopy(value)
  }
  // Built above as the meta data and one body, which is what an event is.
  hub.send(Object.freeze(event) as unknown as AgentEvent)
}
