/** Ends a turn because it reached a limit. When it is resumed, the limits start again from zero. */
import type * as Effect from "effect/Effect"
import type { TurnEnded } from "../../TurnEnded.ts"
import type { Turn } from "../turn/turn.ts"
import { endTurn } from "./turnEnd.ts"

export const reachLimit = (
  turn: Turn,
  limit: string,
  used: number,
  max: number,
  text = ""
): Effect.Effect<never, TurnEnded> => {
  turn.io.publish({ type: "limit", limit, used, max })
  return endTurn({ type: "limited", limit, used, max, text })
}
