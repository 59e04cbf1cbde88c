/**
 * One run of a point that needs more than the plain loop: it stops where a hook has to be waited for, and goes on when
 * it has answered.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import { messageOf } from "../../data/ErrorMessage.ts"
import { after, timeOf } from "../../data/internal/timer.ts"
import { freeze } from "../../data/Json.ts"
import type * as HookAction from "../HookAction.ts"
import { Continue, replace } from "../HookAction.ts"
import type { HookContext, HookScope } from "../HookContext.ts"
import { change, confidential, type FailureKind, type HookAnswer, type HookFailure } from "../HookRecord.ts"
import { isAction, isPending, isPromise, isThenable, violation } from "./answer.ts"
import { Context } from "./context.ts"
import { fingerprint } from "./fingerprint.ts"
import { Journal, now } from "./journal.ts"
import { type Entry, type Line, policyOf, toolOf } from "./line.ts"
import { changed, type Decode, observed, type Outcome, type Resume } from "./outcome.ts"

/** A gate is asked again at most so often because others changed the value. */
const maxRounds = 3

type Waiting = {
  readonly entry: Entry
  readonly ctx: Context
  /** What has to be started first: nothing for a promise, which runs already. */
  readonly start: Effect.Effect<unknown, unknown> | undefined
  readonly promise: Promise<unknown> | undefined
  readonly began: number
  due: number
}

/** A class because its fields are the state of a machine on a warm path. */
export class Run {
  private readonly line: Line
  private readonly scope: HookScope
  private readonly decode: Decode | undefined
  private event: unknown
  private action: HookAction.HookAction = Continue
  private by: string | undefined
  private failure: HookFailure | undefined
  /** Kept only when somebody wants the record. */
  private readonly journal: Journal | undefined
  private readonly tool: string | undefined

  /** Where the run is: which decider is next, then which gate of which round, then which observer. */
  private next: number
  private round = 0
  private gate = 0
  private observer = 0
  /** What each gate has last answered for, by slot: the event, or the text of one that was answered before. */
  private readonly seen = new Map<number, unknown>()
  private readonly settled: Resume["settled"]

  private waiting: Waiting | undefined
  private finish: ((effect: Effect.Effect<Outcome>) => void) | undefined
  /** The fiber of the turn, and the one of the hook that is waited for. */
  private parent: Fiber.Fiber<unknown, unknown> | undefined
  private fiber: Fiber.Fiber<unknown, unknown> | undefined
  /**
   * One timer for the whole run: it is set for the first that has to be waited for, and set again only when it rings
   * too early.
   */
  private cancelTimer: (() => void) | undefined
  private ringsAt = Infinity
  private time: () => number = now
  /** Whether `hear` is at work. */
  private hearing = false
  private outcome: Outcome | undefined

  constructor(line: Line, event: unknown, scope: HookScope, decode?: Decode, resume?: Resume, next = 0, by?: string) {
    this.line = line
    this.decode = decode
    this.event = event
    this.scope = scope
    this.by = by
    if (by !== undefined) this.action = changed
    this.journal = scope.onRecord === undefined ? undefined : new Journal(scope.onRecord)
    this.tool = toolOf(event)
    this.settled = resume?.settled ?? []
    const from = resume?.after === undefined ? next : line.deciders.findIndex(({ name }) => name === resume.after) + 1
    this.next = from
    for (const entry of line.deciders.slice(0, resume === undefined ? 0 : from)) {
      this.journal?.skip(entry, "decided before")
      const answered = this.settled.findLast(({ hook }) => hook === entry.name)
      // What it had seen is not known, and later hooks may have changed it: unless a person answered it, it looks at
      // the final value.
      if (entry.gate && answered !== undefined) this.seen.set(entry.slot, answered.fingerprint)
    }
  }

  start(): Outcome | Effect.Effect<Outcome> {
    return this.advance() ?? this.wait()
  }

  /** Goes on where the plain loop met an answer it does not handle. */
  startWith(answer: unknown): Outcome | Effect.Effect<Outcome> {
    const entry = this.line.deciders[this.next++]!
    return this.answered(entry, this.scope.contexts[entry.slot] as Context, answer, now()) ? this.start() : this.wait()
  }

