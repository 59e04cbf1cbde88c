/** The accounts of one budget: reserves the cost of a call before it, and settles it afterwards. */
import type { AgentHook } from "@belay/core/AgentHook"
import type { BudgetLevel } from "@belay/core/Compaction"
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import type * as HookState from "@belay/core/HookState"
import type { LlmRequest, LlmResponse } from "@belay/core/LlmCall"
import { isProviderError } from "@belay/core/ProviderError"
import type { Tokenizer } from "@belay/core/Tokenizer"
import type { TurnInput } from "@belay/core/Turn"
import type { Usage } from "@belay/core/Usage"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Ledger from "../Ledger.ts"
import type { BudgetRules, Rule } from "./budgetRules.ts"
import { accounts, owners } from "./budgetState.ts"
import { requestTokens } from "./requestTokens.ts"

/** The options that accounts need. */
interface AccountOptions {
  readonly assumeOutputTokens?: number
  readonly ledger?: Ledger.Ledger
  readonly onLimit?: "reject" | "abort"
  readonly onUnknownPrice?: "stop" | "count"
  readonly tokenizer?: Tokenizer
}

/** Accounts that are changed together, with the rules that they are for. */
interface Charge {
  readonly rules: ReadonlyArray<Rule>
  readonly update: <A>(change: Change<A>) => Effect.Effect<ReadonlyArray<A>, unknown>
}

/** Changes an account, and returns a result with the changed account. */
type Change<A> = (before: Ledger.Account, rule: Rule) => readonly [A, Ledger.Account]

type Next = Parameters<NonNullable<AgentHook["wrapLlmCall"]>>[1]

/** One call, from its reservation to its settlement. */
interface Call {
  readonly id: string
  readonly request: LlmRequest
  readonly charges: ReadonlyArray<Charge>
  /** The most that the call may cost. */
  readonly estimate: Ledger.Amount
  readonly ctx: HookContext
}

/** A class: it holds the mutable state of one hook, its id as the owner of reservations and its clocks. */
export class BudgetAccounts {
  private readonly options: AccountOptions
  private readonly settings: BudgetRules
  private readonly ledger: Ledger.Ledger
  private readonly holder = crypto.randomUUID()
  /** When the time of a run or session was last counted, in milliseconds. */
  private readonly countedAt = new Map<string, number>()
  private calls = 0

  constructor(options: AccountOptions, settings: BudgetRules) {
    this.options = options
    this.settings = settings
    this.ledger = options.ledger ?? Ledger.inMemory()
  }

  /** Stores the owners of the shared accounts that the turn uses. When a `key` function throws, the hook fails. */
  openTurn(input: TurnInput, ctx: HookContext): void {
    const entries = this.settings.rules.flatMap(({ index, key }) => {
      const owner = key?.(input)
      return owner === undefined ? [] : [[`${ctx.hook}/${index}`, owner] as const]
    })
    ctx.state.durable.conversation.update(owners, (before) => ({
      ...Object.fromEntries(Object.entries(before).filter(([id]) => !id.startsWith(`${ctx.hook}/`))),
      ...Object.fromEntries(entries)
    }))
  }

  /** Makes a call if all limits allow it. */
  call(request: LlmRequest, next: Next, ctx: HookContext): Effect.Effect<LlmResponse, unknown> {
    return Effect.suspend(() => {
      const estimate = this.estimate(request)
      if (typeof estimate === "string") return Effect.fail(this.refusal(estimate))
      const id = `${this.holder}/${++this.calls}`
      return Effect.flatMap(Clock.currentTimeMillis, (now) => {
        const call: Call = { id, request, charges: this.charges(ctx, now), estimate, ctx }
        const settle = (exit: Exit.Exit<LlmResponse, unknown>) =>
          Effect.flatMap(Clock.currentTimeMillis, (end) => this.settle(call, exit, end))
        return Effect.uninterruptibleMask((restore) =>
          Effect.flatMap(this.reserve(call, now), () => Effect.onExit(restore(next(request)), settle))
        )
      })
    })
  }

