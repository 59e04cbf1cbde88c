/** A turn as JSON: making a `RunState` of it. */
import type { Json } from "../../../data/Json.ts"
import * as RunState from "../../../data/RunState.ts"
import type { RunningCall } from "../tool/toolCallState.ts"
import type { TurnState } from "../turn/turnState.ts"
import type { SessionState } from "./sessionState.ts"

/** What a snapshot is made of. */
export interface SnapshotParts {
  readonly session: SessionState
  readonly state: TurnState
  readonly coreType: string
  /** Milliseconds that this run of the turn has taken so far. */
  readonly elapsedMs: number
  /** Whether it is the turn of a sub-agent: durable state is in the snapshot of the root only. */
  readonly ofSubAgent: boolean
}

/** The state of a turn as JSON. */
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
    hookState: session.state.snapshot()
  }
  return ofSubAgent || !session.hasDurable ? snapshot : { ...snapshot, durable: session.durable.snapshot() }
}

const callSnapshot = ({ state, subAgent }: RunningCall): RunState.CallState =>
  // A `RunState` is JSON; its interface has no index signature, so the compiler cannot see it.
  subAgent === undefined ? state : { ...state, child: subAgent.snapshot() as unknown as Json }
