/**
 * Stores sessions outside the process. A session is committed at every point from which a run can be resumed: before
 * each model call, before and after each tool, and at the end of a turn. A commit that would change nothing is left
 * out.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { TaggedError } from "../data/effect/TaggedError.ts"
import type { Message } from "../data/Message.ts"
import * as RunState from "../data/RunState.ts"
import { waitingOf, type Waits } from "../data/Waiting.ts"
import * as ArtifactStore from "./ArtifactStore.ts"
import * as storedFiles from "./internal/storedFiles.ts"

/**
 * Another process has changed the session since it was read. The process that gets this error must load the session
 * again before it continues.
 *
 * @category errors
 * @since 0.1.0
 */
export class SessionConflict extends TaggedError<SessionConflict>()("SessionConflict", {
  sessionId: Schema.String,
  /** The revision that was to be written, and the revision in the store. */
  expected: Schema.Finite,
  found: Schema.Finite,
  message: Schema.String
}) {}

/** One commit of a session. A store keeps all of it or nothing. @category models @since 0.1.0 */
export interface Commit {
  readonly sessionId: string
  /** One more than the previous revision; 1 for a new session. */
  readonly revision: number
  /** The index at which `messages` begin. They replace all messages from this index on. */
  readonly from: number
  readonly messages: ReadonlyArray<Message>
  /** The state without its messages. */
  readonly state: Omit<RunState.RunState, "messages">
  /** Decision records since the last commit, where the agent keeps them. */
  readonly records: ReadonlyArray<unknown>
  /** Returns the whole state, for stores that keep it as one text. */
  readonly snapshot: () => RunState.RunState
}

/** The description of a session, without its content. @category models @since 0.1.0 */
export interface SessionInfo {
  readonly id: string
  readonly revision: number
  readonly turnNumber: number
  readonly messages: number
  /**
   * Whether a turn is unfinished. `suspended` waits for people, `limited` reached a limit, and `open` can go on: it was
   * parked, its process ended, or its process still runs it.
   */
  readonly status: "idle" | "suspended" | "limited" | "open"
  /** Milliseconds since the epoch. */
  readonly createdAt: number
  readonly updatedAt: number
}

/** Stores sessions. @category models @since 0.1.0 */
export interface SessionStore {
  /**
   * Stores a commit. If the session exists and is not at `revision - 1`, this must fail with a `SessionConflict` and
   * store nothing. So when two processes continue the same session, only one succeeds.
   */
  readonly commit: (commit: Commit) => Effect.Effect<void, unknown>
  /** Returns a session as of its last commit, or nothing if there is none. */
  readonly load: (sessionId: string) => Effect.Effect<RunState.RunState | undefined, unknown>
  /**
   * Returns the revision of a session, or nothing if there is none. An agent asks for it before each turn, to find out
   * whether another process has changed the session. Without it, the agent loads the whole session instead.
   */
  readonly revision?: (sessionId: string) => Effect.Effect<number | undefined, unknown>
  /**
   * Lists sessions, most recently changed first. The default limit is 100. `before` leaves out those that changed at
   * that time or later, and `ids` all with other ids.
   */
  readonly list?: (
    options?: { readonly limit?: number; readonly before?: number; readonly ids?: ReadonlyArray<string> }
  ) => Effect.Effect<ReadonlyArray<SessionInfo>, unknown>
  /**
   * Copies a session and its artifacts to another id. Fails if that id exists. The signature is not copied, because it
   * is valid for the original session only.
   */
  readonly fork?: (sessionId: string, to: string) => Effect.Effect<void, unknown>
  /** Removes a session and its artifacts. Returns false if there is none. */
  readonly remove?: (sessionId: string) => Effect.Effect<boolean, unknown>
  /** Returns the decision records of a session, in order. */
  readonly records?: (sessionId: string) => Effect.Effect<ReadonlyArray<unknown>, unknown>
  /** The store of the artifacts of its sessions. */
  readonly artifacts?: ArtifactStore.ArtifactStore
}

/** Returns whether the turn of a state is unfinished, and why. @category reading @since 0.1.0 */
export const statusOf = (state: Waits): SessionInfo["status"] => statuses[waitingOf(state).type]

const statuses = { nothing: "idle", people: "suspended", limit: "limited", process: "open" } as const

/**
 * Returns the state of a session that was rotated, if the store does not have the next session, because the process
 * ended before it has saved it: the same turn, in the next session. So nothing of the turn runs again.
 *
 * @category reading
 * @since 0.2.0
 */
export const afterRotation = (state: RunState.RunState): RunState.RunState => {
  const { movedTo, ...rest } = state
  return movedTo?.phase === undefined
    ? state
    : { ...rest, sessionId: movedTo.to, revision: 0, phase: movedTo.phase }
}