  /** Goes on where the plain loop met a throw. */
  startThrown(error: unknown): Outcome | Effect.Effect<Outcome> {
    this.fail(this.line.deciders[this.next++]!, "threw", error, now())
    return this.start()
  }

  /** Calls hooks until the run is over (the outcome) or one has to be waited for (nothing). */
  private advance(): Outcome | undefined {
    while (true) {
      const entry = this.pick()
      if (entry === undefined) return this.end()
      const began = this.journal === undefined ? 0 : now()
      const ctx = this.context(entry)
      let answer: unknown
      try {
        answer = entry.call(this.event, ctx as HookContext)
      } catch (error) {
        this.fail(entry, "threw", error, began)
        continue
      }
      if (!this.answered(entry, ctx, answer, began)) return undefined
    }
  }

  /** The next hook to call, by stage; nothing when there is none left. */
  private pick(): Entry | undefined {
    const { deciders, observers } = this.line
    while (this.next < deciders.length) {
      const entry = deciders[this.next++]!
      if (this.action._tag === "Replace" || this.stopped()) this.journal?.skip(entry, `decided by ${this.by}`)
      else if (entry.wants !== undefined && !entry.wants(this.tool ?? "")) {
        this.journal?.skip(entry, "not for this tool")
      } else if (this.isSettled(entry)) this.journal?.skip(entry, "answered before")
      else return entry
    }
    const gate = this.pickGate()
    if (gate !== undefined) return gate
    while (this.observer < observers.length) {
      const entry = observers[this.observer++]!
      if (entry.wants !== undefined && !entry.wants(this.tool ?? "")) this.journal?.skip(entry, "not for this tool")
      else return entry
    }
    return undefined
  }

  /** A gate that has not seen the final value. A Replace skips hooks, but no gate. */
  private pickGate(): Entry | undefined {
    if (!this.line.hasGates || this.stopped()) return undefined
    const { deciders } = this.line
    while (true) {
      while (this.gate < deciders.length) {
        const entry = deciders[this.gate++]!
        if (!this.isBehind(entry)) continue
        if (this.round < maxRounds) return entry
        if (this.line.legal.Reject !== true) return undefined
        this.stop(
          { _tag: "Reject", reason: `${entry.name} was asked ${maxRounds} times and the value still changes` },
          entry.name
        )
        return undefined
      }
      if (!deciders.some((entry) => this.isBehind(entry))) return undefined
      this.gate = 0
      this.round++
    }
  }

  /** Whether a gate has yet to see the value as it is now. Texts are compared only when the value is another object. */
  private isBehind(entry: Entry): boolean {
    if (!entry.gate || entry.wants?.(this.tool ?? "") === false) return false
    const last = this.seen.get(entry.slot)
    if (last === undefined) return true
    return last !== this.event && (typeof last === "string" ? last : fingerprint(this.line, last)) !== this.text()
  }

  /**
   * Whether a person has answered this hook's question about exactly this value, by approving it (or, `edited`, by
   * writing it).
   */
  private isSettled(entry: Entry, edited = false): boolean {
    if (this.settled.length === 0) return false
    const text = this.text()
    const found = this.settled.some((one) =>
      one.hook === entry.name && one.fingerprint === text && (one.edited ?? false) === edited
    )
    if (found && !edited && entry.gate) this.seen.set(entry.slot, text)
    return found
  }

  /** Whether the operation itself is decided: no gate has to look at the value. */
  private stopped(): boolean {
    const tag = this.action._tag
    return tag === "Reject" || tag === "Respond" || tag === "Abort" || tag === "Ask"
  }

  private context(entry: Entry): Context {
    if (entry.observer) {
      const ctx = new Context(this.scope, entry.name)
      ctx.outcome = observed(this.action, this.by)
      return ctx
    }
    const { contexts } = this.scope
    return (contexts[entry.slot] ??
      (contexts[entry.slot] = new Context(this.scope, entry.name, entry.shadow))) as Context
  }

