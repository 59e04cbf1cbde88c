/** Stores accounts of budgets and standing approvals. */
import type { RuleStore, StandingRule } from "@belay/core/Approvals"
import { empty, isAccount, isRule, type Ledger } from "../accounts.ts"
import { parse, storeError } from "../error.ts"
import { attempt } from "./attempt.ts"
import { type Database, one } from "./database.ts"

export const ledgerOf = (database: Database): Ledger => ({
  update: (id, change) =>
    attempt(database.path, () =>
      database.write(() => {
        const name = JSON.stringify(id)
        const text = one<string>(database.sql("SELECT account FROM accounts WHERE id = ?"), name)
        const before = text === undefined ? empty : parse(database.path, text)
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

export const rulesOf = (database: Database): RuleStore => ({
  load: attempt(
    database.path,
    () =>
      database.sql("SELECT rule FROM rules ORDER BY key").all().map((row): StandingRule => {
        const rule = parse(database.path, String(row["rule"]))
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
  add: ({ approvedBy, definition, fingerprint, hook, tool }) =>
    attempt(database.path, () =>
      database.write(() =>
        void database.sql("INSERT OR IGNORE INTO rules (rule) VALUES (?)")
          .run(JSON.stringify({ hook, tool, fingerprint, definition, approvedBy }))
      ))
})
