/** Lists the open questions of a turn and its sub-agents, and passes decisions to the calls. */
import type { AgentError } from "../../../data/AgentError.ts"
import * as RunState from "../../../data/RunState.ts"
import type { GuardTurn } from "../point/guardTurn.ts"
import { type RunningCall, update } from "../state/toolCallState.ts"
import type { Step } from "../state/yieldable.ts"
import { applyDecision } from "./askPerson.ts"

/** Returns the open questions. The id of a sub-agent's question is a path of the ids of the calls that lead to it. */
export const pendingOf = (calls: ReadonlyArray<RunningCall>): ReadonlyArray<RunState.PendingAsk> =>
  calls.flatMap(({ state, subAgent }) => {
    const { call, status } = state
    if (status !== "asked") return []
    if (subAgent === undefined) return RunState.pending({ calls: [state] })
    return subAgent.pending().map((inner) => ({ ...inner, callId: `${call.id}/${inner.callId}` }))
  })

/** Passes decisions to their calls, at any depth. */
export const applyDecisions = function*(
  turn: GuardTurn,
  decisions: { readonly [callId: string]: RunState.Decision }
): Step<void, AgentError> {
  for (const call of turn.state.calls) {
    const { id } = call.state.call
    if (Object.hasOwn(decisions, id)) yield* applyDecision(turn, call, decisions[id]!)
    const inner = Object.entries(decisions).flatMap(([key, decision]) =>
      key.startsWith(`${id}/`) ? [[key.slice(id.length + 1), decision] as const] : []
    )
    if (inner.length === 0 || (call.subAgent === undefined && call.state.child === undefined)) continue
    call.decisions = Object.fromEntries(inner)
    update(call, { type: "decide-inside" })
  }
}
