/**
 * Keeps what was sent to sessions until it is done: messages, decisions of people and cancellations, with their
 * results. It is data beside the sessions, and delivers nothing by itself.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Json } from "../data/Json.ts"

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
}

/** How many unfinished messages (`message` and `steer`) there may be. @category models @since 0.1.0 */
export interface Capacity {
  readonly inAll?: number
  readonly perTenant?: number
  readonly perSession?: number
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
   * session counts for one tenant of its due entries. `after` does not fit `fair`.
   */
  readonly due: (options: {
    readonly until: number
    readonly after?: Due
    readonly limit: number
    readonly fair?: boolean
  }) => Effect.Effect<ReadonlyArray<Due>, unknown>
  /**
   * The time by the clock that all processes share, in milliseconds since the epoch. Absent if that is the clock of this
   * process.
   */
  readonly now?: Effect.Effect<number, unknown>
  /** Removes finished entries that were finished before this time. Returns how many. */
  readonly prune: (before: number) => Effect.Effect<number, unknown>
}

/** Whether an entry has its final outcome. @category reading @since 0.1.0 */
export const isFinished = ({ status }: Pick<Entry, "status">): boolean => status === "done" || status === "dead"

/** Whether an entry is a message to the model. @category reading @since 0.1.0 */
export const isMessage = ({ kind }: Pick<Entry, "kind">): boolean => kind === "message" || kind === "steer"

/** Makes an inbox in memory. Its content is lost when the process ends. @category constructors @since 0.1.0 */
export const inMemory = (): Inbox => {
  interface Kept {
    entry: Entry
    finishedAt: number
  }
  const sessions = new Map<string, Map<string, Kept>>()
  let last = 0
  const all = function*(): Iterable<Kept> {
    for (const entries of sessions.values()) yield* entries.values()
  }
  const openOf = (sessionId: string): ReadonlyArray<Entry> =>
    [...sessions.get(sessionId)?.values() ?? []].map(({ entry }) => entry).filter((entry) => !isFinished(entry))
  const fullLimit = ({ sessionId, tenant }: NewEntry, capacity: Capacity): keyof Capacity | undefined => {
    const { inAll = Infinity, perSession = Infinity, perTenant = Infinity } = capacity
    const open = [...all()].map(({ entry }) => entry).filter((entry) => !isFinished(entry) && isMessage(entry))
    if (open.length >= inAll) return "inAll"
    if (tenant !== undefined && open.filter((entry) => entry.tenant === tenant).length >= perTenant) return "perTenant"
    return open.filter((entry) => entry.sessionId === sessionId).length >= perSession ? "perSession" : undefined
  }
  return {
    add: (given, capacity = {}) =>
      Effect.sync((): Added => {
        const entries = sessions.get(given.sessionId) ?? new Map<string, Kept>()
        const known = entries.get(given.key)
        if (known !== undefined) return { type: "known", entry: known.entry }
        const limit = fullLimit(given, capacity)
        if (limit !== undefined) return { type: "full", limit }
        const entry: Entry = { ...structuredClone(given), seq: ++last, status: "waiting", attempts: 0 }
        sessions.set(given.sessionId, entries.set(given.key, { entry, finishedAt: Infinity }))
        return { type: "added", entry }
      }),
    open: (sessionId) => Effect.sync(() => openOf(sessionId)),
    begin: (sessionId, key) =>
      Effect.sync(() => {
        const kept = sessions.get(sessionId)?.get(key)
        if (kept === undefined || isFinished(kept.entry)) return undefined
        return kept.entry = { ...kept.entry, status: "begun", attempts: kept.entry.attempts + 1 }
      }),
    report: (sessionId, key, status, outcome) =>
      Effect.map(Clock.currentTimeMillis, (time) => {
        const kept = sessions.get(sessionId)?.get(key)
        if (kept === undefined || isFinished(kept.entry)) return
        kept.entry = { ...kept.entry, status, outcome: structuredClone(outcome) }
        if (isFinished(kept.entry)) kept.finishedAt = time
      }),
    get: (sessionId, key) => Effect.sync(() => sessions.get(sessionId)?.get(key)?.entry),
    due: ({ after, fair = false, limit, until }) =>
      Effect.sync(() => {
        const all = [...sessions.keys()].flatMap((sessionId): ReadonlyArray<Due & { readonly tenant: string }> => {
          const all = openOf(sessionId)
          const isAsking = all.some(({ status }) => status === "suspended")
          const open = all.filter((entry) => entry.status !== "suspended" && !(isAsking && isMessage(entry)))
          if (open.length === 0) return []
          const tenants = open.flatMap(({ at, tenant }) => at <= until && tenant !== undefined ? [tenant] : [])
          return [{ sessionId, at: Math.min(...open.map(({ at }) => at)), tenant: tenants.toSorted()[0] ?? "" }]
        }).filter((one) => one.at <= until && (after === undefined || inOrder(after, one) < 0)).sort(inOrder)
        return (fair ? inTurn(all) : all).slice(0, limit).map(({ at, sessionId }) => ({ sessionId, at }))
      }),
    prune: (before) =>
      Effect.sync(() => {
        let removed = 0
        for (const [sessionId, entries] of sessions) {
          for (const [key, { finishedAt }] of entries) {
            if (finishedAt < before && entries.delete(key)) removed++
          }
          if (entries.size === 0) sessions.delete(sessionId)
        }
        return removed
      })
  }
}

const inOrder = (a: Due, b: Due): number =>
  a.at - b.at || (a.sessionId < b.sessionId ? -1 : Number(a.sessionId !== b.sessionId))

/** The first of each tenant, then the second of each. */
const inTurn = <A extends { readonly tenant: string }>(all: ReadonlyArray<A>): ReadonlyArray<A> => {
  const counts = new Map<string, number>()
  const placed = all.map((one) => {
    const place = counts.get(one.tenant) ?? 0
    counts.set(one.tenant, place + 1)
    return { one, place }
  })
  return placed.toSorted((a, b) => a.place - b.place).map(({ one }) => one)
}
