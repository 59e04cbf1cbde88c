/**
 * Limits money, tokens, model calls and time, per run, session, user or tenant. The cost of every model call is
 * reserved before the call. This includes the calls of sub-agents, retries, fallbacks, compaction and hooks.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import { assertArguments } from "@belay/core/ArgumentCheck"
import * as Awaitable from "@belay/core/Awaitable"
import type * as HookState from "@belay/core/HookState"
import { checkOptions, type OptionKinds, optionsIn } from "@belay/core/OptionCheck"
import type { Tokenizer } from "@belay/core/Tokenizer"
import type { TurnInput } from "@belay/core/Turn"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as HookDefaults from "../HookDefaults.ts"
import { withoutUndefined } from "../internal/withoutUndefined.ts"
import { BudgetAccounts } from "./internal/budgetAccounts.ts"
import { accountIn, accountOf } from "./internal/budgetCharges.ts"
import { compileBudget } from "./internal/budgetRules.ts"
import { accounts as accountsKey, owners } from "./internal/budgetState.ts"
import { toDollars } from "./internal/money.ts"
import type { Price } from "./internal/prices.ts"
import { priceTable } from "./internal/prices.ts"
import * as Ledger from "./Ledger.ts"

/**
 * A limit, and who shares it. At least one of `money`, `tokens`, `calls` and `time` is required.
 *
 * @category models
 * @since 0.1.0
 */
export interface Limit {
  /**
   * Who shares the limit. `run`: one turn of the agent that the host started, with its sub-agents. `session`: its
   * conversation. Any other name, such as `user` or `tenant`: all sessions for which `key` returns the same text.
   */
  readonly scope: "run" | "session" | "user" | "tenant" | (string & {})
  /**
   * Returns the owner of the account, such as the id of a user. `undefined` means that the limit does not hold for the
   * turn. Required for all scopes but `run` and `session`.
   */
  readonly key?: (input: TurnInput) => string | undefined
  /**
   * The account starts again whenever this duration has passed, counted from the epoch: `"1 day"` starts at midnight
   * UTC. Not for the scope `run`. Default: never.
   */
  readonly window?: Duration.Input
  /** The most that may be spent, in US dollars. Default no limit. */
  readonly money?: number
  /** The most input and output tokens together. Default no limit. */
  readonly tokens?: number
  /** The most model calls, with retries. Default no limit. */
  readonly calls?: number
  /**
   * The longest time from the first model call on. Time during which no process runs the session does not count. Only
   * for the scopes `run` and `session`. Default no limit.
   */
  readonly time?: Duration.Input
}

/**
 * Options of `Budget.make`. The prices of `Price` beside `prices` hold for all models that are not in the table.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options extends HookDefaults.HookDefaults, Partial<Price> {
  /** The limits, at least one. A call must be below all of them. */
  readonly limits: ReadonlyArray<Limit>
  /** Prices by the name of the model, as the vendor reports it or as it was requested. Default none. */
  readonly prices?: { readonly [model: string]: Price }
  /** The share of a limit at which `onBudget` hooks are called with the level `warn`. Default 0.7. */
  readonly warnAt?: number
  /**
   * The share of a limit at which they are called with the level `exceeded`. Default 0.8, which leaves room to finish
   * the work.
   */
  readonly exceededAt?: number
  /**
   * What happens to a call that exceeds a limit: the turn fails (`reject`), or ends with the reason as its last message
   * (`abort`). Default `reject`.
   */
  readonly onLimit?: "reject" | "abort"
  /**
   * With a limit on money, what happens to a call of a model without a price: it is stopped (`stop`), or only its calls
   * and tokens count (`count`). Default `stop`.
   */
  readonly onUnknownPrice?: "stop" | "count"
  /** Output tokens that are reserved for a request without `maxTokens`. Default 4,096. */
  readonly assumeOutputTokens?: number
  /** Counts tokens before a call. Default: one token for four characters. */
  readonly tokenizer?: Tokenizer
  /**
   * Stores the accounts of all scopes except `run` and `session`, which are stored with the conversation. Default: in
   * memory.
   */
  readonly ledger?: Ledger.Ledger
  /**
   * How long a reservation in the ledger may be open. After that its call counts as lost, and the reserved amount as
   * spent. Default `"15 minutes"`.
   */
  readonly lease?: Duration.Input
}

