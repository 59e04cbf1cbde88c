/** Remembers what of a turn is in the store, so that a commit that would change nothing is left out. */
import type { SessionState } from "./sessionState.ts"
import type { TurnState } from "./turnState.ts"

/**
 * The parts of a turn that a commit can change. Lists and states of calls are never changed in place, except that
 * messages are appended; so references and a length are enough.
 */
export interface StoredMark {
  readonly log: SessionState["messages"]
  readonly length: number
  readonly injections: SessionState["injections"]
  readonly stateChanges: number
  readonly phase: TurnState["phase"]
  readonly stop: TurnState["stop"]
  readonly open: TurnState["open"]
  readonly calls: ReadonlyArray<unknown>
  readonly llmCalls: number
  readonly records: number
  readonly lastEvent: number
}

/** Returns the mark of a turn as it is now. */
export const markOf = (session: SessionState, state: TurnState, records: number): StoredMark => {
  const { injections, messages, root } = session
  return {
    log: messages,
    length: messages.length,
    injections,
    stateChanges: session.stateChanges + (root === session ? 0 : root.stateChanges),
    phase: state.phase,
    stop: state.stop,
    open: state.open,
    calls: state.calls.map((call) => call.state),
    llmCalls: state.llmCalls,
    records,
    lastEvent: root.lastEvent
  }
}

/** Whether nothing has changed, except the number of the last event. */
export const isSameMark = (one: StoredMark, other: StoredMark): boolean =>
  one.log === other.log && one.length === other.length && one.injections === other.injections &&
  one.stateChanges === other.stateChanges && one.phase === other.phase && one.stop === other.stop &&
  one.open === other.open && one.llmCalls === other.llmCalls && one.records === other.records &&
  one.calls.length === other.calls.length && one.calls.every((call, index) => call === other.calls[index])
