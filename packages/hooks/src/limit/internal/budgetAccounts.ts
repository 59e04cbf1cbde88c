/**
 * The accounts of one budget: reserves the cost of a call before it, and settles it afterwards. A call that other
 * reservations keep from being made now waits until they are settled.
 */
import type { AgentHook } from "@belay/core/AgentHook"
import type { BudgetLevel } from "@belay/core/Compaction"
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import type { LlmRequest, LlmResponse } from "@belay/core/LlmCall"
import { isProviderError } from "@belay/core/ProviderError"
import type { TurnInput } from "@belay/core/Turn"
import type { Usage } from "@belay/core/Usage"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Ledger from "../Ledger.ts"
import {
  type AccountOptions,
  areReserved,
  type Call,
  freeErrors,
  oneCall,
  type Plan,
  toEffect,
  type Verdict
} from "./budgetCall.ts"
import { type Charge, chargesOf } from "./budgetCharges.ts"
import type { BudgetRules, Rule } from "./budgetRules.ts"
import { owners } from "./budgetState.ts"
import { dependentsOf, openCallsOf } from "./openCalls.ts"
import { requestTokens } from "./requestTokens.ts"
import * as Waiters from "./waiters.ts"

type Next = Parameters<NonNullable<AgentHook["wrapLlmCall"]>>[1]

type Restore = <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, E>

/** The call has its reservation, without an operation of the fiber. */
const isReserved = Effect.succeed(true)

/** A call that waits tries again when a call is settled, and after these times, because other processes settle too. */
const firstWaitMs = 20

const lastWaitMs = 250

/** A class: it holds the mutable state of one hook, its id as the owner of reservations and its clocks. */
export class BudgetAccounts {
  private readonly options: AccountOptions
  private readonly settings: BudgetRules
  private readonly ledger: Ledger.Ledger
  private readonly holder = crypto.randomUUID()
  /** By session: when the time of each run and limit was last counted, in milliseconds. */
  private readonly countedAt = new Map<string, Map<number, number>>()
  private calls = 0
  /** Whether all accounts are in the state of the conversation, which only this process changes. */
  private readonly areLocal: boolean
  /** Ids of calls that are settled. Objects with the same names of fields are made faster. */
  private readonly freeIds: Array<string> = []

  constructor(options: AccountOptions, settings: BudgetRules) {
    this.options = options
    this.settings = settings
    this.ledger = options.ledger ?? Ledger.inMemory()
    this.areLocal = settings.rules.every(({ isLocal }) => isLocal)
  }

  /** Stores the owners of the shared accounts that the turn uses. When a `key` function throws, the hook fails. */
  openTurn(input: TurnInput, ctx: HookContext): void {
    const entries = this.settings.rules.flatMap(({ index, key }) => {
      const owner = key?.(input)
      return owner === undefined ? [] : [[String(index), owner] as const]
    })
    ctx.state.set(owners(ctx.hook), Object.fromEntries(entries))
  }

  /** Makes a call if all limits allow it. Waits while only the reservations of other calls keep it from being made. */
  call(request: LlmRequest, next: Next, ctx: HookContext): Effect.Effect<LlmResponse, unknown> {
    return Effect.withFiber((fiber) => {
      const clock = fiber.getRef(Clock.Clock)
      const estimate = this.estimate(request)
      if (typeof estimate === "string") return Effect.fail(this.refusal(estimate))
      const id = this.freeIds.pop() ?? `${this.holder}/${++this.calls}`
      const plan: Plan = { id, request, estimate, ctx, open: openCallsOf(ctx) }
      const make = (call: Call, restore: Restore) =>
        Effect.onExit(restore(next(request)), (exit) => this.settle(call, exit, clock.currentTimeMillisUnsafe()))
      return Effect.uninterruptibleMask((restore) => {
        const call = this.reserve(plan, restore, clock.currentTimeMillisUnsafe())
        return Effect.isEffect(call) ? Effect.flatMap(call, (reserved) => make(reserved, restore)) : make(call, restore)
      })
    })
  }

