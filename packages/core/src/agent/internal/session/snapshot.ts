/** From JSON back to a turn. */
import type * as RunState from "../../../data/RunState.ts"
import type { Resolved } from "../config/resolvedAgent.ts"
import { type Origin, Turn } from "../turn/turn.ts"
import type { Session } from "./session.ts"

/** Restores a turn from its state. */
export const restore = (host: Resolved, session: Session, state: RunState.RunState, origin?: Origin): Turn => {
  const turn = new Turn(host, session, state.input, state.turnNumber, origin)
  turn.stepNumber = state.stepNumber
  turn.phase = state.phase
  turn.open = state.open
  turn.calls = state.calls.map(({ child, settled, ...call }) => ({
    ...call,
    ...(settled === undefined ? {} : { settled: [...settled] }),
    ...(child === undefined ? {} : { child: child as unknown as RunState.RunState })
  }))
  for (const { id } of state.open?.toolCalls ?? []) session.ids.add(id)
  turn.usage = state.usage
  turn.llmCalls = state.counts.llmCalls
  turn.toolCalls = state.counts.toolCalls
  turn.followUpCount = state.counts.followUps
  turn.elapsedBefore = state.counts.elapsedMs
  return turn
}
