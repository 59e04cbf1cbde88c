/** Resumes a stored run: loads the session, checks the snapshot and the decisions, and rebuilds the turn. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { PortFailed, SnapshotError } from "../../../data/AgentError.ts"
import { portEffect } from "../../../data/effect/portEffect.ts"
import { copy } from "../../../data/internal/copyJson.ts"
import * as RunState from "../../../data/RunState.ts"
import { messageOf } from "../../../data/text/ErrorMessage.ts"
import { fingerprint } from "../../../hook/HookChain.ts"
import { afterRotation, type SessionStore, statusOf } from "../../../port/SessionStore.ts"
import type { ApprovalConfig } from "../../Approvals.ts"
import type { GuardedAgent } from "../definition/guardedAgent.ts"
import { notADecision, whyNotCounted } from "../state/decision.ts"
import { type Origin, SessionState } from "../state/sessionState.ts"
import { isSignedDecision, isSignedState } from "../state/signature.ts"

type Decisions = { readonly [callId: string]: RunState.Decision }

/**
 * Returns the stored state of a session, or nothing if the store has none. After a rotation, it is the state of the
 * session in which the conversation continues.
 */
export const loadState = (
  store: SessionStore,
  id: string,
  before: ReadonlyArray<string> = []
): Effect.Effect<RunState.RunState | undefined, PortFailed | SnapshotError> =>
  Effect.flatMap(loadOne(store, id), (state) => {
    const { from, to } = state?.movedTo ?? {}
    // A session that leads back to itself was changed by somebody. It counts as not moved.
    const isMoved = from === id && to !== undefined && to !== id && !before.includes(to)
    if (state?.phase !== "ended" || !isMoved) return Effect.succeed(state)
    return Effect.map(loadState(store, to, [...before, id]), (next) => next ?? afterRotation(state))
  })

const loadOne = (
  store: SessionStore,
  id: string
): Effect.Effect<RunState.RunState | undefined, PortFailed | SnapshotError> =>
  Effect.flatMap(
    Effect.catchCause(portEffect("load of the store", () => store.load(id)), (failed) => {
      const cause = Cause.squash(failed)
      const message = `the session store could not load ${id}: ${messageOf(cause)}`
      return new PortFailed({ port: "store", message, cause })
    }),
    (state) => state === undefined ? Effect.undefined : RunState.decode(state)
  )

/** Makes the session that a state describes. */
export const sessionOf = (state: RunState.RunState, origin: Partial<Origin> = {}): SessionState => {
  const { durable, hookState, injections, local, messages, revision, sessionId, turnNumber } = state
  const session = new SessionState(sessionId, {
    messages,
    state: hookState,
    turnNumber,
    injections,
    revision,
    lastEvent: firstEventNumber(state),
    source: "resume",
    ...(local === undefined ? {} : { local }),
    ...(durable === undefined ? {} : { durable }),
    ...origin
  })
  for (const { id } of state.open?.toolCalls ?? []) session.ids.add(id)
  return session
}

/**
 * How many event numbers are left out, at least and at most, if another process may have used some of them. It is a
 * random number, because two processes may leave out numbers after the same one.
 */
const eventGap = { min: 1_000_000, max: 1_000_000_000 }

/**
 * Returns the number after which the events of a loaded session continue. If a process ended in the middle of a turn,
 * nobody knows how many events it has sent since its last commit, so there is a gap. A number is never used twice.
 */
const firstEventNumber = (state: RunState.RunState): number => {
  const { lastEvent = 0 } = state
  return statusOf(state) === "open" && state.stop === undefined && lastEvent > 0 ? lastEvent + randomGap() : lastEvent
}

/** Returns how many event numbers to leave out. */
export const randomGap = (): number => {
  const [random = 0] = crypto.getRandomValues(new Uint32Array(1))
  return eventGap.min + random % (eventGap.max - eventGap.min)
}

/** The run to resume, and the decisions. */
export interface ResumeRequest {
  readonly agent: GuardedAgent
  readonly state: RunState.RunState
  /** The session with this id, if it is already open. */
  readonly open: SessionState | undefined
  readonly decisions: Decisions
}

/** Reads every field of a snapshot once, because an object with getters could answer differently the next time. */
export const readSnapshot = (given: unknown): Effect.Effect<unknown, SnapshotError> =>
  Effect.suspend(() => {
    const read = Result.try(() => copy(given))
    return Result.isSuccess(read)
      ? Effect.succeed(read.success)
      : refuse("not-a-snapshot", `the snapshot cannot be read: ${messageOf(read.failure)}`)
  })

