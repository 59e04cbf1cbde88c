/**
 * Keeps what was sent to sessions until it is done: messages, decisions of people and cancellations, with their
 * results. It is data beside the sessions, and delivers nothing by itself.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Json } from "../data/Json.ts"
import { SortedList } from "./internal/sortedList.ts"

/**
 * What is sent to a session.
 *
 * - `message`: begins a turn when the session is free.
 * - `steer`: is read by the running turn at its next step boundary. If no turn runs, it begins one.
 * - `decide`: answers open questions of a suspended turn.
 * - `cancel`: cancels the entry whose key is in `body`.
 *
 * @category models
 * @since 0.1.0
 */
export type Kind = "message" | "steer" | "decide" | "cancel"

/** An entry that is to be added. @category models @since 0.1.0 */
export interface NewEntry {
  readonly sessionId: string
  /** Unique in the session. A second entry with the same key is not added. */
  readonly key: string
  readonly kind: Kind
  /** The message, the decisions, or the key of the entry to cancel. */
  readonly body: Json
  /** When it is due, in milliseconds since the epoch. */
  readonly at: number
  /** Who it counts for, where the host limits what waits. */
  readonly tenant?: string
}

/**
 * An entry of the inbox.
 *
 * - `waiting`: it has not begun.
 * - `begun`: its turn runs, or was left by a process that ended.
 * - `suspended`: its turn waits for people.
 * - `done`: it has its final outcome.
 * - `dead`: it was given up after too many attempts. `outcome` has the reason.
 *
 * @category models
 * @since 0.1.0
 */
export interface Entry extends NewEntry {
  /** The order in which entries were added. */
  readonly seq: number
  readonly status: "waiting" | "begun" | "suspended" | "done" | "dead"
  /** How often it was begun, in all processes. */
  readonly attempts: number
  /** What the last attempt has reported. */
  readonly outcome?: Json
  /** The release that its session is pinned to. Only in what `open` and the lists of `care` return. */
  readonly release?: string
}

/** How many unfinished messages (`message` and `steer`) there may be. @category models @since 0.1.0 */
export interface Capacity {
  readonly inAll?: number
  readonly perTenant?: number
  readonly perSession?: number
  /** How many sessions of one tenant may have unfinished messages. A message to one of them counts for none. */
  readonly sessionsPerTenant?: number
}

/** What `add` has done. @category models @since 0.1.0 */
export type Added =
  | { readonly type: "added"; readonly entry: Entry }
  /** The key was known. `entry` is the first one. */
  | { readonly type: "known"; readonly entry: Entry }
  /** Nothing was added, because as many wait as the limit allows. */
  | { readonly type: "full"; readonly limit: keyof Capacity }

/** A place in the order of sessions that are due. @category models @since 0.1.0 */
export interface Due {
  readonly sessionId: string
  /** The time at which its first entry is due. */
  readonly at: number
}

/** How many entries have a status, and when the oldest of them was due. @category models @since 0.1.0 */
export interface Count {
  readonly count: number
  /** In milliseconds since the epoch. Absent if there is none. */
  readonly oldest?: number
}

/** What a person who looks after a host needs. @category models @since 0.1.0 */
export interface Care {
  /** Counts the messages (`message` and `steer`) that are not finished. */
  readonly counts: Effect.Effect<{ readonly [S in "waiting" | "begun" | "suspended"]: Count }, unknown>
  /** Lists entries with a status, in the order in which they were added, after the one with the number `after`. */
  readonly list: (options: {
    readonly status: Entry["status"]
    readonly limit: number
    readonly after?: number
  }) => Effect.Effect<ReadonlyArray<Entry>, unknown>
  /** Lets a dead entry wait again, with no attempts. Returns false if there is none. */
  readonly revive: (sessionId: string, key: string) => Effect.Effect<boolean, unknown>
  /** Removes a dead entry. Returns false if there is none. */
  readonly drop: (sessionId: string, key: string) => Effect.Effect<boolean, unknown>
}

