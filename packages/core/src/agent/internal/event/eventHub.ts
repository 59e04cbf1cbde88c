/** Sends events to listeners. Events are built only while there are listeners. */
import type { AgentEvent, AgentEventBody, EventParent } from "../../../data/AgentEvent.ts"
import { frozenCopy } from "../../../data/internal/copyJson.ts"

/** Receives events, synchronously and in order. A listener that throws is removed. */
type Listener = (event: AgentEvent) => void
type EventTypes = ReadonlySet<AgentEvent["type"]>

/**
 * The listeners of one agent or of one session. Events of a sub-agent also go to the listeners of its parent agents. A
 * class, because every step reads `active`.
 */
export class EventHub {
  /** The listeners with the types of the events that they receive: all, if there are none. */
  readonly listeners: Map<Listener, EventTypes | undefined> = new Map()
  private readonly others: ReadonlyArray<EventHub>

  constructor(...others: ReadonlyArray<EventHub>) {
    this.others = others
  }

  /** Whether there are listeners. */
  get active(): boolean {
    return this.listeners.size > 0 || (this.others.length > 0 && this.others.some(({ active }) => active))
  }

  /** Whether a listener receives events of this type. */
  wants(type: AgentEvent["type"]): boolean {
    for (const types of this.listeners.values()) if (types === undefined || types.has(type)) return true
    return this.others.length > 0 && this.others.some((other) => other.wants(type))
  }

  /** Adds a listener for all events, or for those of some types. The returned function removes it. */
  listen(listener: Listener, types?: ReadonlyArray<AgentEvent["type"]>): () => void {
    // Each call has its own listener, so that the same function can listen twice.
    const own: Listener = (event) => listener(event)
    this.listeners.set(own, types === undefined ? undefined : new Set(types))
    return () => void this.listeners.delete(own)
  }

  /** Sends one event to every listener of its type. */
  send(event: AgentEvent): void {
    for (const [listener, types] of [...this.listeners]) {
      if (types?.has(event.type) === false) continue
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
export interface EventSource {
  readonly agent: { readonly name: string }
  readonly session: { readonly id: string; readonly root: { readonly id: string; lastEvent: number } }
  readonly state: { readonly turnNumber: number; readonly stepNumber: number }
  readonly place: EventPlace
  /** Milliseconds since the epoch. */
  readonly time: number
}

/** The place of an agent in the tree of agents. Frozen, because the events share it. */
export interface EventPlace {
  readonly agentPath: ReadonlyArray<string>
  readonly parent?: EventParent
}

/** Completes an event. Listeners receive frozen copies, so that they cannot change the run. */
export const makeEvent = (
  { agent, place, session, state, time }: EventSource,
  body: AgentEventBody
): AgentEvent => {
  const event: Record<string, unknown> = {
    seq: ++session.root.lastEvent,
    sessionId: session.id,
    rootSessionId: session.root.id,
    turnNumber: state.turnNumber,
    stepNumber: state.stepNumber,
    time,
    agent: agent.name,
    ...place,
    ...body
  }
  for (const key of Object.keys(body)) {
    const value = event[key]
    if (typeof value === "object" && value !== null) event[key] = frozenCopy(value)
  }
  // An event consists of the metadata and one body, which were combined above.
  return Object.freeze(event) as unknown as AgentEvent
}