  /** The accounts that a call is charged to: first those of the conversation together, then each of the ledger. */
  private charges(ctx: HookContext, now: number): ReadonlyArray<Charge> {
    const { conversation } = ctx.state.durable
    const { rules } = this.settings
    const ownerOf = conversation.get(owners)
    const window = ({ windowMs }: Rule) => windowMs === undefined ? "" : `@${Math.floor(now / windowMs)}`
    const localRules = rules.filter(({ isLocal }) => isLocal)
    const entryOf = (rule: Rule) => ({
      id: `${ctx.hook}/${rule.index}`,
      span: rule.scope === "run" ? `#${ctx.root.turnNumber}` : window(rule)
    })
    const shared = rules.flatMap((rule): ReadonlyArray<Charge> => {
      const owner = rule.isLocal ? undefined : ownerOf[`${ctx.hook}/${rule.index}`]
      if (owner === undefined) return []
      const account = `${rule.scope}:${owner}${window(rule)}`
      return [{
        rules: [rule],
        update: (change) =>
          Effect.map(this.ledger.update(account, (before) => change(before, rule)), (result) => [result])
      }]
    })
    if (localRules.length === 0) return shared
    const local: Charge = {
      rules: localRules,
      update: (change) => Effect.sync(() => changeLocalAccounts(conversation, localRules, entryOf, change))
    }
    return [local, ...shared]
  }

  /** Reserves the estimate in every account; if one of the limits is used up, in none. */
  private reserve({ charges, ctx, estimate, id }: Call, now: number): Effect.Effect<void, unknown> {
    const charged: Array<Charge> = []
    const { leaseMs } = this.settings
    const isLost = ({ isLocal }: Rule) => ({ holder, since }: Ledger.Hold) =>
      isLocal ? holder !== this.holder : since < now - leaseMs
    const hold = { amount: estimate, holder: this.holder, since: now }
    const reserveIn = (before: Ledger.Account, rule: Rule): readonly [string | undefined, Ledger.Account] => {
      const account = Ledger.reclaim(before, isLost(rule))
      const startedAt = rule.timeMs === undefined ? now : this.lastCounted(ctx, rule, now)
      const exhausted = rule.exhausted(Ledger.total(account), account.elapsedMs + (now - startedAt))
      return exhausted === undefined
        ? [undefined, Ledger.hold(account, id, hold)]
        : [`the ${rule.scope} budget of ${exhausted.limit} is used up: ${exhausted.used}`, account]
    }
    const reserveAll = Effect.forEach(charges, (charge) =>
      Effect.flatMap(charge.update(reserveIn), (reasons) => {
        charged.push(charge)
        const reason = reasons.find((one) => one !== undefined)
        return reason === undefined ? Effect.void : Effect.fail(this.refusal(reason))
      }), { discard: true })
    const undo = Effect.forEach(
      charged,
      ({ update }) => Effect.ignore(update((before) => [undefined, Ledger.release(before, id)])),
      { discard: true }
    )
    return Effect.onError(reserveAll, () => undo)
  }

  /** Replaces the reservation with the cost of the call, and reports the thresholds that are passed. */
  private settle(call: Call, exit: Exit.Exit<LlmResponse, unknown>, now: number): Effect.Effect<void, unknown> {
    const { charges, ctx, estimate, id, request } = call
    const { amount, isEstimate } = this.cost(request, exit, estimate)
    const settleCharge = ({ rules, update }: Charge) => {
      const elapsed = new Map(
        rules.map((rule) => [rule, rule.timeMs === undefined ? 0 : this.countTime(ctx, rule, now)])
      )
      return update((before, rule) => {
        const elapsedMs = before.elapsedMs + (elapsed.get(rule) ?? 0)
        const after = Ledger.settle({ ...before, elapsedMs }, id, amount, isEstimate)
        const level = rule.level(after, this.settings)
        const isNew = level !== undefined && level.level !== after.level && after.level !== "exceeded"
        return isNew ? [level, { ...after, level: level.level }] : [undefined, after]
      })
    }
    return Effect.flatMap(
      Effect.forEach(charges, settleCharge),
      (levels) =>
        Effect.forEach(levels.flat(), (level) => level === undefined ? Effect.void : this.report(level, ctx), {
          discard: true
        })
    )
  }

  /** Calls the `onBudget` hooks; one that aborts ends the turn. */
  private report(level: BudgetLevel, ctx: HookContext): Effect.Effect<void, HookAction.Abort> {
    ctx.warn(`${Math.floor(100 * level.used / level.limit)} % of the ${level.scope} budget of ${level.kind} used`)
    return Effect.flatMap(ctx.reportBudget(level), (abort) => abort === undefined ? Effect.void : Effect.fail(abort))
  }