  /**
   * Reserves the estimate as soon as the limits allow it: at once, if nothing has to be awaited. Fails if what is spent
   * has used one of them up.
   */
  private reserve(
    plan: Plan,
    restore: Restore,
    now: number,
    waitMs = firstWaitMs
  ): Call | Effect.Effect<Call, unknown> {
    const { ctx, estimate, id, open, request } = plan
    const charges = chargesOf(this.settings.rules, this.ledger, ctx, now)
    const call: Call = { id, request, estimate, ctx, open, charges }
    const attempt = this.tryReserve(call, now)
    if (attempt === isReserved) return call
    return Effect.flatMap(attempt, (wasReserved) => {
      if (wasReserved) return Effect.succeed(call)
      const settled = Effect.andThen(restore(Waiters.wait([open, this.ledger], waitMs)), Clock.currentTimeMillis)
      const again = Math.min(2 * waitMs, lastWaitMs)
      return Effect.flatMap(settled, (later) => toEffect(() => this.reserve(plan, restore, later, again)))
    })
  }

  /** Reserves the estimate in every account, or in none. Returns false if the call has to wait for other calls. */
  private tryReserve({ charges, ctx, estimate, id, open }: Call, now: number): Effect.Effect<boolean, unknown> {
    const charged: Array<Charge> = []
    const { leaseMs } = this.settings
    const dependents = dependentsOf(ctx, open)
    // This call has no reservation yet. One with its id is of a call that had the id before it.
    const isLost = ({ isLocal }: Rule) => ({ since }: Ledger.Hold, hold: string) =>
      isLocal ? !open.has(hold) || hold === id : since < now - leaseMs
    const hold = { amount: estimate, holder: this.holder, since: now }
    const reserveIn = (before: Ledger.Account, rule: Rule): readonly [Verdict, Ledger.Account] => {
      const account = Ledger.reclaim(before, isLost(rule))
      const elapsedMs = rule.timeMs === undefined ? 0 : account.elapsedMs + (now - this.lastCounted(ctx, rule, now))
      const part = rule.exhausted(account.spent, elapsedMs)
      if (part !== undefined) return [{ reason: rule.describe(part, account, elapsedMs) }, account]
      const taken = Ledger.add(account.spent, Ledger.reserved(account, dependents))
      return rule.exhausted(taken, elapsedMs) === undefined
        ? ["reserved", Ledger.hold(account, id, hold)]
        : ["wait", account]
    }
    const take = (verdicts: ReadonlyArray<Verdict>, index: number): Effect.Effect<boolean, unknown> => {
      const refused = verdicts.find((verdict) => typeof verdict === "object")
      if (refused !== undefined) return Effect.fail(this.refusal(refused.reason))
      if (!areReserved(verdicts)) return Effect.succeed(false)
      charged.push(charges[index]!)
      return reserveFrom(index + 1)
    }
    const reserveFrom = (index: number): Effect.Effect<boolean, unknown> => {
      const verdicts = charges[index]?.update(reserveIn, areReserved)
      if (verdicts === undefined) return isReserved
      return Effect.isEffect(verdicts) ? Effect.flatMap(verdicts, (all) => take(all, index)) : take(verdicts, index)
    }
    const undo = Effect.suspend(() => {
      open.delete(id)
      return Effect.forEach(
        charged,
        ({ update }) => Effect.ignore(toEffect(() => update((before) => [undefined, Ledger.release(before, id)]))),
        { discard: true }
      )
    })
    open.set(id, { sessionId: ctx.sessionId, caller: ctx.caller })
    const attempt = reserveFrom(0)
    return attempt === isReserved
      ? attempt
      : Effect.onExit(attempt, (exit) => Exit.isSuccess(exit) && exit.value ? Effect.void : undo)
  }