/** A collection has no fields, so its decisions would be lost. */
const isCollection = (value: object): boolean => value instanceof Map || value instanceof Set

/** Reads the decisions once. Fails if one of them is not a decision. */
export const readDecisions = (given: unknown): Effect.Effect<Decisions, SnapshotError> =>
  Effect.suspend(() => {
    if (typeof given !== "object" || given === null || Array.isArray(given) || isCollection(given)) {
      return refuse("wrong-decision", "the decisions are not an object with a decision for each tool call")
    }
    const decisions: Array<readonly [id: string, decision: RunState.Decision]> = []
    const entries = Result.try(() => Object.entries(given))
    if (Result.isFailure(entries)) return refuse("wrong-decision", "the decisions cannot be read")
    for (const [id, value] of entries.success) {
      const decision = RunState.readDecision(value)
      if (decision === undefined) return refuse("wrong-decision", notADecision(id))
      decisions.push([id, decision])
    }
    return Effect.succeed(Object.fromEntries(decisions))
  })

/** Fails if the run cannot be resumed, before anything is changed. */
export const checkResume = ({ agent, decisions, open, state }: ResumeRequest): Effect.Effect<void, SnapshotError> => {
  const { coreType, sessionId, turnNumber } = state
  if (coreType !== agent.core.coreType) {
    return refuse("not-a-snapshot", `the snapshot is of core "${coreType}", this agent runs "${agent.core.coreType}"`)
  }
  if (state.phase === "ended") {
    return refuse("finished", `turn ${turnNumber} of session ${sessionId} has ended: there is nothing to resume`)
  }
  // The turn may wait for something else by now: another process may have continued it, or may be running it.
  const isLater = open !== undefined && agent.config.store !== undefined && open.revision !== state.revision
  if (open !== undefined && (open.waiting?.turnNumber !== turnNumber || isLater)) {
    const message = `session ${sessionId} has changed since this snapshot of turn ${turnNumber} was taken`
    return refuse("finished", message)
  }
  const changed = RunState.pending(state).find(({ args, fingerprint: text, tool }) => fingerprint(tool, args) !== text)
  if (changed !== undefined) {
    return refuse("forged", `the question about tool call "${changed.callId}" has other arguments than its fingerprint`)
  }
  const asks = new Map(RunState.pending(state).map((ask) => [ask.callId, ask]))
  const wrong = wrongDecision(asks, decisions)
  if (wrong !== undefined) return refuse("wrong-decision", wrong)
  const keys = agent.config.approvals?.keys
  return keys === undefined ? Effect.void : checkSignatures(keys, state, asks, decisions)
}

const refuse = (problem: SnapshotError["problem"], message: string): SnapshotError =>
  new SnapshotError({ problem, message })

/** Describes what is wrong with the decisions, if anything. */
const wrongDecision = (
  asks: ReadonlyMap<string, RunState.PendingAsk>,
  decisions: Decisions
): string | undefined => {
  for (const id of Object.keys(decisions)) {
    if (asks.has(id)) continue
    const pending = [...asks.keys()].join(", ") || "none"
    return `tool call "${id}" has no open question: open are ${pending}`
  }
  for (const [id, decision] of Object.entries(decisions)) {
    const why = whyNotCounted(asks.get(id)!, decision)
    if (why !== undefined) return `the decision on tool call "${id}" does not count: ${why}`
  }
  return undefined
}

/** Fails if the snapshot or a decision is not signed with one of the agent's keys. */
const checkSignatures = Effect.fnUntraced(function*(
  keys: NonNullable<ApprovalConfig["keys"]>,
  state: RunState.RunState,
  asks: ReadonlyMap<string, RunState.PendingAsk>,
  decisions: Decisions
): Effect.fn.Return<void, SnapshotError> {
  const { sessionId, turnNumber } = state
  if (!(yield* Effect.promise(() => isSignedState(keys, state)))) {
    return yield* refuse(
      "forged",
      `the snapshot of turn ${turnNumber} of session ${sessionId} has no signature of a key of this agent: ` +
        "it was changed, or made by an agent without keys"
    )
  }
  for (const [id, decision] of Object.entries(decisions)) {
    const question = { sessionId, turnNumber, ask: asks.get(id)! }
    if (yield* Effect.promise(() => isSignedDecision(keys, { question, decision }))) continue
    return yield* refuse(
      "forged",
      `the decision on tool call "${id}" is not signed for this question with a key of this agent: ` +
        "sign it with Approvals.sign"
    )
  }
})
