/**
 * Keeps what was sent to sessions until it is done: messages, decisions of people and cancellations, with their
 * results. It is data beside the sessions, and delivers nothing by itself.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Json } from "../data/Json.ts"

export { isFinished, isMessage } from "./internal/inboxOrder.ts"
export { inMemory } from "./internal/inMemoryInbox.ts"

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
