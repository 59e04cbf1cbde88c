/** What is left of limits, and the first one that is used up. */
import type { TurnInput } from "@belay/core/Turn"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Limit, Remaining, Source, SpentOptions } from "../Budget.ts"
import * as Ledger from "../Ledger.ts"
import { accountIn, accountOf } from "./budgetCharges.ts"
import { accounts } from "./budgetState.ts"
import { toDollars } from "./money.ts"

export const firstSpent = Effect.fnUntraced(function*({ ledger, limits }: SpentOptions, input: TurnInput) {
  const now = yield* Clock.currentTimeMillis
  for (const limit of limits) {
    const owner = limit.key?.(input)
    if (owner === undefined) continue
    const windowMs = limit.window === undefined ? undefined : Duration.toMillis(limit.window)
    const account = accountOf({ scope: limit.scope, windowMs }, owner, now)
    const kept = yield* accountIn(ledger, account)
    const left = leftOf(limit, kept, kept.spent)
    const used = (["money", "tokens", "calls"] as const).find((amount) => left[amount] === 0)
    if (used === undefined) continue
    const retryAfter = windowMs === undefined ? 3_600 : Math.ceil((windowMs - now % windowMs) / 1_000)
    return { why: `the limit of the ${limit.scope} is used up: ${limit[used]} ${units[used]}`, retryAfter }
  }
  return undefined
})

const units = { money: "US dollars", tokens: "tokens", calls: "model calls" }

export const leftOf = (
  { calls, money, scope, tokens }: Limit,
  account: Ledger.Account,
  used = Ledger.total(account)
): Remaining => {
  const left: { scope: string; money?: number; tokens?: number; calls?: number } = { scope }
  if (money !== undefined) left.money = Math.max(0, money - toDollars(BigInt(used.money)))
  if (tokens !== undefined) left.tokens = Math.max(0, tokens - used.tokens)
  if (calls !== undefined) left.calls = Math.max(0, calls - used.calls)
  return left
}

/** The remaining amounts of the limits that are stored with the conversation, by the index of the limit. */
export const localRemaining = (
  { state }: Source,
  limits: ReadonlyArray<Limit>,
  name: string
): ReadonlyArray<Remaining | undefined> => {
  const all = state.get(accounts(name))
  return limits.map((limit, index) =>
    limit.scope === "run" || limit.scope === "session"
      ? leftOf(limit, all[index]?.account ?? Ledger.empty)
      : undefined
  )
}
