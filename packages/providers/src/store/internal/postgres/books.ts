/** Stores accounts of budgets and standing approvals. */
import type { RuleStore, StandingRule } from "@belay/core/Approvals"
import * as Effect from "effect/Effect"
import { empty, isAccount, isRule, type Ledger } from "../accounts.ts"
import { parse, storeError } from "../error.ts"
import type { Database } from "./database.ts"

export const ledgerOf = ({ address, schema: s, transaction }: Database): Ledger => ({
  update: (id, change) =>
    transaction((query) =>
      Effect.gen(function*() {
        const name = JSON.stringify(id)
        // The row is locked, also if it is new, until the end of the transaction.
        const [row] = yield* query(
          `INSERT INTO ${s}.accounts (id) VALUES ($1) ON CONFLICT (id) DO UPDATE SET id = excluded.id RETURNING ` +
            "account",
          name
        )
        const text = row?.["account"]
        const before = typeof text === "string" ? parse(address, text) : empty
        if (!isAccount(before)) {
          return yield* storeError(address, "corrupt", `account ${name} is not valid: restore it from a backup`)
        }
        const [answer, after] = change(before)
        if (after !== before) {
          yield* query(`UPDATE ${s}.accounts SET account = $2 WHERE id = $1`, name, JSON.stringify(after))
        }
        return answer
      })
    )
})

export const rulesOf = ({ address, schema: s, use }: Database): RuleStore => ({
  load: use(
    (query) =>
      Effect.flatMap(
        query(`SELECT rule FROM ${s}.rules ORDER BY key`),
        (rows) =>
          Effect.forEach(rows, ({ rule: text }): Effect.Effect<StandingRule, unknown> => {
            const rule = parse(address, String(text))
            // A standing approval that cannot be read is refused.
            return isRule(rule) ? Effect.succeed(rule) : storeError(
              address,
              "corrupt",
              "it has a standing approval that is not valid: restore it from a backup"
            )
          })
      ),
    { mayRepeat: true }
  ),
  add: ({ approvedBy, definition, fingerprint, hook, tool }) =>
    use((query) =>
      Effect.asVoid(query(
        `INSERT INTO ${s}.rules (rule) VALUES ($1) ON CONFLICT (rule) DO NOTHING`,
        JSON.stringify({ hook, tool, fingerprint, definition, approvedBy })
      )), { mayRepeat: true })
})
