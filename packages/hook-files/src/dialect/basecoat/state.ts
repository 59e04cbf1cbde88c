/** The state that Base Coat hooks store with the conversation: the token budget, and counts of calls and failures. */
import type { HookContext } from "@belay/core/HookContext"
import * as HookState from "@belay/core/HookState"
import * as Schema from "effect/Schema"

export const Budget = Schema.Struct({ usedTokens: Schema.Finite, effectiveLimit: Schema.Finite })

/** Counts of tool calls, of failures (in total and by signature) and of session rotations. */
export const Tally = Schema.Struct({
  calls: Schema.Finite,
  failures: Schema.Finite,
  rotations: Schema.Finite,
  errors: Schema.Array(Schema.Struct({ signature: Schema.String, count: Schema.Finite, at: Schema.Finite }))
})

type Tally = typeof Tally.Type

export interface State {
  readonly budget: (ctx: HookContext) => typeof Budget.Type
  /** Stores the number of used tokens and the limit. A limit of 0 does not change the stored limit. */
  readonly noteBudget: (ctx: HookContext, used: number, limit: number) => void
  readonly tallies: HookState.StateKey<Tally>
  readonly tally: (ctx: HookContext) => Tally
  readonly updateTally: (ctx: HookContext, update: (tally: Tally) => Tally) => Tally
}

export const make = (name: string, effectiveLimit: number): State => {
  const budgets = HookState.key(`${name}/budget`, Budget, { usedTokens: 0, effectiveLimit })
  const tallies = HookState.key(`${name}/tally`, Tally, { calls: 0, failures: 0, rotations: 0, errors: [] })
  return {
    budget: ({ state }) => state.get(budgets),
    noteBudget: ({ state }, used, limit) =>
      state.set(budgets, {
        usedTokens: used,
        effectiveLimit: limit > 0 ? limit : state.get(budgets).effectiveLimit
      }),
    tallies,
    tally: ({ state }) => state.get(tallies),
    updateTally: ({ state }, update) => state.update(tallies, update)
  }
}

/** Returns how many times a failure has happened. */
export const recurrenceOf = ({ errors }: Tally, signature: string): number =>
  errors.find((error) => error.signature === signature)?.count ?? 0
