/** What a budget stores in the state of the conversation, for all of its agents. */
import * as HookState from "@belay/core/HookState"
import * as Schema from "effect/Schema"
import * as Ledger from "../Ledger.ts"

/** An account, and the run or window that it is for. In another run or window the account starts again. */
const Entry = Schema.Struct({ span: Schema.String, account: Ledger.Account })

/** Accounts by the name of the hook and the index of the limit (`budget/0`). */
export const accounts: HookState.StateKey<{ readonly [index: string]: typeof Entry.Type }> = HookState.key(
  "budget/accounts",
  Schema.Record(Schema.String, Entry),
  {}
)

/** The owners of the shared accounts that the turn uses, by the same names. */
export const owners: HookState.StateKey<{ readonly [index: string]: string }> = HookState.key(
  "budget/keys",
  Schema.Record(Schema.String, Schema.String),
  {}
)
