/** Where events go. Nothing is built while nobody listens. */
import type { AgentEvent, AgentEventBody } from "../../data/AgentEvent.ts"
import { frozenCopy } from "./copy.ts"

/** Receives events, synchronously and in order. What it throws is ignored. */
type Listener = (event: AgentEvent) => void

/** The listeners of one agent. */
export interface Hub {
  readonly listeners: Set<Listener>
}

export const make = (): Hub => ({ listeners: new Set() })

/** Where an event comes from. */
export interface Origin {
  readonly sessionId: string
  readonly turnNumber: number
  readonly stepNumber: number
  readonly agent: { readonly name: string }
  readonly session: { last: number }
}

/** Completes an event and hands it to every listener; a listener that throws is dropped. */
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
  for (const listener of [...hub.listeners]) {
    // oxlint-disable-next-line belay/no-try -- a listener is foreign code on a synchronous path
    try {
      listener(event as unknown as AgentEvent)
    } catch {
      hub.listeners.delete(listener)
    }
  }
}
