/** Accounts of budgets and standing approvals, as every store decodes them. */
import { ToolDefinition } from "@belay/core/ToolDefinition"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

const Amount = Schema.Struct({
  money: Schema.String.check(Schema.isPattern(/^\d+$/)),
  tokens: Schema.Finite,
  calls: Schema.Finite
})

/**
 * What a budget has spent and reserved. The same as `Account` of `@belay/hooks/Ledger`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Account extends Schema.Schema.Type<typeof Account> {}
/** @category schemas @since 0.1.0 */
export const Account = Schema.Struct({
  spent: Amount,
  /** Reservations by the id of the call. */
  holds: Schema.Record(Schema.String, Schema.Struct({ amount: Amount, holder: Schema.String, since: Schema.Finite })),
  elapsedMs: Schema.Finite,
  estimated: Schema.Finite,
  level: Schema.Literals(["none", "warn", "exceeded"])
})

/**
 * Accounts that several processes can share. The same as `Ledger` of `@belay/hooks/Ledger`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Ledger {
  /**
   * Changes an account atomically: no other change, of this process or another, happens between reading and writing.
   */
  readonly update: <A>(account: string, change: (before: Account) => readonly [A, Account]) => Effect.Effect<A, unknown>
}

export const empty: Account = Object.freeze({
  spent: Object.freeze({ money: "0", tokens: 0, calls: 0 }),
  holds: {},
  elapsedMs: 0,
  estimated: 0,
  level: "none"
})

export const isAccount = Schema.is(Account)

export const isRule = Schema.is(
  Schema.Struct({
    hook: Schema.String,
    tool: Schema.String,
    fingerprint: Schema.optionalKey(Schema.String),
    definition: Schema.optionalKey(ToolDefinition),
    approvedBy: Schema.optionalKey(Schema.Array(Schema.String))
  })
)
