/** Stores accounts of budgets and standing approvals. */
import type { RuleStore, StandingRule } from "@belay/core/Approvals"
import { ToolDefinition } from "@belay/core/ToolDefinition"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { type Database, one, parse } from "./database.ts"
import { attempt, storeError } from "./error.ts"

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

const empty: Account = Object.freeze({
  spent: Object.freeze({ money: "0", tokens: 0, calls: 0 }),
  holds: {},
  elapsedMs: 0,
  estimated: 0,
  level: "none"
})

const isAccount = Schema.is(Account)

export const ledgerOf = (database: Database): Ledger => ({
  update: (id, change) =>
    attempt(database.path, () =>
      database.write(() => {
        const name = JSON.stringify(id)
        const text = one<string>(database.sql("SELECT account FROM accounts WHERE id = ?"), name)
        const before = text === undefined ? empty : parse(database, text)
        if (!isAccount(before)) {
          throw storeError(database.path, "corrupt", `account ${name} is not valid: restore it from a backup`)
        }
        const [answer, after] = change(before)
        if (after !== before) {
          database.sql(
            "INSERT INTO accounts (id, account) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET account = excluded.account"
          )
            .run(name, JSON.stringify(after))
        }
        return answer
      }))
})

const isRule = Schema.is(
  Schema.Struct({
    hook: Schema.String,
    tool: Schema.String,
    fingerprint: Schema.optionalKey(Schema.String),
    definition: Schema.optionalKey(ToolDefinition)
  })
)

export const rulesOf = (database: Database): RuleStore => ({
  load: attempt(
    database.path,
    () =>
      database.sql("SELECT rule FROM rules ORDER BY key").all().map((row): StandingRule => {
        const rule = parse(database, String(row["rule"]))
        // A standing approval that cannot be read is refused.
        if (!isRule(rule)) {
          throw storeError(
            database.path,
            "corrupt",
            "it has a standing approval that is not valid: restore it from a backup"
          )
        }
        return rule
      })
  ),
  add: ({ definition, fingerprint, hook, tool }) =>
    attempt(database.path, () =>
      database.write(() =>
        void database.sql("INSERT OR IGNORE INTO rules (rule) VALUES (?)")
          .run(JSON.stringify({ hook, tool, fingerprint, definition }))
      ))
})
