/**
 * Erases what a store has about some sessions: history, messages that wait, outcomes, events, questions, decision
 * records, artifacts, and the names in accounts of budgets.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"

/** The sessions to find. @category models @since 0.1.0 */
export type Target =
  /** A session, those in which a rotation has continued it (`s-r2`, `s-r3`), and those of their sub-agents. */
  | { readonly session: string }
  /** The sessions whose id begins with a text, and those that messages were sent to for a tenant. */
  | { readonly prefix: string; readonly tenant: string }

/** How much was erased. @category models @since 0.1.0 */
export interface Counts {
  /** Stored sessions. */
  readonly sessions: number
  /** Messages of their histories. */
  readonly messages: number
  /** Decision records. */
  readonly records: number
  readonly artifacts: number
  /** What was sent to the sessions, with outcomes. */
  readonly entries: number
  /** Rows of events. */
  readonly events: number
  /** Accounts of budgets that were renamed. What they have spent still counts in sums of all accounts. */
  readonly accounts: number
  /** Standing approvals with one of the names in their arguments or among those who approved. */
  readonly approvals: number
}

/** What a store did. @category models @since 0.1.0 */
export interface Erased extends Counts {
  /**
   * Whether the bytes are gone from the file too. `false` if another process was reading at that time: erase again, or
   * compact the file later. A server such as Postgres reuses the space itself, and this is `true`.
   */
  readonly isCompacted: boolean
}

/** Erases what a store has about sessions. @category models @since 0.1.0 */
export interface Erasure {
  /** Returns the ids of all sessions of which the store has anything. */
  readonly find: (target: Target) => Effect.Effect<ReadonlyArray<string>, unknown>
  /**
   * Erases all of these sessions or none. An account whose owner is one of the names gets another name, and
   * standing approvals with one of them are removed. Afterwards a file is compacted. What a process still has of an
   * erased session, because it was frozen meanwhile, is not stored any more: a hash of the id stays. A new session may
   * begin under the same id.
   */
  readonly erase: (
    sessions: ReadonlyArray<string>,
    names: ReadonlyArray<string>
  ) => Effect.Effect<Erased, unknown>
}

/** What the ids of sessions end with that a rotation has begun, and those of sub-agents. */
const added = /^(?:-r[1-9]\d*|\.[0-9a-f]{14})+$/

/**
 * Whether an id is that of a session, of one that continues it after a rotation, or of one of their sub-agents. For
 * authors of stores.
 *
 * @category reading
 * @since 0.1.0
 */
export const continues = (session: string, id: string): boolean =>
  id === session || (id.startsWith(session) && added.test(id.slice(session.length)))

/**
 * Returns the id of the session that an id began as: without what rotations and sub-agents add. For authors of stores.
 *
 * @category reading
 * @since 0.1.0
 */
export const rootOf = (id: string): string => id.replace(/(?:-r[1-9]\d*|\.[0-9a-f]{14})+$/, "") || id

/**
 * Returns the id of the session that a rotation begins: `s-r2` after `s`, and `s-r3` after `s-r2`.
 *
 * @category reading
 * @since 0.2.0
 */
export const nextOf = (id: string): string => {
  const [, base = id, count = "1"] = /^(.*)-r(\d+)$/.exec(id) ?? []
  return `${base}-r${Number(count) + 1}`
}

/**
 * Returns another name for an account whose owner is one of the names, or nothing. The name of an account is
 * `scope:owner`, and may end with `@` and the number of a window. For authors of stores.
 *
 * @category reading
 * @since 0.1.0
 */
export const anonymousAccount = (account: string, names: ReadonlyArray<string>): string | undefined => {
  const [, scope, owner, window = ""] = /^([^:]*):([\s\S]*?)(@\d+)?$/.exec(account) ?? []
  return owner !== undefined && names.some((name) => name === owner || continues(name, owner))
    ? `${scope}:erased-${crypto.randomUUID()}${window}`
    : undefined
}
