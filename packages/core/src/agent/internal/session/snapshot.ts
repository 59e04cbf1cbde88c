/** Makes a `RunState` from a turn. */
import type { Json } from "../../../data/Json.ts"
import * as RunState from "../../../data/RunState.ts"
import type { RunningCall } from "../tool/toolCallState.ts"
import type { TurnState } from "../turn/turnState.ts"
import type { SessionState } from "./sessionState.ts"

/** The parts of a snapshot. */
export interface SnapshotParts {
  readonly session: SessionState
  readonly state: TurnState
  readonly coreType: string
  /** How long this run of the turn has taken so far, in milliseconds. */
  readonly elapsedMs: number
  /** Whether this is the turn of a sub-agent. Only the snapshot of the root has the state that the tree shares. */
  readonly ofSubAgent: boolean
}

/** Returns the state of the turn as JSON. */
export const snapshotOf = ({ coreType, elapsedMs, ofSubAgent, session, state }: SnapshotParts): RunState.RunState => {
  const snapshot: RunState.RunState = {
    version: RunState.version,
    sessionId: session.id,
    revision: session.revision,
    turnNumber: state.turnNumber,
    stepNumber: state.stepNumber,
    coreType,
    input: state.input,
    phase: state.phase,
    messages: [...session.messages],
    ...(state.open === undefined ? {} : { open: state.open }),
    calls: state.calls.map(callSnapshot),
    injections: session.injections,
    usage: state.usage,
    counts: {
      llmCalls: state.llmCalls,
      toolCalls: state.toolCalls,
      followUps: state.followUps,
      elapsedMs: state.elapsedBefore + elapsedMs
    },
    hookState: ofSubAgent ? {} : session.state.snapshot(),
    ...(session.hasLocal ? { local: session.local.snapshot() } : {})
  }
  return ofSubAgent || !session.hasDurable ? snapshot : { ...snapshot, durable: session.durable.snapshot() }
}

const callSnapshot = ({ state, subAgent }: RunningCall): RunState.CallState =>
  // A `RunState` is JSON. The compiler cannot check that, because the interface has no index signature.
  subAgent === undefined ? state : { ...state, child: subAgent.snapshot() as unknown as Json }
