/** The limits of a budget, checked and ready to be compared with. */
import { ConfigError } from "@belay/core/AgentError"
import type { BudgetLevel } from "@belay/core/Compaction"
import type { TurnInput } from "@belay/core/Turn"
import type { Usage } from "@belay/core/Usage"
import * as Duration from "effect/Duration"
import * as Result from "effect/Result"
import type { Account, Amount } from "../Ledger.ts"
import { committed } from "../Ledger.ts"
import { dollars, pico, show } from "./money.ts"
import * as Prices from "./prices.ts"

/** One limit, as it is given. */
interface Given {
  readonly scope: string
  readonly key?: (input: TurnInput) => string | undefined
  readonly window?: Duration.Input
  readonly money?: number
  readonly tokens?: number
  readonly calls?: number
  readonly time?: Duration.Input
}

/** What numbers are read from. */
interface Numbers extends Partial<Prices.Price> {
  readonly limits: ReadonlyArray<Given>
  readonly prices?: { readonly [model: string]: Prices.Price }
  readonly warnAt?: number
  readonly exceededAt?: number
  readonly assumeOutputTokens?: number
  readonly lease?: Duration.Input
}

/** One limit, checked. */
export interface Rule {
  readonly index: number
  readonly scope: string
  /** Whether its account is kept with the conversation. */
  readonly isLocal: boolean
  readonly key: Given["key"]
  readonly windowMs: number | undefined
  readonly timeMs: number | undefined
  /** What is used up, if anything is. */
  readonly full: (used: Amount, elapsedMs: number) => { readonly limit: string; readonly used: string } | undefined
  /** The highest threshold that is passed, and of what. */
  readonly level: (account: Account, shares: Shares) => BudgetLevel | undefined
}

interface Shares {
  readonly warnAt: number
  readonly exceededAt: number
}

export interface Checked extends Shares {
  readonly rules: ReadonlyArray<Rule>
  /** Whether tokens or money matter at all. */
  readonly counts: boolean
  readonly hasMoney: boolean
  readonly leaseMs: number
  /** Pico-dollars of a call that was made, or why they are not known. */
  readonly cost: (usage: Usage, models: ReadonlyArray<string | undefined>) => bigint | string
  /** Pico-dollars of a call that is to be made: of the dearest model, when nobody says which will answer. */
  readonly estimate: (usage: Usage, model: string | undefined) => bigint | string
}

/** Checks every number, or says which one is wrong. */
export const check = (options: Numbers): Result.Result<Checked, ConfigError> => {
  const { assumeOutputTokens = 4_096, exceededAt = 0.8, lease = "15 minutes", limits, prices: table, warnAt = 0.7 } =
    options
  const { costPerCachedToken, costPerInputToken, costPerOutputToken } = options
  const prices = Prices.check({
    ...(table === undefined ? {} : { prices: table }),
    ...(costPerInputToken === undefined ? {} : { costPerInputToken }),
    ...(costPerOutputToken === undefined ? {} : { costPerOutputToken }),
    ...(costPerCachedToken === undefined ? {} : { costPerCachedToken })
  }, "budget")
  if (Result.isFailure(prices)) return Result.fail(prices.failure)
  if (!Array.isArray(limits) || limits.length === 0) return refuse("limits", "expected at least one limit")
  if (!(warnAt > 0 && warnAt <= 1)) return refuse("warnAt", `expected a share above 0, up to 1, found ${warnAt}`)
  if (!(exceededAt >= warnAt && exceededAt <= 1)) {
    return refuse("exceededAt", `expected a share from warnAt (${warnAt}) to 1, found ${exceededAt}`)
  }
  if (!isCount(assumeOutputTokens)) {
    return refuse("assumeOutputTokens", `expected a whole number of tokens, found ${assumeOutputTokens}`)
  }
  const rules: Array<Rule> = []
  for (const [index, limit] of limits.entries()) {
    const wrong = whyNot(limit)
    if (wrong !== undefined) return refuse(`limits[${index}]${wrong[0]}`, wrong[1])
    rules.push(ruleOf(limit, index))
  }
  const { all, priceOf } = prices.success
  return Result.succeed({
    rules,
    warnAt,
    exceededAt,
    counts: limits.some(({ money, tokens }) => money !== undefined || tokens !== undefined),
    hasMoney: limits.some(({ money }) => money !== undefined),
    leaseMs: Duration.toMillis(lease),
    cost: (usage, models) => Prices.costOf(usage, priceOf(models)),
    estimate: (usage, model) =>
      model !== undefined
        ? Prices.costOf(usage, priceOf([model]))
        : all.map((price) => Prices.costOf(usage, price)).reduce(
          (most, one) => typeof most === "string" || (typeof one !== "string" && one > most) ? one : most,
          "there are no prices" as bigint | string
        )
  })
}