  /** Takes an answer; false when it is none yet and has to be waited for. */
  private answered(entry: Entry, ctx: Context, answer: unknown, began: number): boolean {
    if (isPromise(answer)) this.claim(entry, ctx, undefined, answer, began)
    else if (!isPending(answer)) {
      this.said(entry, answer, began)
      return true
    } else if (Exit.isExit(answer)) {
      this.exited(entry, answer, began)
      return true
    } else if (Effect.isEffect(answer)) {
      this.claim(entry, ctx, answer as Effect.Effect<unknown, unknown>, undefined, began)
    } // A thenable of somebody's own making may throw, answer twice or at once; a promise does none of that.
    else if (isThenable(answer)) this.claim(entry, ctx, undefined, Promise.resolve(answer), began)
    else this.claim(entry, ctx, Effect.gen(() => answer as Generator<never, unknown, never>), undefined, began)
    return false
  }

  /** The context stays with this call: what it does after a timeout can then be told from what others do. */
  private claim(entry: Entry, ctx: Context, start: Waiting["start"], promise: Waiting["promise"], began: number): void {
    if (!entry.observer) this.scope.contexts[entry.slot] = undefined
    this.waiting = { entry, ctx, start, promise, began, due: Infinity }
    if (promise !== undefined && !this.hearing) void this.hear()
  }

  /** Takes what a hook said in the end. What cannot even be read is as illegal as what may not be said. */
  private said(entry: Entry, answer: unknown, began: number): void {
    let wrong: string | undefined
    try {
      wrong = answer === undefined || isAction(answer)
        ? this.take(entry, answer ?? Continue, began)
        : violation(this.line, answer, this.event)
    } catch (error) {
      wrong = `answered something that cannot be read: ${messageOf(error)}`
    }
    if (wrong !== undefined) this.fail(entry, "illegal", wrong, began)
  }

  /** Obeys and notes an action, or says what is wrong with it; until that is certain nothing is changed. */
  private take(entry: Entry, action: HookAction.HookAction, began: number): string | undefined {
    const wrong = action._tag === "Continue" ? undefined : violation(this.line, action, this.event)
    if (wrong !== undefined) return wrong
    if (entry.shadow || entry.observer) {
      this.journal?.note(entry, action, undefined, began)
      return undefined
    }
    if (action._tag === "Ask" && this.isSettled(entry, true)) return this.take(entry, Continue, began)
    let changes: HookAnswer["change"]
    if (action._tag === "Transform" || action._tag === "Replace") {
      const before = this.event
      const read = this.decode?.(action.value, before) ?? { ok: true as const, value: action.value }
      if (!read.ok) return `${action._tag} at ${this.line.point}: ${read.why}`
      const next = this.line.apply === undefined ? read.value : this.line.apply(before, read.value)
      if (this.scope.freeze) freeze(next)
      if (this.journal !== undefined && next !== before) {
        changes = entry.confidential
          ? confidential
          : change(before, next)
      }
      this.event = next
      this.stop(action._tag === "Replace" || this.action._tag === "Replace" ? replace(read.value) : changed, entry.name)
    } else if (action._tag !== "Continue") this.stop(action, entry.name)
    if (entry.gate) this.seen.set(entry.slot, this.event)
    this.journal?.note(entry, action, changes, began)
    return undefined
  }

  private stop(action: HookAction.HookAction, by: string): void {
    this.action = action
    this.by = by
  }

  /** What a gate answers for: the value as canonical text. */
  private text(): string {
    return fingerprint(this.line, this.event)
  }

  private fail(entry: Entry, kind: FailureKind, error: unknown, began: number): void {
    const policy = policyOf(this.line, entry, kind)
    const failure: HookFailure = { hook: entry.name, point: this.line.point, kind, policy, message: messageOf(error) }
    if (policy !== "open") {
      const reason = `hook ${entry.name} failed at ${failure.point} (${kind}): ${failure.message}`
      this.stop(policy === "abort" ? { _tag: "Abort", reason } : { _tag: "Reject", reason }, entry.name)
      this.failure = failure
    }
    if (entry.gate) this.seen.set(entry.slot, this.event)
    this.scope.onFailure(failure)
    this.journal?.failed(entry, failure, began)
  }

  private end(): Outcome {
    this.journal?.end(this.line.point, this.tool, this.action, this.by)
    return this.outcome = { action: this.action, event: this.event, by: this.by, failure: this.failure }
  }

  // Waiting: one Effect for all that has to be waited for in this run.