  /** The most that a call may cost, or why it is not known. */
  private estimate(request: LlmRequest): Ledger.Amount | string {
    const { assumeOutputTokens = 4_096, onUnknownPrice = "stop", tokenizer } = this.options
    const { estimate, limitsMoney, limitsTokens } = this.settings
    if (!limitsTokens) return { ...Ledger.nothing, calls: 1 }
    const inputTokens = requestTokens(request, tokenizer)
    const outputTokens = request.parameters.maxTokens ?? assumeOutputTokens
    const money = estimate({ inputTokens, outputTokens }, request.model)
    if (typeof money !== "string") return { money: String(money), tokens: inputTokens + outputTokens, calls: 1 }
    return limitsMoney && onUnknownPrice === "stop"
      ? `what a call of ${request.model ?? "this model"} costs is not known, so the budget cannot be kept: ${money}`
      : { money: "0", tokens: inputTokens + outputTokens, calls: 1 }
  }

  /**
   * The cost of a finished call: the cost that the vendor reports, or the estimate. A call that the vendor refused
   * costs nothing.
   */
  private cost(
    request: LlmRequest,
    exit: Exit.Exit<LlmResponse, unknown>,
    estimated: Ledger.Amount
  ): { readonly amount: Ledger.Amount; readonly isEstimate: boolean } {
    const estimate = { amount: estimated, isEstimate: true }
    if (Exit.isSuccess(exit)) return this.reportedCost(exit.value.usage, [exit.value.model, request.model]) ?? estimate
    const error = Cause.squash(exit.cause)
    if (!isProviderError(error)) return estimate
    const { partial } = error
    const known = this.reportedCost(partial?.usage, [partial?.model, error.model, request.model])
    if (known !== undefined) return known
    return partial === undefined && freeErrors.has(error._tag)
      ? { amount: { ...Ledger.nothing, calls: 1 }, isEstimate: false }
      : estimate
  }

  private reportedCost(usage: Usage | undefined, models: ReadonlyArray<string | undefined>) {
    if (usage === undefined) return undefined
    const money = this.settings.cost(usage, models)
    const tokens = usage.inputTokens + (usage.billableOutputTokens ?? usage.outputTokens)
    if (!Number.isSafeInteger(tokens) || tokens < 0) return undefined
    if (typeof money !== "string") return { amount: { money: String(money), tokens, calls: 1 }, isEstimate: false }
    return this.settings.limitsMoney && this.options.onUnknownPrice !== "count"
      ? undefined
      : { amount: { money: "0", tokens, calls: 1 }, isEstimate: false }
  }

  private refusal(reason: string): HookAction.Reject | HookAction.Abort {
    return HookAction[this.options.onLimit ?? "reject"](reason)
  }

  /** Drops the clocks of a session. */
  forgetSession(sessionId: string): void {
    for (const id of [...this.countedAt.keys()]) if (id.startsWith(`${sessionId}/`)) this.countedAt.delete(id)
  }

  /** When time was last counted for a rule. The first call of a run or session starts its clock. */
  private lastCounted(ctx: HookContext, rule: Rule, now: number): number {
    const id = clockOf(ctx, rule)
    const last = this.countedAt.get(id)
    if (last === undefined) this.countedAt.set(id, now)
    return last ?? now
  }

  /** Returns the milliseconds since time was last counted, and counts from now on. */
  private countTime(ctx: HookContext, rule: Rule, now: number): number {
    const last = this.lastCounted(ctx, rule, now)
    this.countedAt.set(clockOf(ctx, rule), now)
    return Math.max(0, now - last)
  }
}

const clockOf = ({ root }: HookContext, { index, scope }: Rule): string =>
  `${root.sessionId}/${scope === "run" ? root.turnNumber : ""}#${index}`

/** Errors with which a vendor refuses a call before a model runs. */
const freeErrors: ReadonlySet<string> = new Set([
  "RateLimited",
  "Overloaded",
  "ContextOverflow",
  "Auth",
  "NotFound",
  "InvalidRequest"
])

/** Changes the accounts that are stored with the conversation, in one write. */
const changeLocalAccounts = <A>(
  state: Pick<HookState.HookState, "get" | "set">,
  rules: ReadonlyArray<Rule>,
  entryOf: (rule: Rule) => { readonly id: string; readonly span: string },
  change: Change<A>
): ReadonlyArray<A> => {
  const all = { ...state.get(accounts) }
  const results = rules.map((rule) => {
    const { id, span } = entryOf(rule)
    const stored = all[id]
    const [result, account] = change(stored?.span === span ? stored.account : Ledger.empty, rule)
    all[id] = { span, account }
    return result
  })
  state.set(accounts, all)
  return results
}
