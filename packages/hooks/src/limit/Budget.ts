/**
 * Budgets that cannot leak: money, tokens, calls and time, per run, session, user or tenant. Every model call is paid
 * for before it is made:
 * those of sub-agents, retries, fallbacks, compaction, and of hooks that ask a model themselves.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import type { BudgetLevel } from "@belay/core/Compaction"
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import * as HookState from "@belay/core/HookState"
import type { LlmRequest, LlmResponse } from "@belay/core/LlmCall"
import { isProviderError } from "@belay/core/ProviderError"
import type { Tokenizer } from "@belay/core/Tokenizer"
import type { TurnInput } from "@belay/core/Turn"
import type { Usage } from "@belay/core/Usage"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as HookDefaults from "../HookDefaults.ts"
import { check, type Checked, type Rule } from "./internal/budget.ts"
import { dollars } from "./internal/money.ts"
import type { Price } from "./internal/prices.ts"
import { sizes } from "./internal/size.ts"
import * as Ledger from "./Ledger.ts"

/** How much may be used, and by whom together. At least one amount. @category models @since 0.1.0 */
export interface Limit {
  /**
   * `run`: one turn of the agent the host started, with everything below it. `session`: its conversation. Any other
   * word, such as `user` or `tenant`,
   * is shared by all sessions whose `key` is the same, and needs one.
   */
  readonly scope: "run" | "session" | "user" | "tenant" | (string & {})
  /** Whose it is. Without an answer the limit does not count for the turn. */
  readonly key?: (input: TurnInput) => string | undefined
  /**
   * Begins anew whenever so much time has passed, counted from the epoch: `"1 day"` begins at midnight UTC. Default:
   * never. Not for `run`.
   */
  readonly window?: Duration.Input
  /** US dollars. */
  readonly money?: number
  /** Input and output tokens together. */
  readonly tokens?: number
  /** Model calls, retries among them. */
  readonly calls?: number
  /**
   * Wall time from the first model call on; what passes between two processes does not count. Only for `run` and
   * `session`.
   */
  readonly time?: Duration.Input
}

/** @category models @since 0.1.0 */
export interface Options extends HookDefaults.HookDefaults, Partial<Price> {
  readonly limits: ReadonlyArray<Limit>
  /**
   * Prices by model, as the vendor names it or as it was asked for. Other models cost what stands beside this table.
   */
  readonly prices?: { readonly [model: string]: Price }
  /** The share of a limit at which `onBudget` hooks hear `warn`. Default 0.7. */
  readonly warnAt?: number
  /** The share at which they hear `exceeded`. Default 0.8, so that there is room to hand over. */
  readonly exceededAt?: number
  /**
   * What happens to a call that there is no budget for: the turn fails (`reject`), or ends with the reason as its last
   * word (`abort`). Default `reject`.
   */
  readonly onLimit?: "reject" | "abort"
  /**
   * With a limit on money, a call of a model without a price: is stopped (`stop`), or counts as a call and as tokens
   * only (`count`). Default `stop`.
   */
  readonly onUnknownPrice?: "stop" | "count"
  /** Output tokens that are reserved for a call whose request names no maximum. Default 4,096. */
  readonly assumeOutputTokens?: number
  /** Counts tokens before a call. Default: four characters a token. */
  readonly tokenizer?: Tokenizer
  /**
   * Where accounts of scopes other than `run` and `session` are kept. Default: in memory. Those two are kept with the
   * conversation.
   */
  readonly ledger?: Ledger.Ledger
  /**
   * How long a reservation in the ledger may be open before its call counts as lost, and spent. Default `"15 minutes"`.
   */
  readonly lease?: Duration.Input
}

/** An account of the conversation, and what it is for: another run or window begins anew. */
const Entry = Schema.Struct({ span: Schema.String, account: Ledger.Account })

/**
 * Accounts of the conversation, by the name of the hook and the index of the limit (`budget/0`).
 *
 * @category state
 * @since 0.1.0
 */
export const accounts: HookState.StateKey<{ readonly [index: string]: typeof Entry.Type }> = HookState.key(
  "budget/accounts",
  Schema.Record(Schema.String, Entry),
  {}
)

/** Whose accounts the turn uses, likewise. */
const keys = HookState.key("budget/keys", Schema.Record(Schema.String, Schema.String), {})

/** What is left of a limit. Absent amounts have no limit. @category models @since 0.1.0 */
export interface Remaining {
  readonly scope: string
  readonly money?: number
  readonly tokens?: number
  readonly calls?: number
}