/**
 * Accounts of the conversation, by the name of the hook and the index of the limit (`budget/0`). They are in
 * `ctx.state`, so all agents of a tree share them.
 *
 * @category state
 * @since 0.1.0
 */
export const accounts = accountsKey

/** The remaining amounts of a limit. An absent amount has no limit. @category models @since 0.1.0 */
export interface Remaining {
  readonly scope: string
  readonly money?: number
  readonly tokens?: number
  readonly calls?: number
}

/** A session, a promise session, or the context of a hook. @category models @since 0.1.0 */
export interface Source {
  readonly state: Pick<HookState.HookState, "get">
}

/**
 * Options of `Budget.remaining` for limits that are stored in a ledger. The options of `Budget.make` are such options
 * too.
 *
 * @category models
 * @since 0.1.0
 */
export interface RemainingOptions {
  readonly limits: ReadonlyArray<Limit>
  /** Without it, only the limits with the scopes `run` and `session` are returned. */
  readonly ledger?: Ledger.Ledger
  /** The name of the hook. Default `budget`. */
  readonly name?: string
}

/**
 * Returns the remaining amounts of limits, in their order: the limit without what is spent and what running calls have
 * reserved.
 *
 * With a list of limits, those with the scopes `run` and `session` are returned at once. Pass the name of the hook if
 * it is not `budget`. With options, such as those of the budget, the limits of all scopes that hold for the session are
 * returned as an Effect that can also be awaited. It fails if the ledger fails.
 *
 * @example
 * ```ts
 * import type { AgentSession } from "@belay/core/createAgent"
 * import * as Budget from "@belay/hooks/Budget"
 * import * as Ledger from "@belay/hooks/Ledger"
 *
 * declare const session: AgentSession
 * const limits: ReadonlyArray<Budget.Limit> = [{ scope: "session", money: 5 }]
 * console.log(Budget.remaining(session, limits)[0]?.money)
 *
 * const options = { limits, ledger: Ledger.inMemory() }
 * console.log((await Budget.remaining(session, options))[0]?.money)
 * ```
 * @category reading
 * @since 0.1.0
 */
export function remaining(source: Source, limits: ReadonlyArray<Limit>, name?: string): ReadonlyArray<Remaining>
export function remaining(
  source: Source,
  options: RemainingOptions
): Awaitable.Awaitable<ReadonlyArray<Remaining>, unknown>
export function remaining(
  source: Source,
  given: ReadonlyArray<Limit> | RemainingOptions,
  hook = "budget"
): ReadonlyArray<Remaining> | Awaitable.Awaitable<ReadonlyArray<Remaining>, unknown> {
  checkSource(source)
  if (isList(given)) return localRemaining(source, given, hook).filter((one) => one !== undefined)
  const { ledger, limits, name = "budget" } = given
  return Awaitable.make(Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    const ownerOf = source.state.get(owners(name))
    const local = localRemaining(source, limits, name)
    const all: Array<Remaining> = []
    for (const [index, limit] of limits.entries()) {
      const owner = ownerOf[index]
      if (local[index] !== undefined) all.push(local[index])
      else if (owner !== undefined && ledger !== undefined) {
        const windowMs = limit.window === undefined ? undefined : Duration.toMillis(limit.window)
        const account = accountOf({ scope: limit.scope, windowMs }, owner, now)
        all.push(leftOf(limit, yield* accountIn(ledger, account)))
      }
    }
    return all
  }))
}

/** What `spent` reads. The options of `Budget.make` are such options too. @category models @since 0.1.0 */
export interface SpentOptions {
  readonly limits: ReadonlyArray<Limit>
  readonly ledger: Ledger.Ledger
}

/** A limit that is used up. @category models @since 0.1.0 */
export interface Spent {
  /** Which limit it is, for the person who has to wait. */
  readonly why: string
  /** In how many seconds its window ends. Without a window: an hour, because somebody has to raise the limit. */
  readonly retryAfter: number
}

