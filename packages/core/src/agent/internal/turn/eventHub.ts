/** Where events go. Nothing is built while nobody listens. */
import type { AgentEvent, AgentEventBody } from "../../../data/AgentEvent.ts"
import { frozenCopy } from "../../../data/internal/copyJson.ts"

/** Receives events, synchronously and in order. What it throws is ignored. */
type Listener = (event: AgentEvent) => void

/**
 * The listeners of one agent; of a sub-agent, those of the agent it works for come too. A class because whether anybody
 * listens is asked all the time.
 */
export class Hub {
  readonly listeners: Set<Listener> = new Set()
  private readonly others: ReadonlyArray<Hub>

  constructor(...others: ReadonlyArray<Hub>) {
    this.others = others
  }

  /** Whether anybody listens. */
  get active(): boolean {
    return this.listeners.size > 0 || (this.others.length > 0 && this.others.some(({ active }) => active))
  }

  /** Tells everybody; a listener that throws is dropped. */
  tell(event: AgentEvent): void {
    for (const listener of [...this.listeners]) {
      // oxlint-disable-next-line belay/no-try -- a listener is foreign code on a synchronous path
      try {
        listener(event)
      } catch {
        this.listeners.delete(listener)
      }
    }
    for (const other of this.others) other.tell(event)
  }
}

/** Where an event comes from. */
export interface Origin {
  readonly sessionId: string
  readonly turnNumber: number
  readonly stepNumber: number
  readonly agent: { readonly name: string }
  readonly session: { last: number }
}

/** Completes an event and hands it to every listener. */
export const publish = (hub: Hub, origin: Origin, body: AgentEventBody): void => {
  const event: Record<string, unknown> = {
    seq: ++origin.session.last,
    sessionId: origin.sessionId,
    turnNumber: origin.turnNumber,
    stepNumber: origin.stepNumber,
    time: performance.timeOrigin + performance.now(),
    agent: origin.agent.name,
    ...body
  }
  // Copies: nothing a listener does to an event is seen by the run.
  for (const key of Object.keys(body)) {
    const value = event[key]
    if (typeof value === "object" && value !== null) event[key] = frozenCopy(value)
  }
  Object.freeze(event)
  hub.tell(event as unknown as AgentEvent)
}
