/** Runs the `preStop` hooks, before the turn ends. */
import type { Message } from "../../../data/Message.ts"
import type { PreStopEvent } from "../../../hook/HookPoint.ts"
import type { TurnEnded } from "../../TurnEnded.ts"
import { abortOf } from "../state/turnEnd.ts"
import type { Step } from "../state/yieldable.ts"
import { askHooks } from "./askHooks.ts"
import type { GuardTurn } from "./guardTurn.ts"

/** What the hooks decide before the turn ends. */
export interface BeforeStop {
  /** The history that a hook rewrote, and its name. */
  readonly rewritten?: { readonly messages: ReadonlyArray<Message>; readonly by: string }
  /** The message with which the agent goes on. Absent if it stops. */
  readonly followUp?: string
}

export const askBeforeStop = function*(turn: GuardTurn, event: PreStopEvent): Step<BeforeStop, TurnEnded> {
  const { scope } = turn
  scope.followUps = []
  const outcome = yield* askHooks(turn, "preStop", event)
  const abort = abortOf(outcome)
  if (abort !== undefined) return yield* abort
  return {
    ...(outcome?.by === undefined ? {} : { rewritten: { messages: outcome.event.messages, by: outcome.by } }),
    ...(scope.followUps.length === 0 ? {} : { followUp: scope.followUps.join("\n\n") })
  }
}