/**
 * Reads what the conversation has left of each of the limits of scope `run` and `session`, in their order. `name` is
 * the budget's, where it has another.
 *
 * @category reading
 * @since 0.1.0
 */
export const remaining = (
  ctx: Pick<HookContext, "state">,
  limits: ReadonlyArray<Limit>,
  name = "budget"
): ReadonlyArray<Remaining> => {
  const all = ctx.state.durable.conversation.get(accounts)
  const left = (max: number, used: number) => Math.max(0, max - used)
  return limits.flatMap((limit, index) => {
    if (limit.scope !== "run" && limit.scope !== "session") return []
    const { calls, money, tokens } = Ledger.committed(all[`${name}/${index}`]?.account ?? Ledger.empty)
    return [{
      scope: limit.scope,
      ...(limit.money === undefined ? {} : { money: left(limit.money, dollars(BigInt(money))) }),
      ...(limit.tokens === undefined ? {} : { tokens: left(limit.tokens, tokens) }),
      ...(limit.calls === undefined ? {} : { calls: left(limit.calls, calls) })
    }]
  })
}

/**
 * Reserves what a call may cost before it is made, and puts what it did cost in its place: however many calls are on
 * their way at once, what is spent
 * stays below the limit, but for the one call that was let through last. A call is let through while the limit is not
 * reached by what is spent and
 * reserved. What a call cost that broke off without a report counts as reserved. Accounts of a run and a session
 * survive suspension and resumption,
 * and the end of the process where the agent has a store. Throws a `ConfigError` for a limit that makes no sense.
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
  const settings = Result.getOrThrow(check(options))
  const desk = new Desk(options, settings)
  return HookDefaults.apply(options, {
    name: "budget",
    // Innermost: what surrounds the call may make it several times, or not at all.
    priority: 1_000,
    kind: "policy",
    timeout: "none",
    allowReentry: true,
    ...(settings.rules.some(({ key }) => key !== undefined)
      ? { preTurn: (input, ctx) => ctx.agent.depth === 0 ? desk.open(input, ctx) : undefined }
      : {}),
    ...(settings.rules.some(({ timeMs }) => timeMs !== undefined)
      ? { onSessionEnd: ({ sessionId }) => desk.forget(sessionId) }
      : {}),
    wrapLlmCall: (request, next, ctx) => desk.call(request, next, ctx)
  })
}

/** What a call is charged to: accounts that change at once. */
interface Charge {
  readonly rules: ReadonlyArray<Rule>
  readonly update: <A>(change: Change<A>) => Effect.Effect<ReadonlyArray<A>, unknown>
}

type Change<A> = (before: Ledger.Account, rule: Rule) => readonly [A, Ledger.Account]

type Next = Parameters<NonNullable<AgentHook["wrapLlmCall"]>>[1]

/** A class because it is the memory of one hook: who it is among the holders, and when the work it sees began. */
class Desk {
  private readonly options: Options
  private readonly settings: Checked
  private readonly ledger: Ledger.Ledger
  private readonly holder = crypto.randomUUID()
  private readonly began = new Map<string, number>()
  private calls = 0

  constructor(options: Options, settings: Checked) {
    this.options = options
    this.settings = settings
    this.ledger = options.ledger ?? Ledger.inMemory()
  }

  /** Notes whose budgets the turn uses. A key that breaks is a broken hook. */
  open(input: TurnInput, ctx: HookContext): void {
    const found = this.settings.rules.flatMap(({ index, key }) => {
      const owner = key?.(input)
      return owner === undefined ? [] : [[`${ctx.hook}/${index}`, owner] as const]
    })
    ctx.state.durable.conversation.update(keys, (before) => ({
      ...Object.fromEntries(Object.entries(before).filter(([id]) => !id.startsWith(`${ctx.hook}/`))),
      ...Object.fromEntries(found)
    }))
  }

  call(request: LlmRequest, next: Next, ctx: HookContext): Effect.Effect<LlmResponse, unknown> {
    return Effect.suspend(() => {
      const estimate = this.estimate(request)
      if (typeof estimate === "string") return Effect.fail(this.refusal(estimate))
      const id = `${this.holder}/${++this.calls}`
      return Effect.flatMap(Clock.currentTimeMillis, (now) => {
        const charges = this.charges(ctx, now)
        return Effect.uninterruptibleMask((restore) =>
          Effect.flatMap(
            this.reserve(charges, id, estimate, now, ctx),
            () =>
              Effect.onExit(restore(next(request)), (exit) =>
                Effect.flatMap(Clock.currentTimeMillis, (end) =>
                  this.settle(charges, id, estimate, request, exit, end, ctx)))
          )
        )
      })
    })
  }

