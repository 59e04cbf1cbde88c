/**
 * Brings the events of turns to their readers. What happens in this process arrives at once; what happens in others is
 * read from the log.
 */
import type { AgentEvent } from "@belay/core/AgentEvent"
import type { AgentSession } from "@belay/core/createAgent"
import type { EventLog } from "@belay/core/EventLog"
import * as Effect from "effect/Effect"
import type { HostEvent } from "../../HostEvent.ts"
import { hostEvent } from "./eventRow.ts"
import { EventWriter, type WrittenTurn } from "./eventWriter.ts"

/** The most events that wait for one reader. A slower reader gets the rest from the log. */
const maxWaiting = 256

/** What the feed brings to one reader. */
export interface Inlet {
  /** Events of this process, in their order. */
  readonly take: () => ReadonlyArray<Arrived>
  /** Whether events were dropped, because the reader was too slow, since this was asked last. */
  readonly takeDropped: () => boolean
  /** Succeeds when there is something to take, or when the reader was woken. */
  readonly arrival: Effect.Effect<void>
  readonly wake: () => void
  readonly close: () => void
}

/** An event of this process with its number. */
export interface Arrived {
  readonly seq: number
  readonly item: HostEvent
}

/** The events of a host. */
export interface EventFeed {
  readonly log: EventLog | undefined
  /** Listens to a turn. The returned function ends that. */
  readonly attach: (session: AgentSession, turn: WrittenTurn) => Effect.Effect<() => void>
  readonly open: (sessionId: string) => Inlet
  /** Whether a turn of the session runs in this process. */
  readonly isRunning: (sessionId: string) => boolean
  /** Waits until the events so far are stored, or cannot be stored. */
  readonly flush: (sessionId: string) => Effect.Effect<void>
}

interface Reader {
  readonly push: (arrived: Arrived) => void
}

export const makeEventFeed = (log: EventLog | undefined): EventFeed => {
  const writer = log === undefined ? undefined : new EventWriter(log)
  const readers = new Map<string, Set<Reader>>()
  /** Begins to listen to the running turns. Without a log, nobody listens before there is a reader. */
  const running = new Map<string, () => void>()
  return {
    log,
    attach: (session, turn) =>
      Effect.map(Effect.context<never>(), (context) => {
        const { key, sessionId } = turn
        let stop: (() => void) | undefined
        const onEvent = (event: AgentEvent): void => {
          writer?.add(turn, event, context)
          const own = readers.get(sessionId)
          if (own === undefined) return
          const arrived = { seq: event.seq, item: hostEvent(event, key) }
          for (const reader of own) reader.push(arrived)
        }
        const listen = (): void => {
          stop ??= session.on(onEvent)
        }
        running.set(sessionId, listen)
        if (writer !== undefined || readers.has(sessionId)) listen()
        return () => {
          stop?.()
          running.delete(sessionId)
        }
      }),
    open: (sessionId) => {
      const { inlet, reader } = makeInlet(() => {
        const own = readers.get(sessionId)
        own?.delete(reader)
        if (own?.size === 0) readers.delete(sessionId)
      })
      readers.set(sessionId, (readers.get(sessionId) ?? new Set()).add(reader))
      running.get(sessionId)?.()
      return inlet
    },
    isRunning: (sessionId) => running.has(sessionId),
    flush: (sessionId) => writer?.flush(sessionId) ?? Effect.void
  }
}

const makeInlet = (close: () => void): { readonly inlet: Inlet; readonly reader: Reader } => {
  let waiting: Array<Arrived> = []
  let hasDropped = false
  let isWoken = false
  const nobody = (): void => {}
  let resume = nobody
  const wake = (): void => {
    isWoken = true
    resume()
  }
  const inlet: Inlet = {
    take: () => {
      const taken = waiting
      waiting = []
      return taken
    },
    takeDropped: () => {
      const dropped = hasDropped
      hasDropped = false
      return dropped
    },
    arrival: Effect.callback<void>((done) => {
      if (isWoken || waiting.length > 0) {
        isWoken = false
        return done(Effect.void)
      }
      resume = () => {
        // The next wake-up is for the next call.
        resume = nobody
        isWoken = false
        done(Effect.void)
      }
      return Effect.sync(() => void (resume = nobody))
    }),
    wake,
    close
  }
  const push = (arrived: Arrived): void => {
    if (waiting.length >= maxWaiting) {
      waiting = []
      hasDropped = true
    }
    waiting.push(arrived)
    wake()
  }
  return { inlet, reader: { push } }
}
