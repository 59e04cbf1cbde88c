/** The options of a budget, as their check knows them. */
import { checkOptions, type OptionKinds, optionsIn } from "@belay/core/OptionCheck"
import * as Result from "effect/Result"
import * as HookDefaults from "../../HookDefaults.ts"
import type { Limit, Options, Source } from "../Budget.ts"
import { priceTable } from "./prices.ts"

export const checkSource = (source: Source): void =>
  Result.getOrThrow(checkOptions("budget.remaining", [
    "session",
    source ?? null,
    (one: Partial<Source>) => typeof one?.state?.get === "function",
    "a session of an agent, or the context of a hook"
  ]))

const limitKinds: OptionKinds<Limit> = {
  scope: "text",
  key: "function",
  window: "duration",
  money: "number",
  tokens: "number",
  calls: "number",
  time: "duration"
}

export const optionKinds: HookDefaults.OwnKinds<Options> = {
  limits: optionsIn<Limit>("list", limitKinds, ["scope"]),
  prices: priceTable,
  warnAt: "number",
  exceededAt: "number",
  onLimit: "text",
  onUnknownPrice: "text",
  assumeOutputTokens: "number",
  tokenizer: "object",
  ledger: "object",
  lease: "any",
  costPerInputToken: "number",
  costPerOutputToken: "number",
  costPerCachedToken: "number",
  costPerCacheWriteToken: "number"
}
