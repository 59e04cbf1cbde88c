/** `ctx.reportBudget`: reports to the `onBudget` hooks how much of a budget is used up. */
import * as Effect from "effect/Effect"
import type { BudgetLevel } from "../../../data/Compaction.ts"
import type { Awaitable } from "../../../data/effect/Awaitable.ts"
import type { Abort } from "../../../hook/HookAction.ts"
import { askHooks } from "../point/askHooks.ts"
import type { GuardTurn } from "../point/guardTurn.ts"
import { awaitable } from "./runPromise.ts"

/** Returns the Abort of a hook that wants to end the turn. */
export const reportBudget = (turn: GuardTurn, level: BudgetLevel): Awaitable<Abort | undefined> =>
  awaitable(
    turn,
    Effect.gen(function*() {
      // For a call that a hook makes, the report goes to the hooks of the agent, not to those of the call.
      const outcome = yield* askHooks(turn.hookTurn ?? turn, "onBudget", level)
      return outcome?.action._tag === "Abort" ? outcome.action : undefined
    })
  )
