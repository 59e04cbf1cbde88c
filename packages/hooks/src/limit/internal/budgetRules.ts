/** Compiles the options of a budget into rules that accounts are compared with. */
import type { ConfigError } from "@belay/core/AgentError"
import type { BudgetLevel } from "@belay/core/Compaction"
import { checkOptions, type Expectation, invalidOption, whole, within } from "@belay/core/OptionCheck"
import type { TurnInput } from "@belay/core/Turn"
import type { Usage } from "@belay/core/Usage"
import * as Duration from "effect/Duration"
import * as Result from "effect/Result"
import { type Account, type Amount, reserved } from "../Ledger.ts"
import { formatDollars, toDollars, toPico } from "./money.ts"
import { compilePrices, costOf, type PriceOptions, type PriceTable } from "./prices.ts"

/** One limit of the options. */
interface LimitOptions {
  readonly scope: string
  readonly key?: (input: TurnInput) => string | undefined
  readonly window?: Duration.Input
  readonly money?: number
  readonly tokens?: number
  readonly calls?: number
  readonly time?: Duration.Input
}

interface BudgetOptions extends PriceOptions {
  readonly limits: ReadonlyArray<LimitOptions>
  readonly warnAt?: number
  readonly exceededAt?: number
  readonly assumeOutputTokens?: number
  readonly lease?: Duration.Input
}

/** A compiled limit. */
export interface Rule {
  readonly index: number
  readonly scope: string
  /** The account is kept in the state of the conversation, not in the ledger. */
  readonly isLocal: boolean
  readonly key: LimitOptions["key"]
  readonly windowMs: number | undefined
  readonly timeMs: number | undefined
  /** The part of the limit that is used up; `undefined` when another call may be made. */
  readonly exhausted: (used: Amount, elapsedMs: number) => Part["kind"] | undefined
  /** Describes a part of the limit that is used up, and the option with which it can be raised. */
  readonly describe: (part: Part["kind"], account: Account, elapsedMs: number) => string
  /** The highest threshold that is passed, of the part that is used the most. */
  readonly level: (account: Account, thresholds: Thresholds) => BudgetLevel | undefined
}

/** Shares of a limit at which the `onBudget` hooks are called. */
interface Thresholds {
  readonly warnAt: number
  readonly exceededAt: number
}

/** Compiled options. */
export interface BudgetRules extends Thresholds {
  readonly rules: ReadonlyArray<Rule>
  /** Whether a limit is on tokens or money, which have to be estimated before a call. */
  readonly limitsTokens: boolean
  readonly limitsMoney: boolean
  readonly leaseMs: number
  /** The cost of a call that was made, in pico-dollars, or why it is not known. */
  readonly cost: (usage: Usage, models: ReadonlyArray<string | undefined>) => bigint | string
  /** The cost of a call before it is made. Without a model, the price of the most expensive model counts. */
  readonly estimate: (usage: Usage, model: string | undefined) => bigint | string
}

/** Compiles options. Fails with a `ConfigError` for the first one that is not valid. */
export const compileBudget = (options: BudgetOptions): Result.Result<BudgetRules, ConfigError> =>
  Result.gen(function*() {
    const { assumeOutputTokens, exceededAt = 0.8, lease = "15 minutes", limits, warnAt = 0.7 } = options
    const prices = yield* compilePrices(options, "budget")
    yield* checkOptions(
      "budget",
      ["limits", limits ?? null, (all: unknown) => Array.isArray(all) && all.length > 0, "at least one limit"],
      ["warnAt", warnAt, (share: number) => share > 0 && share <= 1, "a number above 0, up to 1"],
      within("exceededAt", exceededAt, warnAt, 1),
      whole("assumeOutputTokens", assumeOutputTokens)
    )
    for (const [index, limit] of limits.entries()) yield* checkLimit(limit, `limits[${index}]`)
    return {
      rules: limits.map(compileRule),
      warnAt,
      exceededAt,
      limitsTokens: limits.some(({ money, tokens }) => money !== undefined || tokens !== undefined),
      limitsMoney: limits.some(({ money }) => money !== undefined),
      leaseMs: Duration.toMillis(lease),
      cost: (usage, models) => costOf(usage, prices.priceOf(models)),
      estimate: (usage, model) =>
        model === undefined ? highestCost(usage, prices) : costOf(usage, prices.priceOf([model]))
    }
  })

const highestCost = (usage: Usage, { all }: PriceTable): bigint | string => {
  let highest: bigint | string = "there are no prices"
  for (const price of all) {
    const cost = costOf(usage, price)
    if (typeof highest === "string" || (typeof cost !== "string" && cost > highest)) highest = cost
  }
  return highest
}