  /** The accounts that this call is charged to: those of the conversation, then one of the ledger after the other. */
  private charges(ctx: HookContext, now: number): ReadonlyArray<Charge> {
    const { conversation } = ctx.state.durable
    const { rules } = this.settings
    const owners = conversation.get(keys)
    const span = ({ windowMs }: Rule) => windowMs === undefined ? "" : `@${Math.floor(now / windowMs)}`
    const locals = rules.filter(({ isLocal }) => isLocal)
    const own = (rule: Rule) => ({
      id: `${ctx.hook}/${rule.index}`,
      span: rule.scope === "run" ? `#${ctx.root.turnNumber}` : span(rule)
    })
    const shared = rules.flatMap((rule): ReadonlyArray<Charge> => {
      const owner = rule.isLocal ? undefined : owners[`${ctx.hook}/${rule.index}`]
      if (owner === undefined) return []
      const account = `${rule.scope}:${owner}${span(rule)}`
      return [{
        rules: [rule],
        update: (change) =>
          Effect.map(this.ledger.update(account, (before) => change(before, rule)), (answer) => [answer])
      }]
    })
    return locals.length === 0
      ? shared
      : [
        { rules: locals, update: (change) => Effect.sync(() => changeLocal(conversation, locals, own, change)) },
        ...shared
      ]
  }

  /** Reserves in every account, or in none. */
  private reserve(
    charges: ReadonlyArray<Charge>,
    id: string,
    amount: Ledger.Amount,
    now: number,
    ctx: HookContext
  ): Effect.Effect<void, unknown> {
    const held: Array<Charge> = []
    const { leaseMs } = this.settings
    const isGone = ({ isLocal }: Rule) => ({ holder, since }: Ledger.Hold) =>
      isLocal ? holder !== this.holder : since < now - leaseMs
    return Effect.onError(
      Effect.forEach(charges, (charge) =>
        Effect.flatMap(
          charge.update((before, rule) => {
            const account = Ledger.reclaim(before, isGone(rule))
            const startedAt = rule.timeMs === undefined ? now : this.startOf(ctx, rule, now)
            const full = rule.full(Ledger.committed(account), account.elapsedMs + (now - startedAt))
            return full === undefined
              ? [undefined, Ledger.hold(account, id, { amount, holder: this.holder, since: now })]
              : [`the ${rule.scope} budget of ${full.limit} is used up: ${full.used}`, account]
          }),
          (found) => {
            held.push(charge)
            const full = found.find((reason) => reason !== undefined)
            return full === undefined ? Effect.void : Effect.fail(this.refusal(full))
          }
        ), { discard: true }),
      () =>
        Effect.forEach(held, ({ update }) => Effect.ignore(update((before) => [undefined, withdraw(before, id)])), {
          discard: true
        })
    )
  }

  /** Puts what the call cost in place of what was reserved, and tells of thresholds. */
  private settle(
    charges: ReadonlyArray<Charge>,
    id: string,
    reserved: Ledger.Amount,
    request: LlmRequest,
    exit: Exit.Exit<LlmResponse, unknown>,
    now: number,
    ctx: HookContext
  ): Effect.Effect<void, unknown> {
    const { amount, isEstimate } = this.cost(request, exit, reserved)
    return Effect.flatMap(
      Effect.forEach(charges, ({ rules, update }) => {
        const worked = new Map(
          rules.map((rule) => [rule, rule.timeMs === undefined ? 0 : this.advance(ctx, rule, now)])
        )
        return update((before, rule) => {
          const after = Ledger.settle(
            { ...before, elapsedMs: before.elapsedMs + (worked.get(rule) ?? 0) },
            id,
            amount,
            isEstimate
          )
          const found = rule.level(after, this.settings)
          const isNew = found !== undefined && found.level !== after.level && after.level !== "exceeded"
          return [isNew ? found : undefined, isNew ? { ...after, level: found.level } : after] as const
        })
      }),
      (found) =>
        Effect.forEach(found.flat().filter((level) => level !== undefined), (level) => this.tell(level, ctx), {
          discard: true
        })
    )
  }

  /** An onBudget hook that wants the turn to end, ends it. */
  private tell(level: BudgetLevel, ctx: HookContext): Effect.Effect<void, HookAction.Abort> {
    ctx.warn(`${Math.floor(100 * level.used / level.limit)} % of the ${level.scope} budget of ${level.kind} used`)
    return Effect.flatMap(ctx.reportBudget(level), (abort) => abort === undefined ? Effect.void : Effect.fail(abort))
  }

