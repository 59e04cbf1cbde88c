/** Finds out whether another process has changed a session. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import { PortFailed, type SnapshotError } from "../../../data/AgentError.ts"
import { portEffect } from "../../../data/effect/portEffect.ts"
import type { RunState } from "../../../data/RunState.ts"
import { messageOf } from "../../../data/text/ErrorMessage.ts"
import type { SessionStore } from "../../../port/SessionStore.ts"
import type { SessionState } from "../state/sessionState.ts"
import { loadState } from "./resumeSession.ts"
import { findOutCommit } from "./storeTurn.ts"

type Failure = PortFailed | SnapshotError

/** Returns the state in the store, if it is not the one of this session. Returns nothing if the session is current. */
export const findNewerState = (
  store: SessionStore,
  session: SessionState
): Effect.Effect<RunState | undefined, Failure> => {
  const { id, storage: { unknownCommit } } = session
  const known = unknownCommit === undefined
    ? Effect.void
    : storeEffect(id, findOutCommit(store, session, unknownCommit))
  // A store without `revision` gives the revision with the whole state.
  const { revision: askRevision } = store
  if (askRevision === undefined) {
    const loaded = Effect.andThen(known, loadState(store, id))
    return Effect.map(
      loaded,
      (state) => state?.sessionId === id && state.revision === session.revision ? undefined : state
    )
  }
  const found = Effect.andThen(known, storeEffect(id, portEffect("revision of the store", () => askRevision(id))))
  return Effect.flatMap(
    found,
    (revision) => revision === undefined || revision === session.revision ? Effect.undefined : loadState(store, id)
  )
}

const storeEffect = <A>(id: string, effect: Effect.Effect<A, unknown>): Effect.Effect<A, PortFailed> =>
  Effect.catchCause(effect, (failed) => {
    const cause = Cause.squash(failed)
    const message = `the session store could not read ${id}: ${messageOf(cause)}`
    return new PortFailed({ port: "store", message, cause })
  })
