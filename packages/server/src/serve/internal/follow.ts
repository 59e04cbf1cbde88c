/** Reads what happens in one turn of a session. */
import type { AgentEvent } from "@belay/core/AgentEvent"
import type { HostEvent } from "../../host/HostEvent.ts"
import type { Outcome } from "../../host/Outcome.ts"
import type { Serve } from "../Serve.ts"

/** An event of the turn, or its outcome. The outcome comes once, last. */
export type Item =
  /** `isKnown`: the reader has it already; it only says where the turn is. */
  | { readonly type: "event"; readonly id: string; readonly event: AgentEvent; readonly isKnown?: true }
  | { readonly type: "end"; readonly outcome: Outcome }

/** Which part of a session to read. */
export interface Part {
  readonly sessionId: string
  /** The key of the message or of the decisions whose outcome ends this part. */
  readonly key: string
  /** Set for decisions: the part begins when the turn is resumed after the event with this number. */
  readonly after?: number
  /** The id of the last event that the reader has. */
  readonly known?: string
  /** The ids of events behind which joined deltas are cut, in order. Default: `known`. */
  readonly cuts?: ReadonlyArray<string>
  /** Whether only the outcome is left, because a later turn has begun since. */
  readonly isPast?: boolean
}

/** How long to wait for the rest of the events after the outcome is known, in milliseconds. */
const restMs = 2_000

/** Yields the events of a part and its outcome. Ends without an outcome when the signal aborts. */
export async function* follow({ host }: Serve, part: Part, signal: AbortSignal): AsyncGenerator<Item, void, void> {
  if (part.isPast === true) {
    return yield { type: "end", outcome: await host.result(part.sessionId, part.key, { signal }) }
  }
  const abort = new AbortController()
  const stop = () => abort.abort()
  signal.addEventListener("abort", stop, { once: true })
  if (signal.aborted) stop()
  const outcome = Promise.resolve(host.result(part.sessionId, part.key, { signal: abort.signal }))
  const reading = readingOf(host, part, abort.signal)
  const over = overAfter(outcome, reading)
  try {
    while (!abort.signal.aborted) {
      const next = await over.orNext()
      if (next === undefined || next.done === true) break
      reading.hasBegun = true
      yield next.value
      if (over.isEnd(next.value.event)) break
    }
    if (!abort.signal.aborted) yield { type: "end", outcome: await outcome }
  } catch (error) {
    if (!abort.signal.aborted) throw error
  } finally {
    over.clear()
    signal.removeEventListener("abort", stop)
    stop()
    outcome.catch(() => {})
    reading.close()
  }
}

type EventItem = Extract<Item, { readonly type: "event" }>

interface Reading {
  readonly next: () => Promise<IteratorResult<EventItem, void>>
  readonly close: () => void
  hasBegun: boolean
}

const readingOf = (host: Serve["host"], part: Part, signal: AbortSignal): Reading => {
  const events = eventsOf(host, part, signal)
  return {
    next: () => events.next(),
    // It may wait for the next event until it has seen the abort.
    close: () => void events.return().catch(() => {}),
    hasBegun: false
  }
}

/**
 * The events are over when the outcome is known and the `turn-end` was read that belongs to it. If that event is lost,
 * they are over some time after the outcome is known. A turn that was parked, or whose store failed, ends and is
 * resumed without an outcome in between.
 */
const overAfter = (outcome: Promise<Outcome>, reading: Reading) => {
  let timer: ReturnType<typeof setTimeout> | undefined
  let known: Outcome["status"] | undefined
  let ended: string | undefined
  let isOver = false
  let wake = (): void => {}
  const stop = () => {
    isOver = true
    wake()
  }
  const hasAll = () => known !== undefined && ended !== undefined && (ended === known || !resumable.has(ended))
  outcome.then((end) => {
    known = end.status
    const mayFollow = !hasAll() && (reading.hasBegun || !hasNoEvents(end))
    timer = setTimeout(stop, mayFollow ? restMs : 0)
  }, stop)
  return {
    /** Notes an event that was read. Returns whether it is the last one. */
    isEnd: (event: AgentEvent): boolean => {
      if (event.parent !== undefined) return false
      if (event.type === "turn-start") ended = undefined
      if (event.type === "turn-end") ended = event.status
      return event.type === "turn-end" && hasAll()
    },
    orNext: (): Promise<IteratorResult<EventItem, void> | undefined> =>
      new Promise((resolve, reject) => {
        if (isOver) return resolve(undefined)
        wake = () => resolve(undefined)
        reading.next().then(resolve, reject)
      }),
    clear: () => clearTimeout(timer)
  }
}

