/** Going on with what was left: reading it, refusing what cannot be gone on with, and making a session of it. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import { PortFailed, SnapshotError } from "../../../data/AgentError.ts"
import { messageOf } from "../../../data/ErrorMessage.ts"
import * as RunState from "../../../data/RunState.ts"
import type { SessionStore } from "../../../port/SessionStore.ts"
import type { ApprovalConfig } from "../../Approvals.ts"
import type { Resolved } from "../config/resolvedAgent.ts"
import { whyNotFrom } from "../tool/askPerson.ts"
import { Session } from "./session.ts"
import { isSealed, isSigned } from "./signature.ts"

type Decisions = { readonly [callId: string]: RunState.Decision }

/** A session as the store has it. */
export const stored = (
  store: SessionStore,
  id: string
): Effect.Effect<RunState.RunState | undefined, PortFailed | SnapshotError> =>
  Effect.flatMap(
    Effect.catchCause(store.load(id), (why) => {
      const cause = Cause.squash(why)
      return new PortFailed({
        port: "store",
        message: `the session store could not load ${id}: ${messageOf(cause)}`,
        cause
      })
    }),
    (state) => state === undefined ? Effect.undefined : RunState.decode(state)
  )

/** A session as a state says it was. */
export const reopened = (state: RunState.RunState, isStored: boolean): Session =>
  new Session(state.sessionId, {
    messages: state.messages,
    state: state.hookState,
    turnNumber: state.turnNumber,
    injections: state.injections,
    ...(state.durable === undefined ? {} : { durable: state.durable }),
    revision: state.revision,
    source: "resume",
    stored: isStored
  })

/** Refuses what cannot be gone on with, before anything is changed. */
export const resumable = (
  host: Resolved,
  state: RunState.RunState,
  session: Session | undefined,
  decisions: Decisions
): Effect.Effect<void, SnapshotError> => {
  const refuse = (problem: SnapshotError["problem"], message: string) => new SnapshotError({ problem, message })
  if (state.coreType !== host.core.coreType) {
    return refuse(
      "not-a-snapshot",
      `the snapshot is of core "${state.coreType}", this agent runs "${host.core.coreType}"`
    )
  }
  if (state.phase === "ended") {
    return refuse(
      "finished",
      `turn ${state.turnNumber} of session ${state.sessionId} has ended: there is nothing to resume`
    )
  }
  if (session !== undefined && session.resumable !== state.turnNumber) {
    return refuse(
      "finished",
      `session ${state.sessionId} has gone on since this snapshot of turn ${state.turnNumber} was taken`
    )
  }
  const asked = new Map(RunState.pending(state).map((ask) => [ask.callId, ask]))
  const stray = Object.keys(decisions).find((id) => !asked.has(id))
  if (stray !== undefined) {
    return refuse(
      "wrong-decision",
      `nobody asked about tool call "${stray}": pending are ${[...asked.keys()].join(", ") || "none"}`
    )
  }
  const unreadable = Object.keys(decisions).find((id) => !RunState.isDecision(decisions[id]))
  if (unreadable !== undefined) {
    return refuse(
      "wrong-decision",
      `the decision on tool call "${unreadable}" is none of approve, deny, edit and respond with what belongs to it`
    )
  }
  for (const [id, decision] of Object.entries(decisions)) {
    const wrong = whyNotFrom(asked.get(id)!, decision)
    if (wrong !== undefined) {
      return refuse("wrong-decision", `the decision on tool call "${id}" does not count: ${wrong}`)
    }
  }
  const keys = host.config.approvals?.keys
  return keys === undefined ? Effect.void : genuine(keys, state, asked, decisions)
}

/** Refuses what the keys do not prove. */
const genuine = Effect.fnUntraced(function*(
  keys: NonNullable<ApprovalConfig["keys"]>,
  state: RunState.RunState,
  asked: ReadonlyMap<string, RunState.PendingAsk>,
  decisions: Decisions
): Effect.fn.Return<void, SnapshotError> {
  if (!(yield* Effect.promise(() => isSealed(keys, state)))) {
    return yield* new SnapshotError({
      problem: "forged",
      message:
        `the snapshot of turn ${state.turnNumber} of session ${state.sessionId} is not sealed with a key of this agent: it was changed, or made without`
    })
  }
  const { sessionId, turnNumber } = state
  for (const [id, decision] of Object.entries(decisions)) {
    const about = { sessionId, turnNumber, ask: asked.get(id)! }
    if (yield* Effect.promise(() => isSigned(keys, { about, decision }))) continue
    return yield* new SnapshotError({
      problem: "forged",
      message:
        `the decision on tool call "${id}" is not signed for this question with a key of this agent: sign it with Approvals.sign`
    })
  }
})
