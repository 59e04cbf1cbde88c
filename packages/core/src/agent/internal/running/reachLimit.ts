/**
 * Ends a turn because it reached a limit. The limits of an agent count what it and its sub-agents do, at any depth.
 * When the turn is resumed after a limit, they start again from zero.
 */
import type * as Effect from "effect/Effect"
import { endTurn } from "../../../guard/internal/state/turnEnd.ts"
import type { TurnEnded } from "../../../guard/TurnEnded.ts"
import type { LimitedTurn } from "./turnParts.ts"

/** The limits that count the whole tree. */
type TreeLimit = "steps" | "toolCalls" | "failOpens"

export const reachLimit = (
  turn: LimitedTurn,
  limit: string,
  used: number,
  max: number,
  text = ""
): Effect.Effect<never, TurnEnded> => {
  turn.io.publish({ type: "limit", limit, used, max })
  return endTurn({ type: "limited", limit, used, max, text })
}

/** Counts for the agent and for every agent above it. */
export const countUse = (turn: LimitedTurn, limit: TreeLimit, count: number): void => {
  for (let at: LimitedTurn | undefined = turn; at !== undefined; at = at.parent) at.used[limit] += count
}

/** How much is left for the agent, by its own limit and by those of the agents above it. */
export const roomFor = (turn: LimitedTurn, limit: TreeLimit): number => {
  let room = Infinity
  for (let at: LimitedTurn | undefined = turn; at !== undefined; at = at.parent) {
    room = Math.min(room, at.agent.limits[limit] - at.used[limit])
  }
  return Math.max(0, room)
}

/** Returns the turn whose limit is reached: the highest one, because everything below it has to stop. */
export const overLimit = (turn: LimitedTurn, limit: TreeLimit): LimitedTurn | undefined => {
  let over: LimitedTurn | undefined
  for (let at: LimitedTurn | undefined = turn; at !== undefined; at = at.parent) {
    const { agent: { limits }, used } = at
    // The failures have happened, and as many as the limit says are allowed.
    if (limit === "failOpens" ? used[limit] > limits[limit] : used[limit] >= limits[limit]) over = at
  }
  return over
}

/** Ends the turn because this limit of `over` is reached, which is the turn itself or one above it. */
export const stopAtLimit = (
  turn: LimitedTurn,
  over: LimitedTurn,
  limit: TreeLimit
): Effect.Effect<never, TurnEnded> => {
  over.reached ??= { limit, used: over.used[limit], max: over.agent.limits[limit] }
  return stopIfReached(turn) ?? endTurn({ type: "parked" })
}

/**
 * Ends the turn if a limit of the agent or of one above it is reached. A turn below that agent stops like a parked one,
 * so that it continues when the run is resumed.
 */
export const stopIfReached = (turn: LimitedTurn): Effect.Effect<never, TurnEnded> | undefined => {
  let over: LimitedTurn | undefined
  for (let at: LimitedTurn | undefined = turn; at !== undefined; at = at.parent) if (at.reached !== undefined) over = at
  if (over === undefined) return undefined
  if (over !== turn) return endTurn({ type: "parked" })
  const { limit, max, used } = over.reached!
  return reachLimit(turn, limit, used, max)
}
