/** Packs events into rows of the log, and reads them. */
import type { AgentEvent, EventMeta } from "@belay/core/AgentEvent"
import type { EventRow } from "@belay/core/EventLog"
import type { Json } from "@belay/core/Json"
import type { HostEvent } from "../../HostEvent.ts"

/** The most events and characters of a row. Only an event that is longer itself makes a longer row. */
const maxEvents = 64
const maxLength = 65_536

/** An event that is not sent any more, so it may get the text of later ones. */
type Draft = { -readonly [Field in keyof Delta]: Delta[Field] }
type Delta = EventMeta & { readonly type: string; readonly text?: string; readonly argsText?: string }

/** One event, or several deltas of the same text. */
interface Packed {
  event: AgentEvent
  /** For several deltas: the number and the length of each. `event` has the text of all. */
  parts?: Array<readonly [seq: number, length: number]>
}

/** The body of a row. */
interface Body {
  readonly events: ReadonlyArray<Packed>
  readonly key?: string
  /** Whether events before this row could not be stored. */
  readonly missed?: true
}

/** Events that wait until they are written. */
export interface Packer {
  /** An estimate of the length of all events, in characters. */
  readonly length: number
  readonly count: number
  /** The events come in the order of their numbers. */
  readonly add: (event: AgentEvent, key: string | undefined, begins: boolean) => void
  readonly rows: (missed: boolean) => ReadonlyArray<EventRow>
}

/** Packs events. */
export const makePacker = (): Packer => {
  interface Row {
    readonly key: string | undefined
    readonly events: Array<Packed>
    length: number
  }
  const rows: Array<Row> = []
  let [length, count] = [0, 0]
  return {
    get length() {
      return length
    },
    get count() {
      return count
    },
    add: (event, key, begins) => {
      const size = lengthOf(event)
      const last = rows.at(-1)
      const fits = !begins && last !== undefined && last.key === key && last.length + size <= maxLength
      const row = fits && (last.events.length < maxEvents || isNext(last.events.at(-1)!, event))
        ? last
        : { key, events: [], length: 0 }
      if (row !== last) rows.push(row)
      row.length += size
      length += size
      if (row !== last || !addDelta(row.events.at(-1), event)) {
        row.events.push({ event })
        count++
      }
    },
    rows: (missed) =>
      rows.map(({ events, key }, index): EventRow => {
        const body: Body = {
          events,
          ...(key === undefined ? {} : { key }),
          ...(missed && index === 0 ? { missed } : {})
        }
        const first = events[0]!
        // Events are JSON. The compiler cannot check that.
        const json = body as unknown as Json
        return { first: first.parts?.[0]?.[0] ?? first.event.seq, last: events.at(-1)!.event.seq, body: json }
      })
  }
}

/**
 * Returns the events of a row that come after the event with this number. Returns nothing if a newer release has
 * written the row in another form.
 */
export const eventsOf = ({ body }: EventRow, after: number): ReadonlyArray<HostEvent> | undefined => {
  // Only `rows` writes it, perhaps that of another release. Somebody may have changed it since.
  const { events, key, missed } = Object(body) as Partial<Body>
  if (!Array.isArray(events) || !events.every(isPacked)) return undefined
  const items = events.flatMap((packed: Packed) => {
    const event = cut(packed, after)
    return event === undefined ? [] : [hostEvent(event, key)]
  })
  return missed === true && items[0] !== undefined ? [{ ...items[0], missed }, ...items.slice(1)] : items
}

const isPacked = (packed: unknown): packed is Packed => {
  const { event, parts = [] } = Object(packed) as { readonly event?: unknown; readonly parts?: unknown }
  const { seq, text = "", type } = Object(event) as { readonly [field: string]: unknown }
  return typeof type === "string" && Number.isSafeInteger(seq) && typeof text === "string" &&
    Array.isArray(parts) && parts.every((part) => Array.isArray(part) && part.length === 2)
}

/** Returns the id of the event with this number. Ids have the order of the numbers. */
export const idOf = (seq: number): string => String(seq).padStart(16, "0")

/** Adds the id and the key to an event. */
export const hostEvent = (event: AgentEvent, key: string | undefined): HostEvent => ({
  id: idOf(event.seq),
  event,
  ...(key === undefined ? {} : { key })
})

/** Returns the number of the event with this id. Returns nothing for a text that is not an id. */
export const numberOf = (id: string): number | undefined => /^\d{1,16}$/.test(id) ? Number(id) : undefined

const cut = ({ event, parts = [] }: Packed, after: number): AgentEvent | undefined => {
  if (event.seq <= after) return undefined
  const skipped = parts.filter(([seq]) => seq <= after).reduce((sum, [, length]) => sum + length, 0)
  if (skipped === 0) return event
  switch (event.type) {
    case "tool-call-delta":
      return { ...event, argsText: event.argsText.slice(skipped) }
    case "text-delta":
    case "reasoning-delta":
      return { ...event, text: event.text.slice(skipped) }
    default:
      return event
  }
}

/** Whether two events are deltas of the same text. */
const isNext = ({ event: before }: Packed, event: AgentEvent): boolean => {
  if (before.sessionId !== event.sessionId || before.type !== event.type) return false
  if (event.type === "tool-call-delta") {
    return before.type === "tool-call-delta" && before.id === event.id && before.name === event.name
  }
  return event.type === "text-delta" || event.type === "reasoning-delta"
}

/** Adds a delta to the one before. Returns false if they do not belong together. */
const addDelta = (packed: Packed | undefined, event: AgentEvent): boolean => {
  if (packed === undefined || !isNext(packed, event)) return false
  if (packed.parts === undefined) {
    packed.parts = [[packed.event.seq, textOf(packed.event).length]]
    packed.event = { ...packed.event }
  }
  packed.parts.push([event.seq, textOf(event).length])
  // It is the copy that was made above.
  const draft = packed.event as Draft
  if (event.type === "tool-call-delta") draft.argsText = (draft.argsText ?? "") + event.argsText
  else draft.text = (draft.text ?? "") + textOf(event)
  draft.seq = event.seq
  draft.time = event.time
  return true
}

const textOf = (event: AgentEvent): string =>
  event.type === "tool-call-delta" ? event.argsText : "text" in event ? event.text : ""

/** The length that is assumed for what an event has beside its texts. */
const restLength = 300

const lengthOf = (event: AgentEvent): number => {
  const { length } = textOf(event)
  if (event.type === "text-delta" || event.type === "reasoning-delta" || event.type === "tool-call-delta") {
    return length + 16
  }
  const output = event.type === "tool-end" && event.result.ok ? event.result.output : undefined
  return restLength + length + (typeof output === "string" ? output.length : 0)
}
