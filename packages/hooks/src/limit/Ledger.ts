/**
 * The accounts of budgets: what was spent, and what is reserved for calls that are running. Implement `Ledger` to store
 * accounts in a database.
 *
 * @since 0.1.0
 */
import { assertArguments, checked } from "@belay/core/ArgumentCheck"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/** The cost of calls. `money` is in pico-dollars (10^-12 dollars), as decimal digits. @category models @since 0.1.0 */
export interface Amount extends Schema.Schema.Type<typeof Amount> {}
/** @category schemas @since 0.1.0 */
export const Amount = Schema.Struct({
  money: Schema.String.check(Schema.isPattern(/^\d+$/)),
  tokens: Schema.Finite,
  calls: Schema.Finite
})

/**
 * A reservation for a running call: the amount, the hook that made it, and when, in milliseconds since the epoch.
 *
 * @category models
 * @since 0.1.0
 */
export interface Hold extends Schema.Schema.Type<typeof Hold> {}
/** @category schemas @since 0.1.0 */
export const Hold = Schema.Struct({ amount: Amount, holder: Schema.String, since: Schema.Finite })

/** The account of one limit. @category models @since 0.1.0 */
export interface Account extends Schema.Schema.Type<typeof Account> {}
/** @category schemas @since 0.1.0 */
export const Account = Schema.Struct({
  spent: Amount,
  /** Reservations by the id of the call. */
  holds: Schema.Record(Schema.String, Hold),
  /** How long calls of the account have worked, in milliseconds. */
  elapsedMs: Schema.Finite,
  /** The number of calls whose cost is an estimate, because the vendor did not report it. */
  estimated: Schema.Finite,
  /** The highest level that was reported to the `onBudget` hooks. */
  level: Schema.Literals(["none", "warn", "exceeded"])
})

/** The amount zero. @category constants @since 0.1.0 */
export const nothing: Amount = Object.freeze({ money: "0", tokens: 0, calls: 0 })

/** A new account. @category constants @since 0.1.0 */
export const empty: Account = Object.freeze({ spent: nothing, holds: {}, elapsedMs: 0, estimated: 0, level: "none" })

/** Stores accounts. @category models @since 0.1.0 */
export interface Ledger {
  /**
   * Reads an account, changes it and writes it as one transaction, and returns the first value that `change` returns.
   * An account that does not exist yet is `empty`.
   */
  readonly update: <A>(account: string, change: (before: Account) => readonly [A, Account]) => Effect.Effect<A, unknown>
}

/** Adds two amounts. @category combining @since 0.1.0 */
export const add = checked("Ledger.add", ["a", "b"], (a: Amount, b: Amount): Amount => {
  const money = Number(a.money) + Number(b.money)
  return {
    // Numbers are exact up to 9,000 dollars, and faster.
    money: money === 0 ? "0" : String(Number.isSafeInteger(money) ? money : BigInt(a.money) + BigInt(b.money)),
    tokens: a.tokens + b.tokens,
    calls: a.calls + b.calls
  }
})

/** Returns the sum of the spent and the reserved amounts. @category reading @since 0.1.0 */
export const total = checked(
  "Ledger.total",
  ["account"],
  (account: Account): Amount => add(account.spent, reserved(account))
)

/** Returns the sum of the reserved amounts, without the reservations in `except`. @category reading @since 0.1.0 */
export const reserved = checked(
  "Ledger.reserved",
  ["account"],
  ({ holds }: Account, except?: ReadonlySet<string>): Amount =>
    Object.keys(holds).reduce((sum, id) => except?.has(id) === true ? sum : add(sum, holds[id]!.amount), nothing)
)

/** Reserves an amount for a call. @category changing @since 0.1.0 */
export const hold = checked(
  "Ledger.hold",
  ["account", "id", "reservation"],
  (account: Account, id: string, reservation: Hold): Account => ({
    ...account,
    holds: { ...account.holds, [id]: reservation }
  })
)

/** Removes the reservation of a call that is not made. @category changing @since 0.1.0 */
export const release = checked("Ledger.release", ["account", "id"], (account: Account, id: string): Account => {
  return { ...account, holds: without(account.holds, id) }
})

const without = (holds: Account["holds"], id: string): Account["holds"] => {
  const others = Object.keys(holds).filter((one) => one !== id)
  return others.length === 0 ? noHolds : Object.fromEntries(others.map((one) => [one, holds[one]!]))
}

/** Most accounts have at most one reservation. */
const noHolds: Account["holds"] = Object.freeze({})

/**
 * Replaces the reservation of a call with what it cost. Does nothing when the call has no reservation, so that no call
 * is counted twice.
 *
 * @category changing
 * @since 0.1.0
 */
export const settle = checked(
  "Ledger.settle",
  ["account", "id", "amount", "isEstimate"],
  (account: Account, id: string, amount: Amount, isEstimate: boolean): Account => {
    if (!Object.hasOwn(account.holds, id)) return account
    return {
      ...account,
      holds: without(account.holds, id),
      spent: add(account.spent, amount),
      estimated: account.estimated + (isEstimate ? 1 : 0)
    }
  }
)

/**
 * Counts lost reservations as spent, because nobody knows what their calls cost.
 *
 * @category changing
 * @since 0.1.0
 */
export const reclaim = (account: Account, isLost: (hold: Hold, id: string) => boolean): Account => {
  assertArguments(typeof isLost === "function", "Ledger.reclaim", ["account", "isLost"], [account, isLost])
  let rest = account
  for (const [id, reservation] of holdsOf(account)) {
    if (isLost(reservation, id)) rest = settle(rest, id, reservation.amount, true)
  }
  return rest
}

const holdsOf = checked("Ledger.reclaim", ["account"], (account: Account) => Object.entries(account.holds))

/** Makes a ledger in memory, which is lost when the process ends. @category constructors @since 0.1.0 */
export const inMemory = (): Ledger => {
  const accounts = new Map<string, Account>()
  return {
    update: (id, change) =>
      Effect.sync(() => {
        const [result, after] = change(accounts.get(id) ?? empty)
        accounts.set(id, after)
        return result
      })
  }
}
