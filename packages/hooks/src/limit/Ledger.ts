/**
 * Where budgets are kept: an account for each scope, with what was spent and what is reserved for calls that are on
 * their way.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/** What a call costs: money in pico-dollars, as decimal digits. @category models @since 0.1.0 */
export interface Amount extends Schema.Schema.Type<typeof Amount> {}
/** @category schemas @since 0.1.0 */
export const Amount = Schema.Struct({
  money: Schema.String.check(Schema.isPattern(/^\d+$/)),
  tokens: Schema.Finite,
  calls: Schema.Finite
})

/** A reservation: how much, by whom, and since when (milliseconds since the epoch). @category models @since 0.1.0 */
export interface Hold extends Schema.Schema.Type<typeof Hold> {}
/** @category schemas @since 0.1.0 */
export const Hold = Schema.Struct({ amount: Amount, holder: Schema.String, since: Schema.Finite })

/** One account. @category models @since 0.1.0 */
export interface Account extends Schema.Schema.Type<typeof Account> {}
/** @category schemas @since 0.1.0 */
export const Account = Schema.Struct({
  spent: Amount,
  /** By the id of the call. */
  holds: Schema.Record(Schema.String, Hold),
  /** Milliseconds that were worked on it. */
  elapsedMs: Schema.Finite,
  /** Calls whose cost is an estimate, because nobody reported it. */
  estimated: Schema.Finite,
  /** How far its hooks were told of it. */
  level: Schema.Literals(["none", "warn", "exceeded"])
})

/** @category constants @since 0.1.0 */
export const nothing: Amount = Object.freeze({ money: "0", tokens: 0, calls: 0 })

/** A new account. @category constants @since 0.1.0 */
export const empty: Account = Object.freeze({ spent: nothing, holds: {}, elapsedMs: 0, estimated: 0, level: "none" })

/** @category models @since 0.1.0 */
export interface Ledger {
  /**
   * Changes an account at once: no other change comes between reading it and writing it. An account that is not there
   * yet is `empty`.
   */
  readonly update: <A>(account: string, change: (before: Account) => readonly [A, Account]) => Effect.Effect<A, unknown>
}

/** Adds two amounts. @category combining @since 0.1.0 */
export const add = (a: Amount, b: Amount): Amount => ({
  money: String(BigInt(a.money) + BigInt(b.money)),
  tokens: a.tokens + b.tokens,
  calls: a.calls + b.calls
})

/** What is spent and reserved. @category reading @since 0.1.0 */
export const committed = ({ holds, spent }: Account): Amount =>
  Object.values(holds).reduce((sum, { amount }) => add(sum, amount), spent)

/** Reserves an amount for a call. @category changing @since 0.1.0 */
export const hold = (account: Account, id: string, reservation: Hold): Account => ({
  ...account,
  holds: { ...account.holds, [id]: reservation }
})

/**
 * Puts what a call cost in place of what was reserved for it. A call that holds nothing any more was settled: nothing
 * is counted twice.
 *
 * @category changing
 * @since 0.1.0
 */
export const settle = (account: Account, id: string, amount: Amount, isEstimate: boolean): Account => {
  if (!Object.hasOwn(account.holds, id)) return account
  const { [id]: _held, ...holds } = account.holds
  return {
    ...account,
    holds,
    spent: add(account.spent, amount),
    estimated: account.estimated + (isEstimate ? 1 : 0)
  }
}

/**
 * Counts reservations of holders that are gone as spent: what became of their calls is not known.
 *
 * @category changing
 * @since 0.1.0
 */
export const reclaim = (account: Account, isGone: (hold: Hold) => boolean): Account =>
  Object.entries(account.holds).reduce(
    (left, [id, one]) => isGone(one) ? settle(left, id, one.amount, true) : left,
    account
  )

/** Makes a ledger that lives as long as the process. @category constructors @since 0.1.0 */
export const inMemory = (): Ledger => {
  const accounts = new Map<string, Account>()
  return {
    update: (id, change) =>
      Effect.sync(() => {
        const [answer, after] = change(accounts.get(id) ?? empty)
        accounts.set(id, after)
        return answer
      })
  }
}