  private wait(): Effect.Effect<Outcome> {
    return Effect.withFiber((fiber) =>
      Effect.callback<Outcome>((finish) => {
        if (this.outcome !== undefined) return finish(Effect.succeed(this.outcome))
        this.finish = finish
        this.parent = fiber
        this.time = timeOf(fiber)
        this.begin()
        return Effect.sync(() => this.cancel())
      })
    )
  }

  /** Starts what is waited for (a promise runs already) and its timer. */
  private begin(): void {
    const { waiting } = this
    if (waiting === undefined) return
    if (waiting.start !== undefined) {
      const fiber = this.fiber = Effect.runForkWith(this.parent!.context)(waiting.start)
      fiber.addObserver((exit) => {
        if (this.waiting !== waiting) return this.late(waiting, exit)
        this.waiting = undefined
        this.fiber = undefined
        this.exited(waiting.entry, exit, waiting.began)
        this.goOn()
      })
      if (this.waiting !== waiting) return
    }
    if (waiting.entry.timeoutMs !== Infinity && this.waiting === waiting) this.arm(waiting)
  }

  /** Awaits one promise after the other, as long as hooks answer with promises. */
  private async hear(): Promise<void> {
    this.hearing = true
    while (this.waiting?.promise !== undefined) {
      const { waiting } = this
      let answer: unknown
      let rejected = false
      try {
        answer = await waiting.promise
      } catch (error) {
        answer = error
        rejected = true
      }
      // After a timeout somebody else goes on.
      if (this.waiting !== waiting) return this.late(waiting, undefined)
      this.waiting = undefined
      if (rejected) this.fail(waiting.entry, "rejected", answer, waiting.began)
      else this.said(waiting.entry, answer, waiting.began)
      this.goOn()
    }
    this.hearing = false
  }

  /** The hook that was waited for has answered: go on to the next that has to be waited for, or to the end. */
  private goOn(): void {
    const outcome = this.advance()
    if (outcome === undefined) return this.finish === undefined ? undefined : this.begin()
    this.cancelTimer?.()
    this.finish?.(Effect.succeed(outcome))
  }

  private exited(entry: Entry, exit: Exit.Exit<unknown, unknown>, began: number): void {
    if (Exit.isSuccess(exit)) this.said(entry, exit.value, began)
    else if (Cause.hasInterruptsOnly(exit.cause)) this.fail(entry, "interrupted", "the hook interrupted itself", began)
    else this.fail(entry, Cause.hasFails(exit.cause) ? "failed" : "died", Cause.squash(exit.cause), began)
  }

  private arm(waiting: Waiting): void {
    waiting.due = this.time() + waiting.entry.timeoutMs
    if (waiting.due < this.ringsAt) this.ringAt(waiting.due)
  }

  private ringAt(due: number): void {
    this.cancelTimer?.()
    this.ringsAt = due
    this.cancelTimer = after(this.parent!, Math.max(0, due - this.time()), () => this.ring())
  }

  private ring(): void {
    this.ringsAt = Infinity
    this.cancelTimer = undefined
    const { waiting } = this
    if (waiting === undefined || waiting.due === Infinity) return
    // Half a millisecond is what a timer may be early by.
    if (waiting.due > this.time() + 0.5) return this.ringAt(waiting.due)
    waiting.ctx.revoked = true
    if (waiting.promise !== undefined) this.hearing = false
    // What the hook says to its interruption is no answer.
    this.waiting = undefined
    this.fiber?.interruptUnsafe()
    this.fiber = undefined
    this.fail(waiting.entry, "timeout", `no answer within ${waiting.entry.timeoutMs} ms`, waiting.began)
    this.goOn()
  }

  private late(waiting: Waiting, exit: Exit.Exit<unknown, unknown> | undefined): void {
    if (waiting.ctx.revoked && (exit === undefined || !Exit.isFailure(exit) || !Cause.hasInterruptsOnly(exit.cause))) {
      this.scope.onLate(waiting.entry.name, "answer")
    }
  }

  /** The turn was interrupted: so is the hook, and nothing it does counts any more. */
  private cancel(): void {
    const { waiting } = this
    this.waiting = undefined
    this.finish = undefined
    this.cancelTimer?.()
    if (waiting === undefined) return
    waiting.ctx.revoked = true
    this.fiber?.interruptUnsafe()
    this.journal?.cancelled(waiting.entry, waiting.began)
    this.end()
  }
}
