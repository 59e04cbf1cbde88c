/** Sends events to listeners. Events are built only while there are listeners. */
import type { AgentEvent, AgentEventBody, EventParent } from "../../../data/AgentEvent.ts"
import { frozenCopy } from "../../../data/internal/copyJson.ts"
import { messageOf } from "../../../data/text/ErrorMessage.ts"

/** Receives events, synchronously and in order. A listener that throws or rejects is removed. */
type Listener = (event: AgentEvent) => unknown

/** Where the hub reports that a listener has failed. */
interface Log {
  readonly log: (message: string) => void
}
type EventTypes = ReadonlySet<AgentEvent["type"]>

/** A listener with the types of the events that it receives: all, if there are none. */
interface Entry {
  readonly listener: Listener
  readonly types: EventTypes | undefined
}

const none: ReadonlyArray<Entry> = []

/**
 * The listeners of one agent or of one session. Events of a sub-agent also go to the listeners of its parent agents. A
 * class, because every step reads `active`.
 */
export class EventHub {
  /** Replaced when a listener comes or goes, so that an event goes to those who were there when it was sent. */
  private entries: ReadonlyArray<Entry> = none
  private readonly others: ReadonlyArray<EventHub>

  constructor(...others: ReadonlyArray<EventHub>) {
    this.others = others
  }

  /** Whether there are listeners. */
  get active(): boolean {
    return this.entries.length > 0 || (this.others.length > 0 && this.others.some(({ active }) => active))
  }

  /** Whether a listener receives events of this type. */
  wants(type: AgentEvent["type"]): boolean {
    for (const { types } of this.entries) if (types === undefined || types.has(type)) return true
    return this.others.length > 0 && this.others.some((other) => other.wants(type))
  }

  /** Adds a listener for all events, or for those of some types. The returned function removes it. */
  listen(listener: Listener, types?: ReadonlyArray<AgentEvent["type"]>): () => void {
    // The same function can listen twice.
    const entry: Entry = { listener, types: types === undefined ? undefined : new Set(types) }
    this.entries = [...this.entries, entry]
    return () => this.remove(entry)
  }

  private remove(entry: Entry): void {
    this.entries = this.entries.filter((one) => one !== entry)
  }

  private removeFailed(entry: Entry, { type }: AgentEvent, error: unknown, log: Log): void {
    // An async listener may receive more events before its first promise rejects.
    if (!this.entries.includes(entry)) return
    this.remove(entry)
    log.log(`a listener failed at the event ${type} and was removed: ${messageOf(error)}`)
  }

  /** Sends one event to every listener of its type. */
  send(event: AgentEvent, log: Log): void {
    for (const entry of this.entries) {
      if (entry.types?.has(event.type) === false) continue
      // oxlint-disable-next-line belay/no-try -- a listener is foreign code on a synchronous path
      try {
        const returned = entry.listener(event)
        if (returned instanceof Promise) returned.catch((error) => this.removeFailed(entry, event, error, log))
      } catch (error) {
        this.removeFailed(entry, event, error, log)
      }
    }
    for (const other of this.others) other.send(event, log)
  }
}

/** The source of an event. */
export interface EventSource {
  readonly agent: { readonly name: string }
  readonly session: { readonly id: string; readonly root: { readonly id: string; lastEvent: number } }
  readonly place: EventPlace
}

/** The place of an agent in the tree of agents. Frozen, because the events share it. */
export interface EventPlace {
  readonly agentPath: ReadonlyArray<string>
  readonly parent?: EventParent
}

/** When an event happened. */
export interface EventMoment {
  readonly turnNumber: number
  readonly stepNumber: number
  /** Milliseconds since the epoch. */
  readonly time: number
}

/** Completes an event. Listeners receive frozen copies, so that they cannot change the run. */
export const makeEvent = (
  { agent, place, session }: EventSource,
  { stepNumber, time, turnNumber }: EventMoment,
  body: AgentEventBody
): AgentEvent => {
  const { agentPath, parent } = place
  const { id: sessionId, root } = session
  const seq = ++root.lastEvent
  // A stream consists of these (`npm run bench -- streams`).
  if (body.type === "text-delta" && parent === undefined) {
    return Object.freeze({
      seq,
      sessionId,
      rootSessionId: root.id,
      turnNumber,
      stepNumber,
      time,
      agent: agent.name,
      agentPath,
      type: body.type,
      text: body.text
    })
  }
  const event: Record<string, unknown> = {
    seq,
    sessionId,
    rootSessionId: root.id,
    turnNumber,
    stepNumber,
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
