/** `ctx.reportBudget`: tells the `onBudget` hooks how much of a budget is used up. */
import * as Effect from "effect/Effect"
import type { BudgetLevel } from "../../../data/Compaction.ts"
import type { Abort } from "../../../hook/HookAction.ts"
import { askHooks } from "../turn/askHooks.ts"
import type { Turn } from "../turn/turn.ts"

/** Gives back the Abort of a hook that wants the turn to end. */
export const reportBudget = (turn: Turn, level: BudgetLevel): Effect.Effect<Abort | undefined> =>
  Effect.gen(function*() {
    // Inside a call that a hook makes, the hooks of the agent are told, not those of the call.
    const outcome = yield* askHooks(turn.hookTurn ?? turn, "onBudget", level)
    return outcome?.action._tag === "Abort" ? outcome.action : undefined
  })
