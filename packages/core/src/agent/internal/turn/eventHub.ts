/** Sends events to listeners. Events are built only while there are listeners. */
import type { AgentEvent, AgentEventBody } from "../../../data/AgentEvent.ts"
import { frozenCopy } from "../../../data/internal/copyJson.ts"

/** Receives events, synchronously and in order. A listener that throws is removed. */
type Listener = (event: AgentEvent) => void

/**
 * The listeners of one agent. Events of a sub-agent also go to the listeners of its parent agents. A class, because
 * every step reads `active`.
 */
export class EventHub {
  readonly listeners: Set<Listener> = new Set()
  private readonly others: ReadonlyArray<EventHub>

  constructor(...others: ReadonlyArray<EventHub>) {
    this.others = others
  }

  /** Whether there are listeners. */
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

/** The source of an event. */
interface Source {
  readonly agent: { readonly name: string }
  readonly session: { readonly id: string; readonly root: { lastEvent: number } }
  readonly state: { readonly turnNumber: number; readonly stepNumber: number }
}

/** Completes an event and sends it. Listeners receive frozen copies, so that they cannot change the run. */
export const publish = (hub: EventHub, { agent, session, state }: Source, body: AgentEventBody): void => {
  const event: Record<string, unknown> = {
    seq: ++session.root.lastEvent,
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
  // An event consists of the metadata and one body, which were combined above.
  hub.send(Object.freeze(event) as unknown as AgentEvent)
}