const whyNot = ({ calls, key, money, scope, time, tokens, window }: Given): readonly [string, string] | undefined => {
  const isLocal = scope === "run" || scope === "session"
  if (typeof scope !== "string" || scope === "") {
    return [".scope", "expected run, session, user, tenant or another word"]
  }
  if (!isLocal && typeof key !== "function") {
    return [".key", `scope ${scope} needs a key: a function of the turn's input that says whose it is`]
  }
  if (isLocal && key !== undefined) return [".key", `scope ${scope} has no key: it belongs to the conversation`]
  if (scope === "run" && window !== undefined) return [".window", "a run has no window"]
  if (!isLocal && time !== undefined) return [".time", "time is limited for runs and sessions only"]
  if (money === undefined && tokens === undefined && calls === undefined && time === undefined) {
    return ["", "expected at least one of money, tokens, calls and time"]
  }
  if (money !== undefined && !(Number.isFinite(money) && money >= 0)) {
    return [".money", `expected US dollars, found ${money}`]
  }
  if (tokens !== undefined && !isCount(tokens)) return [".tokens", `expected a whole number, found ${tokens}`]
  if (calls !== undefined && !isCount(calls)) return [".calls", `expected a whole number, found ${calls}`]
  if (window !== undefined && !(Duration.toMillis(window) > 0)) return [".window", "expected a duration above 0"]
  return undefined
}

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0

const ruleOf = ({ calls, key, money, scope, time, tokens, window }: Given, index: number): Rule => {
  const most = money === undefined ? undefined : pico(money)
  const timeMs = time === undefined ? undefined : Duration.toMillis(time)
  return {
    index,
    scope,
    isLocal: scope === "run" || scope === "session",
    key,
    windowMs: window === undefined ? undefined : Duration.toMillis(window),
    timeMs,
    full: (used, elapsedMs) => {
      if (most !== undefined && BigInt(used.money) >= most) return { limit: show(most), used: show(BigInt(used.money)) }
      if (tokens !== undefined && used.tokens >= tokens) return { limit: `${tokens} tokens`, used: String(used.tokens) }
      if (calls !== undefined && used.calls >= calls) return { limit: `${calls} calls`, used: String(used.calls) }
      return timeMs !== undefined && elapsedMs >= timeMs
        ? { limit: `${timeMs} ms`, used: `${Math.round(elapsedMs)} ms` }
        : undefined
    },
    level: (account, { exceededAt, warnAt }) => {
      const used = committed(account)
      const parts: ReadonlyArray<readonly [BudgetLevel["kind"], number, number | undefined]> = [
        ["money", dollars(BigInt(used.money)), money],
        ["tokens", used.tokens, tokens],
        ["calls", used.calls, calls],
        ["time", account.elapsedMs, timeMs]
      ]
      const passed = parts.flatMap(([kind, amount, limit]) =>
        limit === undefined || amount < limit * warnAt
          ? []
          : [{ kind, used: amount, limit, share: limit === 0 ? 1 : amount / limit }]
      ).sort((a, b) => b.share - a.share)[0]
      return passed === undefined
        ? undefined
        : {
          level: passed.share >= exceededAt ? "exceeded" : "warn",
          kind: passed.kind,
          scope,
          used: passed.used,
          limit: passed.limit
        }
    }
  }
}

const refuse = (key: string, why: string): Result.Result<never, ConfigError> =>
  Result.fail(new ConfigError({ key: `budget.${key}`, message: `budget.${key}: ${why}` }))