/** How a turn can end that is resumed later. */
const resumable: ReadonlySet<string> = new Set(["parked", "suspended", "failed"])

/** A turn whose message was refused has not begun. */
const hasNoEvents = (outcome: Outcome): boolean =>
  withoutEvents.has(outcome.status) || (outcome.status === "failed" && outcome.error._tag === "SessionError")

/** The outcomes of what never became a turn. */
const withoutEvents: ReadonlySet<Outcome["status"]> = new Set(["cancelled", "dead", "late", "delivered"])

async function* eventsOf(host: Serve["host"], part: Part, signal: AbortSignal): AsyncGenerator<EventItem, void, void> {
  const { known, sessionId } = part
  const isMine = belongs(part)
  const left = [...part.cuts ?? (known === undefined ? [] : [known])]
  for await (const one of host.events(sessionId, { signal })) {
    if (!isMine(one)) continue
    let rest = one
    while (left[0] !== undefined && left[0] < one.id) {
      const pieces = await cutAt(host, sessionId, rest, left.shift()!, signal)
      if (pieces === undefined) continue
      yield itemOf(pieces.begin, known)
      rest = pieces.rest
    }
    yield itemOf(rest, known)
  }
}

const itemOf = ({ event, id }: HostEvent, known: string | undefined): EventItem => ({
  type: "event",
  id,
  event,
  ...(known !== undefined && id <= known ? { isKnown: true } : {})
})

/** The log joins deltas. Cuts one behind the event with this id, or returns nothing if that is not in it. */
const cutAt = async (
  host: Serve["host"],
  sessionId: string,
  one: HostEvent,
  id: string,
  signal: AbortSignal
): Promise<{ readonly begin: HostEvent; readonly rest: HostEvent } | undefined> => {
  const { event } = one
  if (event.type !== "text-delta" && event.type !== "reasoning-delta") return undefined
  for await (const { event: after } of host.events(sessionId, { after: id, signal })) {
    const text = "text" in after && after.seq === event.seq ? after.text : undefined
    if (text === undefined || text.length >= event.text.length) return undefined
    const begin = event.text.slice(0, event.text.length - text.length)
    return {
      begin: { ...one, id, event: { ...event, seq: Number(id), text: begin } },
      rest: { ...one, event: { ...event, text } }
    }
  }
  return undefined
}

/** Returns a function that says whether an event is one of the part. Call it with each event, in order. */
const belongs = ({ after, key }: Part) => {
  let isResumed = false
  return ({ event, key: ofMessage }: HostEvent): boolean => {
    if (after === undefined) return ofMessage === key
    if (event.seq > after && event.type === "turn-start" && event.parent === undefined) isResumed = true
    return isResumed
  }
}

/**
 * Drops what a mapping makes of events that the reader has. A mapping takes an item only after it has yielded all that
 * it makes of the one before.
 */
export async function* withoutKnown<A extends object>(
  items: AsyncIterable<Item>,
  map: (items: AsyncIterable<Item>) => AsyncIterable<A>
): AsyncGenerator<{ readonly made: A; readonly from?: string }, void, void> {
  let current: Item | undefined
  const watched = async function*() {
    for await (const item of items) {
      current = item
      yield item
    }
  }
  for await (const one of map(watched())) {
    if (current?.type === "event" && current.isKnown === true) continue
    yield current?.type === "event" ? { made: one, from: current.id } : { made: one }
  }
}
