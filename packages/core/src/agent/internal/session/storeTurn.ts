/**
 * Writes the state of a turn to the session store, one commit at a time. Each commit has the state at the time when it
 * starts.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import { PortFailed } from "../../../data/AgentError.ts"
import { messageOf } from "../../../data/ErrorMessage.ts"
import type { RunState } from "../../../data/RunState.ts"
import type { HookRecord } from "../../../hook/HookRecord.ts"
import type { SessionStore } from "../../../port/SessionStore.ts"
import type { SessionState } from "./sessionState.ts"

/** The turn whose state is stored. */
export interface StorableTurn {
  readonly records: ReadonlyArray<HookRecord>
  /** How many of the records are in the store. */
  storedRecords: number
  readonly snapshot: () => RunState
  readonly sign: <State extends Omit<RunState, "messages">>(state: State) => Effect.Effect<State>
}

/** Commits a turn of the root session. */
export const commitTurn = (
  store: SessionStore,
  session: SessionState,
  turn: StorableTurn
): Effect.Effect<void, PortFailed> => {
  const next = commit(store, session, turn)
  const saved = Effect.onInterrupt(
    Effect.suspend(() => session.commitUnknown ? Effect.andThen(findOutCommit(store, session), next) : next),
    () => Effect.sync(() => void (session.commitUnknown = true))
  )
  return Effect.catchCause(session.commitLock.withPermit(saved), (failure) => {
    const cause = Cause.squash(failure)
    const message = `the session store could not save ${session.id}: ${messageOf(cause)}`
    return new PortFailed({ port: "store", message, cause })
  })
}

const commit = (store: SessionStore, session: SessionState, turn: StorableTurn): Effect.Effect<void, unknown> =>
  Effect.suspend(() => {
    const revision = session.revision + 1
    const log = session.messages
    const { length } = log
    const from = session.saved.log === log ? session.saved.length : 0
    const recordCount = turn.records.length
    const { messages: _messages, ...rest } = { ...turn.snapshot(), revision }
    const records = turn.records.slice(turn.storedRecords, recordCount)
    const messages = log.slice(from, length)
    return Effect.map(
      Effect.flatMap(turn.sign(rest), (state) => {
        const snapshot = () => ({ ...state, messages: log.slice(0, length) })
        return store.commit({ sessionId: session.id, revision, from, messages, state, records, snapshot })
      }),
      () => {
        session.revision = revision
        session.saved = { log, length }
        turn.storedRecords = recordCount
      }
    )
  })

/** Checks whether the store has a commit that was interrupted. */
const findOutCommit = (store: SessionStore, session: SessionState): Effect.Effect<void, unknown> =>
  Effect.map(store.load(session.id), (state) => {
    if (state?.revision === session.revision + 1) session.revision++
    session.saved = { log: undefined, length: 0 }
    session.commitUnknown = false
  })