  /** Replaces the reservation with the cost of the call, and reports the thresholds that are passed. */
  private settle(call: Call, exit: Exit.Exit<LlmResponse, unknown>, now: number): Effect.Effect<void, unknown> {
    const { charges, ctx, estimate, id, open, request } = call
    const { amount, isEstimate } = this.cost(request, exit, estimate)
    const settleCharge = ({ rules, update }: Charge) => {
      const elapsed = rules.map((rule) => rule.timeMs === undefined ? 0 : this.countTime(ctx, rule, now))
      return update((before, rule) => {
        const elapsedMs = elapsed[rules.indexOf(rule)] ?? 0
        const timed = elapsedMs === 0 ? before : { ...before, elapsedMs: before.elapsedMs + elapsedMs }
        const after = Ledger.settle(timed, id, amount, isEstimate)
        const level = rule.level(after, this.settings)
        const isNew = level !== undefined && level.level !== after.level && after.level !== "exceeded"
        return isNew ? [level, { ...after, level: level.level }] : [undefined, after]
      })
    }
    open.delete(id)
    const [first, ...others] = charges.map(settleCharge)
    const report = (levels: ReadonlyArray<BudgetLevel | undefined>) =>
      Effect.forEach(levels.filter((level) => level !== undefined), (level) => this.report(level, ctx), {
        discard: true
      })
    const wake = () => {
      Waiters.wake(open)
      Waiters.wake(this.ledger)
    }
    if (others.length === 0 && !Effect.isEffect(first)) {
      if (this.areLocal) this.freeIds.push(id)
      wake()
      return first?.some((level) => level !== undefined) === true ? report(first) : Effect.void
    }
    const all = Effect.forEach([first, ...others], (levels) => toEffect(() => levels ?? []))
    return Effect.flatMap(Effect.ensuring(all, Effect.sync(wake)), (levels) => report(levels.flat()))
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
    if (!limitsTokens) return oneCall
    const inputTokens = requestTokens(request, tokenizer)
    const outputTokens = request.parameters.maxTokens ?? assumeOutputTokens
    const money = estimate({ inputTokens, outputTokens }, request.model)
    if (typeof money !== "string") return { money: String(money), tokens: inputTokens + outputTokens, calls: 1 }
    return limitsMoney && onUnknownPrice === "stop"
      ? `what a call of ${request.model ?? "this model"} costs is not known, so the budget cannot be kept: ${money}. ` +
        "Add it to `prices`, or set onUnknownPrice: \"count\""
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
    const output = usage.billableOutputTokens ?? usage.outputTokens
    const tokens = usage.inputTokens + output
    // A negative number would give something back.
    if (usage.inputTokens < 0 || output < 0 || !Number.isSafeInteger(tokens)) return undefined
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
    this.countedAt.delete(sessionId)
  }

  /** When time was last counted for a rule. The first call of a run or session starts its clock. */
  private lastCounted(ctx: HookContext, rule: Rule, now: number): number {
    const clocks = this.clocksOf(ctx)
    const id = this.clockOf(ctx, rule)
    const last = clocks.get(id)
    if (last === undefined) clocks.set(id, now)
    return last ?? now
  }

  /** Returns the milliseconds since time was last counted, and counts from now on. */
  private countTime(ctx: HookContext, rule: Rule, now: number): number {
    const last = this.lastCounted(ctx, rule, now)
    this.clocksOf(ctx).set(this.clockOf(ctx, rule), now)
    return Math.max(0, now - last)
  }

  private clocksOf({ root: { sessionId } }: HookContext): Map<number, number> {
    const known = this.countedAt.get(sessionId)
    if (known !== undefined) return known
    const made = new Map<number, number>()
    this.countedAt.set(sessionId, made)
    return made
  }

  /** A number for a limit: of a run, or of the session (turns are counted from 1). */
  private clockOf({ root }: HookContext, { index, scope }: Rule): number {
    return (scope === "run" ? root.turnNumber : 0) * this.settings.rules.length + index
  }
}
