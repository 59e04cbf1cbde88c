/**
 * Writes the state of a turn to the session store, one commit at a time. Each commit has the state at the time when it
 * starts.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import { PortFailed } from "../../../data/AgentError.ts"
import { portEffect } from "../../../data/effect/portEffect.ts"
import type { RunState } from "../../../data/RunState.ts"
import { messageOf } from "../../../data/text/ErrorMessage.ts"
import type { HookRecord } from "../../../hook/HookRecord.ts"
import { SessionConflict, type SessionStore } from "../../../port/SessionStore.ts"
import type { SessionState } from "../state/sessionState.ts"

/** The turn whose state is stored. */
export interface StorableTurn {
  readonly records: ReadonlyArray<HookRecord>
  /** How many of the records are in the store. */
  storedRecords: number
  /** How often this run of the turn has been stored. */
  commits: number
  readonly stateWithoutMessages: () => Omit<RunState, "messages">
  readonly sign: <State extends Omit<RunState, "messages">>(state: State) => Effect.Effect<State>
}

/** Commits a turn of the root session. */
export const commitTurn = (
  store: SessionStore,
  session: SessionState,
  turn: StorableTurn
): Effect.Effect<void, PortFailed> =>
  Effect.suspend(() => {
    const request = ++session.storage.requested
    const saved = Effect.suspend(() => {
      // Another commit that began after this request has stored it too: parallel tools share their commits.
      if (session.storage.written >= request) return Effect.void
      const { unknownCommit } = session.storage
      return unknownCommit === undefined
        ? commit(store, session, turn)
        : Effect.andThen(findOutCommit(store, session, unknownCommit), commit(store, session, turn))
    })
    return Effect.catchCause(session.storage.lock.withPermit(saved), (failure) => {
      const cause = Cause.squash(failure)
      return new PortFailed({ port: "store", message: whyUnsaved(session.id, cause), cause })
    })
  })

const whyUnsaved = (id: string, cause: unknown): string =>
  cause instanceof SessionConflict
    ? `another process has changed session ${id} since this turn was saved last, so this turn cannot go on here. ` +
      `The session is loaded again with the next call (${cause.message})`
    : `the session store could not save ${id}: ${messageOf(cause)}`

/** Whether an error says that another process has changed the session. */
export const isConflict = (error: unknown): boolean =>
  error instanceof PortFailed && error.cause instanceof SessionConflict

const commit = (store: SessionStore, session: SessionState, turn: StorableTurn): Effect.Effect<void, unknown> =>
  Effect.suspend(() => {
    const revision = session.revision + 1
    const { storage } = session
    const { requested } = storage
    const log = session.messages
    const { length } = log
    const from = storage.saved.log === log ? storage.saved.length : 0
    const recordCount = turn.records.length
    const rest = { ...turn.stateWithoutMessages(), revision }
    const records = turn.records.slice(turn.storedRecords, recordCount)
    const messages = log.slice(from, length)
    return Effect.onInterrupt(
      Effect.map(
        Effect.flatMap(turn.sign(rest), (state) => {
          const snapshot = () => ({ ...state, messages: log.slice(0, length) })
          const added = { sessionId: session.id, revision, from, messages, state, records, snapshot }
          return portEffect("commit of the store", () => store.commit(added))
        }),
        () => {
          session.revision = revision
          storage.written = requested
          storage.isBehind = false
          storage.saved = { log, length }
          turn.storedRecords = recordCount
          turn.commits++
        }
      ),
      () => Effect.sync(() => void (storage.unknownCommit = rest))
    )
  })

/** Checks whether the store has a commit that was interrupted. */
export const findOutCommit = (
  store: SessionStore,
  session: SessionState,
  { counts, phase, revision, stepNumber }: Omit<RunState, "messages">
): Effect.Effect<void, unknown> =>
  Effect.map(portEffect("load of the store", () => store.load(session.id)), (state) => {
    // Another process may have written this revision. The duration of the turn tells the two apart.
    const isOurs = state?.revision === revision && state.counts.elapsedMs === counts.elapsedMs &&
      state.phase === phase && state.stepNumber === stepNumber
    if (isOurs) session.revision = revision
    session.storage.saved = { log: undefined, length: 0 }
    session.storage.unknownCommit = undefined
  })
