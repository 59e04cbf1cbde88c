/** Makes a `RunState` from a turn. */
import type { Json } from "../../../data/Json.ts"
import * as RunState from "../../../data/RunState.ts"
import type { SessionState } from "./sessionState.ts"
import type { RunningCall } from "./toolCallState.ts"
import type { TurnState } from "./turnState.ts"

/** The parts of a snapshot. */
export interface SnapshotParts {
  readonly session: SessionState
  readonly state: TurnState
  readonly coreType: string
  /** How long this run of the turn has taken so far, in milliseconds. */
  readonly elapsedMs: number
  /** How much of its time limit the turn has used, in milliseconds. */
  readonly usedMs: number
  /**
   * Whether this is the turn of a sub-agent. Only the snapshot of the root has the state that the tree shares and the
   * number of the last event.
   */
  readonly ofSubAgent: boolean
  /** How many events are sent after this snapshot is stored, and count as sent. */
  readonly numbersAhead: number
}

/** Returns the state of the turn as JSON. */
export const snapshotOf = (parts: SnapshotParts): RunState.RunState =>
  stateOf(parts, { messages: [...parts.session.messages] })

/** Returns the state without its messages, whose list may be long. */
export const stateWithoutMessages = (parts: SnapshotParts): Omit<RunState.RunState, "messages"> => stateOf(parts, {})

const stateOf = <Messages extends object>(
  { coreType, elapsedMs, numbersAhead, ofSubAgent, session, state, usedMs }: SnapshotParts,
  messages: Messages
): Omit<RunState.RunState, "messages"> & Messages => {
  const snapshot: Omit<RunState.RunState, "messages"> & Messages = {
    version: RunState.version,
    sessionId: session.id,
    revision: session.revision,
    turnNumber: state.turnNumber,
    stepNumber: state.stepNumber,
    coreType,
    input: state.input,
    phase: state.phase,
    ...(state.stop === undefined ? {} : { stop: state.stop }),
    ...messages,
    ...(state.open === undefined ? {} : { open: state.open }),
    calls: callsOf(state),
    injections: session.injections,
    usage: state.usage,
    cost: state.cost.read(),
    counts: {
      llmCalls: state.llmCalls,
      toolCalls: state.toolCalls,
      followUps: state.followUps,
      elapsedMs: state.elapsedBefore + elapsedMs,
      ...(state.failOpens === 0 ? {} : { failOpens: state.failOpens })
    },
    used: useOf(state, usedMs),
    hookState: ofSubAgent ? {} : session.state.snapshot(),
    ...(session.hasLocal ? { local: session.local.snapshot() } : {})
  }
  if (ofSubAgent) return snapshot
  const { hasDurable, id, movedTo } = session
  const lastEvent = session.lastEvent + numbersAhead
  return {
    ...snapshot,
    ...(movedTo === undefined ? {} : { movedTo: { from: id, ...movedTo } }),
    ...(hasDurable ? { durable: session.durable.snapshot() } : {}),
    ...(lastEvent === 0 ? {} : { lastEvent })
  }
}

const useOf = ({ used: { failOpens, ...used } }: TurnState, elapsedMs: number): RunState.LimitUse =>
  failOpens === 0 ? { ...used, elapsedMs } : { ...used, elapsedMs, failOpens }

/** Returns the tool calls of the open step as JSON, with the states of their sub-agents. */
export const callsOf = ({ calls }: TurnState): RunState.RunState["calls"] => calls.map(callSnapshot)

const callSnapshot = ({ state, subAgent }: RunningCall): RunState.CallState =>
  // A `RunState` is JSON. The compiler cannot check that, because the interface has no index signature.
  subAgent === undefined ? state : { ...state, child: subAgent.snapshot() as unknown as Json }