/**
 * Returns what a store writes as the state of a commit. Large files of the input are left out if the conversation has
 * them, so that a step does not write them again. The messages must be stored with it, as `snapshot` returns them.
 *
 * @category encoding
 * @since 0.2.0
 */
export const stateToStore: (commit: Pick<Commit, "snapshot" | "state">) => object = storedFiles.withoutFiles

/**
 * Returns the state that `stateToStore` was given, from what a store has kept of it and its messages. Any other state
 * is returned as it is.
 *
 * @category encoding
 * @since 0.2.0
 */
export const stateFromStore: (stored: unknown) => unknown = storedFiles.withFiles

/** Makes a `SessionConflict`. @category constructors @since 0.1.0 */
export const conflict = (sessionId: string, revision: number, found: number): SessionConflict =>
  new SessionConflict({
    sessionId,
    expected: revision - 1,
    found,
    message: `session ${sessionId} was changed by another process: this process continues from revision ${
      revision - 1
    }, the store is at ${found}. Load it again`
  })

/** Makes a store in memory. Its content is lost when the process ends. @category constructors @since 0.1.0 */
export const inMemory = (): Required<SessionStore> => {
  interface Kept {
    readonly state: Omit<RunState.RunState, "messages">
    readonly messages: Array<Message>
    readonly records: Array<unknown>
    readonly createdAt: number
    readonly updatedAt: number
  }
  const sessions = new Map<string, Kept>()
  const artifacts = ArtifactStore.inMemory()
  let last = 0
  /** The clock has whole milliseconds: of two changes in one of them, the second is a little later. */
  const changedAt = (time: number): number => last = time <= last && last - time < 1_000 ? last + 0.001 : time
  const stateOf = ({ messages, state }: Kept): RunState.RunState => structuredClone({ ...state, messages })
  return {
    artifacts,
    commit: ({ from, messages, records, revision, sessionId, snapshot, state }) =>
      Effect.flatMap(Clock.currentTimeMillis, (clock) => {
        const kept = sessions.get(sessionId)
        const found = kept?.state.revision ?? revision - 1
        if (found !== revision - 1) return Effect.fail(conflict(sessionId, revision, found))
        const time = changedAt(clock)
        const log = kept?.messages ?? []
        // The messages there may have been removed since, so the whole conversation is written again.
        const isWhole = from > log.length
        const added = structuredClone(isWhole ? snapshot().messages : messages)
        const next = { state: structuredClone(state), records: [...(kept?.records ?? []), ...structuredClone(records)] }
        log.length = isWhole ? 0 : from
        for (const message of added) log.push(message)
        sessions.set(sessionId, {
          ...next,
          messages: log,
          createdAt: kept?.createdAt ?? time,
          updatedAt: time
        })
        return Effect.void
      }),
    load: (id) =>
      Effect.sync(() => {
        const kept = sessions.get(id)
        return kept === undefined ? undefined : stateOf(kept)
      }),
    revision: (id) => Effect.sync(() => sessions.get(id)?.state.revision),
    list: ({ before = Infinity, ids, limit = 100 } = {}) =>
      Effect.sync(() =>
        // The care of a host asks for each session alone.
        [...new Set(ids ?? sessions.keys())].flatMap((id) => {
          const kept = sessions.get(id)
          if (kept === undefined || !(kept.updatedAt < before)) return []
          const { createdAt, messages, state, updatedAt } = kept
          const { revision, turnNumber } = state
          return { id, revision, turnNumber, messages: messages.length, status: statusOf(state), createdAt, updatedAt }
        }).sort((a, b) => b.updatedAt - a.updatedAt).slice(0, limit)
      ),
    fork: (id, to) =>
      Effect.flatMap(Clock.currentTimeMillis, (clock) => {
        const kept = sessions.get(id)
        if (kept === undefined) return Effect.fail(`there is no session ${id}`)
        if (sessions.has(to)) return Effect.fail(`there is a session ${to} already`)
        const { messages, ...state } = stateOf(kept)
        const time = changedAt(clock)
        const { seal: _seal, ...unsealed } = state
        sessions.set(to, {
          state: { ...unsealed, sessionId: to },
          messages: [...messages],
          records: [...kept.records],
          createdAt: time,
          updatedAt: time
        })
        return artifacts.copy(id, to)
      }),
    remove: (id) => Effect.andThen(artifacts.clear(id), Effect.sync(() => sessions.delete(id))),
    records: (id) => Effect.sync(() => structuredClone(sessions.get(id)?.records ?? []))
  }
}