/**
 * Returns the first limit that is used up for a turn with this input, among those that are stored in the ledger. So a
 * program can refuse a request before its turn begins. What is only reserved counts for nothing.
 *
 * @example
 * ```ts
 * import * as Budget from "@belay/hooks/Budget"
 * import * as Ledger from "@belay/hooks/Ledger"
 *
 * const ledger = Ledger.inMemory()
 * const limits: ReadonlyArray<Budget.Limit> = [
 *   { scope: "user", key: ({ metadata }) => String(metadata?.["principal"]), money: 5, window: "1 day" }
 * ]
 * export const mayBegin = (principal: string) =>
 *   Budget.spent({ limits, ledger }, { message: "", metadata: { principal } })
 * ```
 * @category reading
 * @since 0.1.0
 */
export const spent = (options: SpentOptions, input: TurnInput): Awaitable.Awaitable<Spent | undefined, unknown> => {
  const { ledger, limits } = Object(options) as Partial<SpentOptions>
  const areRight = Array.isArray(limits) && typeof ledger?.update === "function" && typeof input === "object" &&
    input !== null
  assertArguments(areRight, "Budget.spent", ["options", "input"], [options, input])
  return Awaitable.make(firstSpent(options, input))
}

const firstSpent = Effect.fnUntraced(function*({ ledger, limits }: SpentOptions, input: TurnInput) {
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

const isList = (given: ReadonlyArray<Limit> | RemainingOptions): given is ReadonlyArray<Limit> => Array.isArray(given)

const checkSource = (source: Source): void =>
  Result.getOrThrow(checkOptions("budget.remaining", [
    "session",
    source ?? null,
    (one: Partial<Source>) => typeof one?.state?.get === "function",
    "a session of an agent, or the context of a hook"
  ]))

/** The remaining amounts of the limits that are stored with the conversation, by the index of the limit. */
const localRemaining = (
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

const leftOf = (
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

const limitKinds: OptionKinds<Limit> = {
  scope: "text",
  key: "function",
  window: "duration",
  money: "number",
  tokens: "number",
  calls: "number",
  time: "duration"
}
const optionKinds: HookDefaults.OwnKinds<Options> = {
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

/**
 * Reserves the estimated cost of a call before the call, and replaces the reservation with the real cost afterwards. So
 * parallel calls stay below the limit together; only the last allowed call may exceed it. A call for which only the
 * reservations of other calls leave no room waits until they are settled; it is stopped only if what is really spent
 * has used the limit up. A call that breaks off without a report costs the reserved amount. All agents of a tree share
 * the accounts, and calls of hooks count. The accounts of a run and a session are in `ctx.state`, so they survive
 * suspension and, if the agent has a store, the end of the process. Throws a `ConfigError` for an invalid limit.
 *
 * @example
 * ```ts
 * import * as Budget from "@belay/hooks/Budget"
 *
 * const budget = Budget.make({
 *   limits: [
 *     { scope: "run", money: 0.5, calls: 30, time: "10 minutes" },
 *     { scope: "user", money: 20, window: "30 days", key: ({ metadata }) => metadata?.["user"]?.toString() }
 *   ],
 *   prices: { "small-1": { costPerInputToken: 1.5e-7, costPerOutputToken: 6e-7 } }
 * })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): AgentHook => {
  HookDefaults.checkKinds("budget", options, optionKinds, ["limits"])
  const rules = Result.getOrThrow(compileBudget(options))
  const budget = new BudgetAccounts(options, rules)
  const hasKeys = rules.rules.some(({ key }) => key !== undefined)
  const hasTimes = rules.rules.some(({ timeMs }) => timeMs !== undefined)
  const hook = withoutUndefined<AgentHook>({
    name: "budget",
    // Makes the hook the innermost wrapper, because the wrappers around it may repeat or skip the call.
    priority: 1_000,
    kind: "policy",
    timeout: "none",
    allowReentry: true,
    preTurn: hasKeys
      // A message to a running turn, and the other parts of an input, are charged like the turn.
      ? (input, ctx) =>
        ctx.agent.depth === 0 && input.steer !== true && input.part === undefined
          ? budget.openTurn(input, ctx)
          : undefined
      : undefined,
    onSessionEnd: hasTimes ? ({ sessionId }) => budget.forgetSession(sessionId) : undefined,
    wrapLlmCall: (request, next, ctx) => budget.call(request, next, ctx)
  })
  return HookDefaults.apply(options, hook)
}
