/** What a budget stores in the state of the conversation, for all of its agents. */
import * as HookState from "@belay/core/HookState"
import * as Schema from "effect/Schema"
import { ownedKey } from "../../internal/ownedKey.ts"
import * as Ledger from "../Ledger.ts"

/** An account, and the run or window that it is for. In another run or window the account starts again. */
const Entry = Schema.Struct({ span: Schema.String, account: Ledger.Account })

/** The accounts of a budget by the index of the limit. */
export const accounts: HookState.HookKey<{ readonly [index: string]: typeof Entry.Type }> = HookState.ownKey(
  "accounts",
  Schema.Record(Schema.String, Entry),
  {}
)

/** The accounts, for the budget that makes them. */
export const ownAccounts = ownedKey(accounts)

/** The owners of the shared accounts that the turn uses, by the index of the limit. */
export const owners: HookState.HookKey<{ readonly [index: string]: string }> = HookState.ownKey(
  "owners",
  Schema.Record(Schema.String, Schema.String),
  {}
)