/** Stores the messages, decisions and cancellations that wait for sessions. @category models @since 0.1.0 */
export interface Inbox {
  /** Adds an entry, unless its key is known in its session. */
  readonly add: (entry: NewEntry, capacity?: Capacity) => Effect.Effect<Added, unknown>
  /** Returns the unfinished entries of a session, in the order in which they were added. */
  readonly open: (sessionId: string) => Effect.Effect<ReadonlyArray<Entry>, unknown>
  /** Counts an attempt and marks the entry as begun. Returns the entry; nothing if it is finished or missing. */
  readonly begin: (sessionId: string, key: string) => Effect.Effect<Entry | undefined, unknown>
  /** Stores what became of an entry. A finished entry does not change any more. */
  readonly report: (
    sessionId: string,
    key: string,
    status: Entry["status"],
    outcome: Json
  ) => Effect.Effect<void, unknown>
  /** Returns an entry, finished or not. */
  readonly get: (sessionId: string, key: string) => Effect.Effect<Entry | undefined, unknown>
  /**
   * Returns sessions by the time at which their first entry is due, and then by id. Finished and suspended entries do
   * not count. In a session with a suspended entry, only decisions and cancellations count, because nothing else can
   * happen before. With `fair`, the order is by tenant in turn: the first session of each, then the second of each. A
   * session counts for one tenant of its due entries. `after` does not fit `fair`. Sessions that are pinned to another
   * release than `release` are left out; without `release`, all that are pinned.
   */
  readonly due: (options: {
    readonly until: number
    readonly after?: Due
    readonly limit: number
    readonly fair?: boolean
    readonly release?: string
  }) => Effect.Effect<ReadonlyArray<Due>, unknown>
  /**
   * The time by the clock that all processes share, in milliseconds since the epoch. Absent if that is the clock of
   * this process.
   */
  readonly now?: Effect.Effect<number, unknown>
  /** Removes finished entries that were finished before this time. Returns how many. */
  readonly prune: (before: number) => Effect.Effect<number, unknown>
  /**
   * Pins a session to a release of the program, so that no other one advances it. Nothing unpins it. Without this
   * method, no session is pinned.
   */
  readonly pin?: (sessionId: string, release: string | undefined) => Effect.Effect<void, unknown>
  /**
   * Claims all sessions for an engine that runs them in one process, until the scope closes or the process ends.
   * Returns false if another process has claimed them. Absent if the inbox cannot tell.
   */
  readonly claim?: Effect.Effect<boolean, unknown, Scope.Scope>
  /** What a person who looks after a host needs. */
  readonly care?: Care
}

/** Whether an entry has its final outcome. @category reading @since 0.1.0 */
export const isFinished = ({ status }: Pick<Entry, "status">): boolean => status === "done" || status === "dead"

/** Whether an entry is a message to the model. @category reading @since 0.1.0 */
export const isMessage = ({ kind }: Pick<Entry, "kind">): boolean => kind === "message" || kind === "steer"

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

const countOf = (entries: ReadonlyArray<Entry>, status: Entry["status"]): Count => {
  const found = entries.filter((entry) => entry.status === status)
  return found.length === 0
    ? { count: 0 }
    : { count: found.length, oldest: found.reduce((oldest, { at }) => Math.min(oldest, at), Infinity) }
}

/** When an entry was finished. */
interface Finished {
  readonly at: number
  readonly seq: number
  readonly sessionId: string
  readonly key: string
}

/** How many messages are not finished. A class, because it is a state. */
class MessageCount {
  private inAll = 0
  private readonly ofTenant = new Map<string | undefined, number>()

  count(entry: Pick<Entry, "kind" | "tenant">, change: 1 | -1): void {
    if (!isMessage(entry)) return
    this.inAll += change
    const left = (this.ofTenant.get(entry.tenant) ?? 0) + change
    if (left === 0) this.ofTenant.delete(entry.tenant)
    else this.ofTenant.set(entry.tenant, left)
  }

  fullLimit(
    { tenant }: NewEntry,
    { inAll = Infinity, perSession = Infinity, perTenant = Infinity }: Capacity,
    ofSession: ReadonlyArray<Entry>
  ): keyof Capacity | undefined {
    if (this.inAll >= inAll) return "inAll"
    if (tenant !== undefined && (this.ofTenant.get(tenant) ?? 0) >= perTenant) return "perTenant"
    return ofSession.filter(isMessage).length >= perSession ? "perSession" : undefined
  }
}

/** The place of a session in the order of those that are due, or nothing if nothing can happen in it. */
const placeOf = (sessionId: string, open: ReadonlyArray<Entry>): Due | undefined => {
  const able = ableOf(open)
  return able.length === 0 ? undefined : { sessionId, at: able.reduce((at, entry) => Math.min(at, entry.at), Infinity) }
}

/** The entries with which something can happen. */
const ableOf = (open: ReadonlyArray<Entry>): ReadonlyArray<Entry> => {
  const isAsking = open.some(({ status }) => status === "suspended")
  return open.filter((entry) => entry.status !== "suspended" && !(isAsking && isMessage(entry)))
}

const tenantOf = (open: ReadonlyArray<Entry>, until: number): string =>
  ableOf(open).flatMap(({ at, tenant }) => at <= until && tenant !== undefined ? [tenant] : []).toSorted()[0] ?? ""

const inOrder = (a: Due, b: Due): number =>
  a.at - b.at || (a.sessionId < b.sessionId ? -1 : Number(a.sessionId !== b.sessionId))

/** The first of each tenant, then the second of each. */
const inTurn = (all: ReadonlyArray<Due>, tenantOf: (one: Due) => string): ReadonlyArray<Due> => {
  const counts = new Map<string, number>()
  const placed = all.map((one) => {
    const tenant = tenantOf(one)
    const place = counts.get(tenant) ?? 0
    counts.set(tenant, place + 1)
    return { one, place }
  })
  return placed.toSorted((a, b) => a.place - b.place).map(({ one }) => one)
}
