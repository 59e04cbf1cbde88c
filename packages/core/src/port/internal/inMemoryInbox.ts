/** An inbox in memory. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Added, Capacity, Due, Entry, Inbox, NewEntry } from "../Inbox.ts"
import {
  countOf,
  type Finished,
  inOrder,
  inTurn,
  isFinished,
  isMessage,
  MessageCount,
  placeOf,
  tenantOf
} from "./inboxOrder.ts"
import { SortedList } from "./sortedList.ts"

/**
 * Makes an inbox in memory. Its content is lost when the process ends. What an operation costs depends on what is open,
 * and not on what is finished.
 *
 * @category constructors
 * @since 0.1.0
 */
export const inMemory = (): Inbox => {
  /** All entries, by session and key, and those that are not finished, in the order in which they were added. */
  const sessions = new Map<string, Map<string, Entry>>()
  const open = new Map<string, Map<string, Entry>>()
  const finished = new SortedList<Finished>((a, b) => a.at - b.at || a.seq - b.seq)
  /** When entries were finished, by their number. */
  const ends = new Map<number, Finished>()
  /** The sessions in which something can happen, by the time at which it can. */
  const due = new SortedList<Due>(inOrder)
  const places = new Map<string, Due>()
  const messages = new MessageCount()
  /** The releases that sessions are pinned to. */
  const pins = new Map<string, string>()
  let last = 0

  const openOf = (sessionId: string): ReadonlyArray<Entry> => [...open.get(sessionId)?.values() ?? []]
  const pinned = (entry: Entry): Entry => {
    const release = pins.get(entry.sessionId)
    return release === undefined ? entry : { ...entry, release }
  }
  const keep = (entry: Entry): Entry => {
    const { key, sessionId } = entry
    const [all = new Map<string, Entry>(), unfinished = new Map<string, Entry>()] = [
      sessions.get(sessionId),
      open.get(sessionId)
    ]
    sessions.set(sessionId, all.set(key, entry))
    if (!isFinished(entry)) open.set(sessionId, unfinished.set(key, entry))
    else if (unfinished.delete(key) && unfinished.size === 0) open.delete(sessionId)
    const place = placeOf(sessionId, openOf(sessionId))
    const before = places.get(sessionId)
    if (before?.at === place?.at) return entry
    if (before !== undefined) due.remove(before)
    if (place === undefined) places.delete(sessionId)
    else {
      places.set(sessionId, place)
      due.add(place)
    }
    return entry
  }
  /** Returns a dead entry, which is not finished any more. */
  const takeDead = (sessionId: string, key: string): Entry | undefined => {
    const entry = sessions.get(sessionId)?.get(key)
    if (entry?.status !== "dead") return undefined
    finished.remove(ends.get(entry.seq)!)
    ends.delete(entry.seq)
    return entry
  }
  const fullSessions = (
    { sessionId, tenant }: NewEntry,
    { sessionsPerTenant = Infinity }: Capacity
  ): keyof Capacity | undefined => {
    if (tenant === undefined || sessionsPerTenant === Infinity) return undefined
    const isOthers = (id: string, entries: ReadonlyMap<string, Entry>) =>
      id !== sessionId && [...entries.values()].some((entry) => isMessage(entry) && entry.tenant === tenant)
    const found = [...open].filter(([id, entries]) => isOthers(id, entries)).length
    return found >= sessionsPerTenant ? "sessionsPerTenant" : undefined
  }
  const unfinished = (sessionId: string, key: string): Entry | undefined => open.get(sessionId)?.get(key)
  return {
    add: (given, capacity = {}) =>
      Effect.sync((): Added => {
        const known = sessions.get(given.sessionId)?.get(given.key)
        if (known !== undefined) return { type: "known", entry: known }
        const limit = messages.fullLimit(given, capacity, openOf(given.sessionId)) ?? fullSessions(given, capacity)
        if (limit !== undefined) return { type: "full", limit }
        messages.count(given, 1)
        const entry: Entry = { ...structuredClone(given), seq: ++last, status: "waiting", attempts: 0 }
        return { type: "added", entry: keep(entry) }
      }),
    open: (sessionId) => Effect.sync(() => openOf(sessionId).map(pinned)),
    begin: (sessionId, key) =>
      Effect.sync(() => {
        const entry = unfinished(sessionId, key)
        return entry === undefined ? undefined : keep({ ...entry, status: "begun", attempts: entry.attempts + 1 })
      }),
    report: (sessionId, key, status, outcome) =>
      Effect.map(Clock.currentTimeMillis, (at) => {
        const entry = unfinished(sessionId, key)
        if (entry === undefined) return
        const { seq } = keep({ ...entry, status, outcome: structuredClone(outcome) })
        if (!isFinished({ status })) return
        messages.count(entry, -1)
        const end = { at, seq, sessionId, key }
        finished.add(end)
        ends.set(seq, end)
      }),
    get: (sessionId, key) => Effect.sync(() => sessions.get(sessionId)?.get(key)),
    due: ({ after, fair = false, limit, release, until }) =>
      Effect.sync(() => {
        const found: Array<Due> = []
        for (const place of due.from(after)) {
          if (place.at > until || (!fair && found.length >= limit)) break
          const pin = pins.get(place.sessionId)
          if (pin === undefined || pin === release) found.push(place)
        }
        return fair ? inTurn(found, ({ sessionId }) => tenantOf(openOf(sessionId), until)).slice(0, limit) : found
      }),
    prune: (before) =>
      Effect.sync(() => {
        const old = finished.takeWhile(({ at }) => at < before)
        for (const { key, seq, sessionId } of old) {
          ends.delete(seq)
          const entries = sessions.get(sessionId)
          entries?.delete(key)
          if (entries?.size === 0) sessions.delete(sessionId)
        }
        return old.length
      }),
    pin: (sessionId, release) =>
      Effect.sync(() => {
        if (release === undefined) pins.delete(sessionId)
        else pins.set(sessionId, release)
      }),
    care: {
      counts: Effect.sync(() => {
        const all = [...open.values()].flatMap((entries) => [...entries.values()]).filter(isMessage)
        return { waiting: countOf(all, "waiting"), begun: countOf(all, "begun"), suspended: countOf(all, "suspended") }
      }),
      list: ({ after = 0, limit, status }) =>
        Effect.sync(() =>
          [...sessions.values()].flatMap((entries) => [...entries.values()])
            .filter((entry) => entry.status === status && entry.seq > after)
            .sort((a, b) => a.seq - b.seq).slice(0, limit).map(pinned)
        ),
      revive: (sessionId, key) =>
        Effect.sync(() => {
          const dead = takeDead(sessionId, key)
          if (dead === undefined) return false
          const { outcome: _outcome, ...entry } = dead
          messages.count(entry, 1)
          keep({ ...entry, status: "waiting", attempts: 0 })
          return true
        }),
      drop: (sessionId, key) =>
        Effect.sync(() => takeDead(sessionId, key) !== undefined && sessions.get(sessionId)?.delete(key) === true)
    }
  }
}