const checkLimit = (limit: LimitOptions, path: string): Result.Result<void, ConfigError> => {
  const { calls, key, money, scope, time, tokens, window } = limit
  const isLocal = scope === "run" || scope === "session"
  const invalid = (option: string, problem: string) => invalidOption(`budget.${path}${option}`, problem)
  if (typeof scope !== "string" || scope === "") {
    return invalid(".scope", "expected run, session, user, tenant or another name")
  }
  if (!isLocal && typeof key !== "function") {
    return invalid(".key", `the scope ${scope} needs a key: a function from the turn's input to the account's owner`)
  }
  if (isLocal && key !== undefined) return invalid(".key", `the scope ${scope} has no key; remove it`)
  if (scope === "run" && window !== undefined) return invalid(".window", "the scope run has no window; remove it")
  if (!isLocal && time !== undefined) return invalid(".time", "time can be limited for the scopes run and session only")
  if (money === undefined && tokens === undefined && calls === undefined && time === undefined) {
    return invalid("", "expected at least one of money, tokens, calls and time")
  }
  const isPositive: Expectation = [
    `${path}.window`,
    window,
    (duration: Duration.Input) => Duration.toMillis(duration) > 0,
    "a duration above 0"
  ]
  return checkOptions(
    "budget",
    within(`${path}.money`, money, 0),
    whole(`${path}.tokens`, tokens),
    whole(`${path}.calls`, calls),
    isPositive
  )
}

const compileRule = (limit: LimitOptions, index: number): Rule => {
  const { calls, key, money, scope, time, tokens, window } = limit
  const maxPico = money === undefined ? undefined : toPico(money)
  const timeMs = time === undefined ? undefined : Duration.toMillis(time)
  const limits: ReadonlyArray<readonly [Part["kind"], number | undefined, Part["used"]]> = [
    ["money", money, ({ spent }) => toDollars(BigInt(spent.money))],
    ["tokens", tokens, ({ spent }) => spent.tokens],
    ["calls", calls, ({ spent }) => spent.calls],
    ["time", timeMs, ({ elapsedMs }) => elapsedMs]
  ]
  const parts = limits.flatMap(([kind, most, used]): ReadonlyArray<Part> =>
    most === undefined ? [] : [{ kind, limit: most, used }]
  )
  return {
    index,
    scope,
    isLocal: scope === "run" || scope === "session",
    key,
    windowMs: window === undefined ? undefined : Duration.toMillis(window),
    timeMs,
    exhausted: (used, elapsedMs) => {
      if (maxPico !== undefined && BigInt(used.money) >= maxPico) return "money"
      if (tokens !== undefined && used.tokens >= tokens) return "tokens"
      if (calls !== undefined && used.calls >= calls) return "calls"
      return timeMs !== undefined && elapsedMs >= timeMs ? "time" : undefined
    },
    describe: (part, account, elapsedMs) => {
      const max = part === "money"
        ? formatDollars(maxPico!)
        : part === "time"
        ? `${timeMs} ms`
        : `${limit[part]} ${part}`
      const amount = (used: Amount) =>
        part === "money" ? formatDollars(BigInt(used.money)) : String(used[part as "calls"])
      const used = part === "time"
        ? `${Math.round(elapsedMs)} ms`
        : `${amount(account.spent)} spent, ${amount(reserved(account))} reserved by running calls`
      return `the ${scope} budget of ${max} is used up: ${used}. Raise limits[${index}].${part} of the budget to ` +
        "allow more"
    },
    level: (account, thresholds) => highestLevel(scope, thresholds, parts, account)
  }
}

/** One part of a limit. */
interface Part {
  readonly kind: BudgetLevel["kind"]
  readonly limit: number
  /** How much of it an account has used. */
  readonly used: (account: Account) => number
}

const highestLevel = (
  scope: string,
  { exceededAt, warnAt }: Thresholds,
  parts: ReadonlyArray<Part>,
  account: Account
): BudgetLevel | undefined => {
  let highest: { readonly level: BudgetLevel; readonly share: number } | undefined
  for (const { kind, limit, used: usedBy } of parts) {
    const used = usedBy(account)
    if (used < limit * warnAt) continue
    const share = limit === 0 ? 1 : used / limit
    if (highest !== undefined && share <= highest.share) continue
    highest = { share, level: { level: share >= exceededAt ? "exceeded" : "warn", kind, scope, used, limit } }
  }
  return highest?.level
}
