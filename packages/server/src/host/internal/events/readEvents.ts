/** Reads the events of a session: those of this process as they happen, and what is missing from the log. */
import type { EventPage } from "@belay/core/EventLog"
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { HostError } from "../../HostError.ts"
import type { HostEvent, HostEvents } from "../../HostEvent.ts"
import type { Arrived, EventFeed, Inlet } from "./eventFeed.ts"
import { eventsOf, numberOf } from "./eventRow.ts"

/** How many rows are read at once, and held for a reader that is slow: up to half a million characters. */
const pageSize = 8

/** How long to wait before the log is read again after it had something new, in milliseconds. */
const quickMs = 100

/** How long to wait until the events of this process are stored, in milliseconds. */
const flushMs = 1_000

/** How often the log may fail in a row. */
const retries = 20

/** What is to be read. */
export interface Reading {
  readonly feed: EventFeed
  readonly pollMs: number
  readonly sessionId: string
  /** The number of the last known event. */
  readonly after: number | undefined
  readonly signal: AbortSignal | undefined
}

/** Returns the events of a session, which end only when the signal aborts. */
export const readEvents = (reading: Effect.Effect<Reading, HostError>): HostEvents => {
  const stream = Stream.scoped(Stream.fromPull(Effect.flatMap(reading, openReader)))
  return Object.assign(stream, {
    [Symbol.asyncIterator]: () => Stream.toAsyncIterable(stream)[Symbol.asyncIterator]()
  })
}

/** Reads the id of the last known event. Returns nothing if it is not an id. */
export const readAfter = numberOf

const openReader = ({ after, feed, pollMs, sessionId, signal }: Reading) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => {
        const inlet = feed.open(sessionId)
        signal?.addEventListener("abort", inlet.wake)
        return inlet
      }),
      (inlet) =>
        Effect.sync(() => {
          signal?.removeEventListener("abort", inlet.wake)
          inlet.close()
        })
    ),
    (inlet) => {
      const reader = new Reader(feed, inlet, sessionId, pollMs, after)
      return Effect.gen(function*() {
        while (signal?.aborted !== true) {
          const items = yield* reader.next
          if (Arr.isReadonlyArrayNonEmpty(items)) return items
        }
        return yield* Cause.done()
      })
    }
  )

/** A class, because it is the place at which one reader is. */
class Reader {
  private readonly feed: EventFeed
  private readonly inlet: Inlet
  private readonly sessionId: string
  private readonly pollMs: number
  /** The number of the last event that was delivered. Absent at the beginning. */
  private cursor: number | undefined
  /** Events of this process that were taken and not delivered. */
  private held: ReadonlyArray<Arrived> = []
  /** Whether the log has nothing before the first of them. */
  private isCaughtUp = false
  /** Whether the last page of the log was full, so that there is another one. */
  private hasMore = false
  private hasMissed = false
  private delayMs: number
  private failures = 0

  constructor(feed: EventFeed, inlet: Inlet, sessionId: string, pollMs: number, after: number | undefined) {
    this.feed = feed
    this.inlet = inlet
    this.sessionId = sessionId
    this.pollMs = pollMs
    this.cursor = after
    this.delayMs = pollMs
  }

  /** Returns events, or nothing if there may be some now. */
  get next(): Effect.Effect<ReadonlyArray<HostEvent>, HostError> {
    return Effect.suspend(() => {
      if (this.held.length === 0) this.take()
      const [head] = this.held
      if (this.feed.log === undefined) {
        return head === undefined ? Effect.as(this.inlet.arrival, []) : Effect.succeed(this.deliver())
      }
      if (head !== undefined && (this.isCaughtUp || head.seq - 1 === this.cursor)) {
        return Effect.succeed(this.deliver())
      }
      const isWaiting = head === undefined && this.cursor !== undefined && !this.hasMore &&
        this.feed.isRunning(this.sessionId)
      return isWaiting ? Effect.as(this.inlet.arrival, []) : this.readLog
    })
  }

  private take(): void {
    const { cursor = 0 } = this
    this.held = this.inlet.take().filter(({ seq }) => seq > cursor)
    this.isCaughtUp = false
    // With a log, the events that were dropped are read from it.
    if (this.inlet.takeDropped() && this.feed.log === undefined) this.hasMissed = true
  }

  /** Returns the events of this process up to the next one before which there may be others. */
  private deliver(): ReadonlyArray<HostEvent> {
    const gap = this.feed.log === undefined
      ? -1
      : this.held.findIndex(({ seq }, index) => index > 0 && seq - 1 !== this.held[index - 1]!.seq)
    const count = gap < 0 ? this.held.length : gap
    const delivered = this.held.slice(0, count)
    this.held = this.held.slice(count)
    this.isCaughtUp = false
    this.cursor = delivered.at(-1)!.seq
    return this.marked(delivered.map(({ item }) => item))
  }

  private marked(items: ReadonlyArray<HostEvent>): ReadonlyArray<HostEvent> {
    const [head, ...rest] = items
    if (!this.hasMissed || head === undefined) return items
    this.hasMissed = false
    return [{ ...head, missed: true }, ...rest]
  }

  private get readLog(): Effect.Effect<ReadonlyArray<HostEvent>, HostError> {
    const { cursor, feed, sessionId } = this
    const flushed = Effect.raceFirst(feed.flush(sessionId), Effect.sleep(flushMs))
    const after = cursor === undefined ? {} : { after: cursor }
    return Effect.matchEffect(Effect.andThen(flushed, feed.log!.read(sessionId, { ...after, limit: pageSize })), {
      onSuccess: (page) => {
        const items = this.accept(page)
        if (items.length > 0) this.delayMs = Math.min(quickMs, this.pollMs)
        return items.length > 0 || this.held.length > 0 ? Effect.succeed(items) : this.pause
      },
      onFailure: (cause) => {
        if (this.held.length > 0) {
          // What happens in this process is delivered although the log is away.
          this.isCaughtUp = true
          this.hasMissed = true
          return Effect.succeed([])
        }
        if (++this.failures <= retries) return this.pause
        const message =
          `the events of session ${sessionId} cannot be read: ${String(Object(cause).message ?? cause)}. ` +
          "Try again with the id of the last event as after"
        return Effect.fail(new HostError({ problem: "store", sessionId, message, cause }))
      }
    })
  }

  private accept({ removedTo, rows }: EventPage): ReadonlyArray<HostEvent> {
    const { cursor } = this
    this.failures = 0
    if (cursor !== undefined && removedTo > cursor) this.hasMissed = true
    const items = rows.flatMap((row) => {
      const events = eventsOf(row, cursor ?? 0)
      if (events === undefined) this.hasMissed = true
      return events === undefined ? [] : this.marked(events)
    })
    const last = Math.max(cursor ?? 0, removedTo, rows.at(-1)?.last ?? 0)
    this.cursor = last
    this.held = this.held.filter(({ seq }) => seq > last)
    this.hasMore = rows.length >= pageSize
    this.isCaughtUp = !this.hasMore
    return items
  }

  /** Waits until it is time to read the log again, or something happens in this process. */
  private get pause(): Effect.Effect<ReadonlyArray<HostEvent>> {
    const { delayMs } = this
    this.delayMs = Math.min(2 * delayMs, this.pollMs)
    return Effect.as(Effect.raceFirst(this.inlet.arrival, Effect.sleep(delayMs)), [])
  }
}