  /** What the call may cost at most, or why that is not known. */
  private estimate(request: LlmRequest): Ledger.Amount | string {
    const { assumeOutputTokens = 4_096, onUnknownPrice = "stop", tokenizer } = this.options
    const { counts, estimate, hasMoney } = this.settings
    if (!counts) return { ...Ledger.nothing, calls: 1 }
    const inputTokens = sizes(request, tokenizer)
    const outputTokens = request.parameters.maxTokens ?? assumeOutputTokens
    const money = estimate({ inputTokens, outputTokens }, request.model)
    if (typeof money !== "string") return { money: String(money), tokens: inputTokens + outputTokens, calls: 1 }
    return hasMoney && onUnknownPrice === "stop"
      ? `what a call of ${request.model ?? "this model"} costs is not known, so the budget cannot be kept: ${money}`
      : { money: "0", tokens: inputTokens + outputTokens, calls: 1 }
  }

  /** What the call did cost. What was not reported counts as reserved; what was refused at the door costs nothing. */
  private cost(
    request: LlmRequest,
    exit: Exit.Exit<LlmResponse, unknown>,
    reserved: Ledger.Amount
  ): { readonly amount: Ledger.Amount; readonly isEstimate: boolean } {
    const estimate = { amount: reserved, isEstimate: true }
    if (Exit.isSuccess(exit)) return this.reported(exit.value.usage, [exit.value.model, request.model]) ?? estimate
    const error = Cause.squash(exit.cause)
    if (!isProviderError(error)) return estimate
    const { partial } = error
    const known = this.reported(partial?.usage, [partial?.model, error.model, request.model])
    if (known !== undefined) return known
    return partial === undefined && free.has(error._tag)
      ? { amount: { ...Ledger.nothing, calls: 1 }, isEstimate: false }
      : estimate
  }

  private reported(usage: Usage | undefined, models: ReadonlyArray<string | undefined>) {
    if (usage === undefined) return undefined
    const money = this.settings.cost(usage, models)
    const tokens = usage.inputTokens + (usage.billableOutputTokens ?? usage.outputTokens)
    if (!Number.isSafeInteger(tokens) || tokens < 0) return undefined
    if (typeof money !== "string") return { amount: { money: String(money), tokens, calls: 1 }, isEstimate: false }
    return this.settings.hasMoney && this.options.onUnknownPrice !== "count"
      ? undefined
      : { amount: { money: "0", tokens, calls: 1 }, isEstimate: false }
  }

  private refusal(reason: string): HookAction.Reject | HookAction.Abort {
    return HookAction[this.options.onLimit ?? "reject"](reason)
  }

  forget(sessionId: string): void {
    for (const id of [...this.began.keys()]) if (id.startsWith(`${sessionId}/`)) this.began.delete(id)
  }

  private startOf(ctx: HookContext, rule: Rule, now: number): number {
    const id = clockOf(ctx, rule)
    const known = this.began.get(id)
    if (known === undefined) this.began.set(id, now)
    return known ?? now
  }

  /** Milliseconds worked since the account was last brought up to date. */
  private advance(ctx: HookContext, rule: Rule, now: number): number {
    const since = this.startOf(ctx, rule, now)
    this.began.set(clockOf(ctx, rule), now)
    return Math.max(0, now - since)
  }
}

const clockOf = ({ root }: HookContext, { index, scope }: Rule): string =>
  `${root.sessionId}/${scope === "run" ? root.turnNumber : ""}#${index}`

/** Errors of a call that was refused before a model worked. */
const free: ReadonlySet<string> = new Set([
  "RateLimited",
  "Overloaded",
  "ContextOverflow",
  "Auth",
  "NotFound",
  "InvalidRequest"
])

/** Changes accounts that are kept with the conversation, in one write. */
const changeLocal = <A>(
  state: Pick<HookState.HookState, "get" | "set">,
  rules: ReadonlyArray<Rule>,
  own: (rule: Rule) => { readonly id: string; readonly span: string },
  change: Change<A>
): ReadonlyArray<A> => {
  const all = { ...state.get(accounts) }
  const answers = rules.map((rule) => {
    const { id, span } = own(rule)
    const known = all[id]
    const [answer, account] = change(known?.span === span ? known.account : Ledger.empty, rule)
    all[id] = { span, account }
    return answer
  })
  state.set(accounts, all)
  return answers
}

const withdraw = (account: Ledger.Account, id: string): Ledger.Account => {
  const { [id]: _held, ...holds } = account.holds
  return { ...account, holds }
}
