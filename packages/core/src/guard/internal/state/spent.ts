/** What a turn and the sub-agents that work for it have spent. */
import { childOf, type RunState } from "../../../data/RunState.ts"
import * as Usage from "../../../data/Usage.ts"
import { CostMeter, type Spent, storedCost } from "./costMeter.ts"
import type { RunningCall } from "./toolCallState.ts"
import type { TurnState } from "./turnState.ts"

/**
 * Returns what a turn has spent, with sub-agents that still run or wait. Those that have ended are in its state.
 * `others` is what sub-agents have spent for which no call is open.
 */
export const spentBy = ({ calls, cost, usage }: TurnState, others: ReadonlyArray<Spent> = []): Spent => {
  const inside = [...others, ...calls.flatMap((call) => spentByCall(call) ?? [])]
  if (inside.length === 0) return { usage, cost: cost.read() }
  const all = new CostMeter(cost.read())
  for (const one of inside) all.add(one.cost)
  return { usage: inside.reduce((sum, one) => Usage.add(sum, one.usage), usage), cost: all.read() }
}

const spentByCall = ({ state, subAgent }: RunningCall): Spent | undefined => {
  if (state.status === "done") return undefined
  if (subAgent !== undefined) return subAgent.spent()
  const child = childOf(state)
  return child === undefined ? undefined : spentByStored(child)
}

/** The same for a sub-agent that waits since another process. */
const spentByStored = (stored: RunState): Spent => {
  const { calls, usage } = stored
  const inside = calls.flatMap((call) => spentByCall({ state: call }) ?? [])
  const all = new CostMeter(storedCost(stored))
  for (const one of inside) all.add(one.cost)
  return { usage: inside.reduce((sum, one) => Usage.add(sum, one.usage), usage), cost: all.read() }
}

/** Adds what the sub-agents of open calls have spent to the state, before these calls are dropped. */
export const keepSpent = (state: TurnState): void => {
  for (const call of state.calls) {
    const spent = spentByCall(call)
    if (spent !== undefined) addSpent(state, spent)
  }
}

/** Adds what a sub-agent has spent to the state of a turn. */
export const addSpent = (state: TurnState, { cost, usage }: Spent): void => {
  state.usage = Usage.add(state.usage, usage)
  state.cost.add(cost)
}
