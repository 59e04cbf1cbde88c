/**
 * Runs a point that needs more than the plain loop of `runPoint`: waiting, records, observers, gates, shadow hooks,
 * failures. It stops at an asynchronous hook and continues when the hook has answered.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import { messageOf } from "../../data/text/ErrorMessage.ts"
import type * as HookAction from "../HookAction.ts"
import { Continue } from "../HookAction.ts"
import type { HookContext, HookScope } from "../HookContext.ts"
import { change, confidential, type FailureKind, type HookAnswer, type HookFailure } from "../HookRecord.ts"
import { isAction, isPending, isPromise, isThenable, readOnce, violation } from "./checkAnswer.ts"
import { callIdOf, type CompiledPoint, type Entry, isForTool, policyOf, toolOf } from "./compiledPoint.ts"
import { Context } from "./context.ts"
import { Fold } from "./fold.ts"
import { maxRounds } from "./gates.ts"
import type { HookWrites } from "./hookWrites.ts"
import { type Decode, observed, type Outcome } from "./outcome.ts"
import { now, RecordWriter } from "./recordWriter.ts"
import { RunTimer } from "./runTimer.ts"
import { reportLate, type Waiting } from "./waiting.ts"
import { watchedEvent } from "./watchedEvent.ts"

/** A class, because it is a state machine: its fields are the state. */
export class PointRun {
  private readonly point: CompiledPoint
  private readonly scope: HookScope
  /** The value and the decision. */
  private readonly fold: Fold
  /** Present only if records are kept. */
  private readonly writer: RecordWriter | undefined
  private readonly tool: string | undefined

  /** The position of the run: the next decider, then the next gate (in `gates`), then the next observer. */
  private next: number
  private isRepeat = false
  private observer: number
  /** By slot of the gate: what it has written, so that it can be taken back. */
  private readonly writes: Array<HookWrites | undefined> = []

  private waiting: Waiting | undefined
  private finish: ((effect: Effect.Effect<Outcome>) => void) | undefined
  /** The fiber of the turn, and the fiber of the hook that is being awaited. */
  private parent: Fiber.Fiber<unknown, unknown> | undefined
  private fiber: Fiber.Fiber<unknown, unknown> | undefined
  private timer: RunTimer | undefined
  /** Whether `awaitPromises` is running. */
  private isAwaiting = false
  private outcome: Outcome | undefined

  constructor(
    point: CompiledPoint,
    event: unknown,
    scope: HookScope,
    decode?: Decode,
    next = 0,
    by?: string,
    observer = 0,
    answers?: Array<HookAnswer>
  ) {
    this.point = point
    this.scope = scope
    this.fold = new Fold(point, { event, by, decode, freezes: scope.freeze === true })
    const { onRecord } = scope
    this.writer = onRecord === undefined ? undefined : new RecordWriter(onRecord, answers)
    this.tool = toolOf(event)
    this.observer = observer
    this.next = next
    // The plain loop has called these hooks. It changes nothing at a point with gates.
    for (let index = 0; index < next; index++) {
      const entry = point.deciders[index]!
      this.fold.gates.markSeen(entry, event)
      if (entry.tracked) this.writes[entry.slot] = Context.tracked(scope.contexts[entry.slot] as Context)
    }
  }

  /** `again` means that the hooks have run before for another value, which a person has changed. */
  start(again = false): Outcome | Effect.Effect<Outcome> {
    this.isRepeat = again
    return this.advance() ?? this.wait()
  }

  /** Continues after the plain loop got an answer that it cannot handle. Observers have contexts of their own. */
  startWith(answer: unknown, ctx?: Context, began = 0): Outcome | Effect.Effect<Outcome> {
    const entry = this.lastCalled()
    const ofDecider = this.scope.contexts[entry.slot] as Context
    return this.handleAnswer(entry, ctx ?? ofDecider, answer, began) ? this.start() : this.wait()
  }

  /** Continues after a hook threw in the plain loop. */
  startAfterThrow(error: unknown, began = 0): Outcome | Effect.Effect<Outcome> {
    const entry = this.lastCalled()
    this.fail(entry, "threw", error, began)
    this.keepWrites(entry, this.scope.contexts[entry.slot] as Context | undefined)
    return this.start()
  }

  /** The hook that the plain loop has called last. */
  private lastCalled(): Entry {
    const { deciders, observers } = this.point
    return this.next < deciders.length ? deciders[this.next++]! : observers[this.observer++]!
  }

  /** Calls hooks until the run ends, and returns the outcome. Returns nothing if a hook must be awaited. */
  private advance(): Outcome | undefined {
    while (true) {
      const entry = this.pick()
      if (entry === undefined) return this.end()
      const began = this.writer === undefined ? 0 : now()
      const ctx = this.context(entry)
      let answer: unknown
      try {
        // A context has all capabilities as getters.
        const { fold: { event }, point: { point }, scope } = this
        answer = entry.call(scope.freeze ? watchedEvent(event, point, entry, scope) : event, ctx as HookContext)
      } catch (error) {
        this.fail(entry, "threw", error, began)
        this.keepWrites(entry, ctx)
        continue
      }
      if (!this.handleAnswer(entry, ctx, answer, began)) return undefined
    }
  }

  /** Returns the next hook to call, by stage, or nothing if none is left. */
  private pick(): Entry | undefined {
    const { deciders, observers } = this.point
    while (this.next < deciders.length) {
      const entry = deciders[this.next++]!
      if (this.fold.isRefused() || (this.fold.isAnswered() && !entry.isPolicy)) {
        this.writer?.skip(entry, `decided by ${this.fold.by}`)
      } else if (!isForTool(entry, this.tool)) this.writer?.skip(entry, "not for this tool")
      else return entry
    }
    const gate = this.pickGate()
    if (gate !== undefined) return gate
    this.fold.askAll()
    while (this.observer < observers.length) {
      const entry = observers[this.observer++]!
      if (isForTool(entry, this.tool)) return entry
      this.writer?.skip(entry, "not for this tool")
    }
    return undefined
  }

  /** Returns a gate that has not seen the final value. A Replace skips hooks, but not gates. */
  private pickGate(): Entry | undefined {
    if (this.fold.isRefused()) return undefined
    const isForPolicies = this.fold.action._tag === "Respond"
    const picked = this.fold.gates.pick(
      this.fold.event,
      (entry) => (!isForPolicies || entry.isPolicy) && isForTool(entry, this.tool)
    )
    if (picked === undefined || !picked.tooOften) return picked?.entry
    if (this.point.legal.Reject === true) {
      const { name } = picked.entry
      this.fold.decide(
        { _tag: "Reject", reason: `${name} was asked ${maxRounds} times and the value still changes` },
        name
      )
    }
    return undefined
  }

  private context(entry: Entry): Context {
    const { fold: { action, by }, scope } = this
    if (entry.observer) return Context.ofObserver(scope, entry.name, observed(action, by, this.fold.failedOpen))
    if (this.fold.gates.isAskedAgain(entry)) {
      const again = new Context(scope, entry.name, true, true)
      // A hook whose changes are made again keeps all that it has written for them.
      if (entry.reapplies) return again
      const writes = this.writes[entry.slot]
      writes?.begin()
      Context.track(again, writes)
      return again
    }
    if (this.isRepeat) {
      const repeated = new Context(scope, entry.name, true, true)
      if (entry.tracked) Context.track(repeated)
      return repeated
    }
    // Only the chain fills this list, with its own contexts.
    const ctx = (scope.contexts[entry.slot] ??= new Context(scope, entry.name, entry.shadow)) as Context
    if (entry.tracked) Context.track(ctx)
    return ctx
  }

  /** Keeps what the hook has written. When it is asked again, these writes replace those of its earlier answers. */
  private keepWrites(entry: Entry, ctx: Context | undefined): void {
    if (ctx === undefined || entry.observer) return
    const writes = Context.tracked(ctx)
    if (this.fold.gates.isAskedAgain(entry)) writes?.settle(!entry.tracked || this.fold.hasChanged(entry))
    if (writes !== undefined) this.writes[entry.slot] = writes
  }

  /** Handles an answer. Returns false if the hook must be awaited. */
  private handleAnswer(entry: Entry, ctx: Context, given: unknown, began: number): boolean {
    const answer = readOnce(given)
    if (isPromise(answer)) this.startWaiting(entry, ctx, undefined, answer, began)
    else if (!isPending(answer)) {
      this.takeAnswer(entry, ctx, answer, began)
      return true
    } else if (Exit.isExit(answer)) {
      this.takeExit(entry, ctx, answer, began)
      return true
    } else if (Effect.isEffect(answer)) {
      this.startWaiting(entry, ctx, answer as Effect.Effect<unknown, unknown>, undefined, began)
    } // A foreign thenable may throw, answer twice or at once; a promise does none of that.
    else if (isThenable(answer)) this.startWaiting(entry, ctx, undefined, Promise.resolve(answer), began)
    else this.startWaiting(entry, ctx, Effect.gen(() => answer as Generator<never, unknown, never>), undefined, began)
    return false
  }

  /** The context now belongs to this call, so that late writes after a timeout are detected. */
  private startWaiting(
    entry: Entry,
    ctx: Context,
    start: Waiting["start"],
    promise: Waiting["promise"],
    began: number
  ): void {
    const { contexts } = this.scope
    const isShared = contexts[entry.slot] === ctx
    if (isShared) contexts[entry.slot] = undefined
    this.waiting = { entry, ctx, isShared, start, promise, began }
    this.timer?.clear()
    if (promise !== undefined && !this.isAwaiting) void this.awaitPromises()
  }

  /** Handles the final answer of a hook. An unreadable answer is illegal, like one that the point forbids. */
  private takeAnswer(entry: Entry, ctx: Context, given: unknown, began: number): void {
    const answer = readOnce(given)
    let wrong: string | undefined
    this.keepWrites(entry, ctx)
    try {
      if (this.writer === undefined && this.fold.takePlain(entry, answer)) return
      wrong = answer === undefined || isAction(answer)
        ? this.apply(entry, answer ?? Continue, began)
        : violation(this.point, answer, this.fold.event)
    } catch (error) {
      wrong = `answered something that cannot be read: ${messageOf(error)}`
    }
    if (wrong !== undefined) this.fail(entry, "illegal", wrong, began)
  }

  /** Applies and records an action, or describes what is wrong with it. An illegal action changes nothing. */
  private apply(entry: Entry, action: HookAction.HookAction, began: number): string | undefined {
    const wrong = action._tag === "Continue" ? undefined : violation(this.point, action, this.fold.event)
    if (wrong !== undefined) return wrong
    if (entry.shadow || entry.observer) {
      this.writer?.note(entry, action, undefined, began)
      return undefined
    }
    const { fold } = this
    const before = fold.event
    const isIgnored = fold.gates.isIgnored(entry, action, before)
    const misfit = isIgnored ? undefined : fold.take(entry, action)
    if (misfit !== undefined) return misfit
    fold.gates.markSeen(entry, fold.event)
    this.writer?.note(entry, action, this.changeSince(entry, before), began, isIgnored)
    return undefined
  }

  private changeSince(entry: Entry, before: unknown): HookAnswer["change"] {
    const { event } = this.fold
    if (this.writer === undefined || event === before) return undefined
    return entry.confidential ? confidential : change(before, event)
  }

  private fail(entry: Entry, kind: FailureKind, error: unknown, began: number): void {
    const policy = policyOf(this.point, entry, kind)
    const failure: HookFailure = { hook: entry.name, point: this.point.point, kind, policy, message: messageOf(error) }
    if (policy !== "open") this.fold.fail(failure)
    this.fold.gates.markSeen(entry, this.fold.event)
    if (policy === "open" && !entry.observer) this.fold.addFailedOpen(entry)
    this.scope.onFailure(failure)
    this.writer?.failed(entry, failure, began)
  }

  private end(): Outcome {
    const { action, by, event, failure } = this.fold
    this.writer?.end(this.point.point, { subject: this.tool, callId: callIdOf(event) }, action, by)
    for (const writes of this.writes) writes?.end()
    const outcome = { action, event, by, failure }
    return this.outcome = action._tag === "Ask" ? { ...outcome, questions: this.fold.questions() } : outcome
  }

  /** Waits for all asynchronous hooks of this run with one Effect. */
  private wait(): Effect.Effect<Outcome> {
    return Effect.withFiber((fiber) =>
      Effect.callback<Outcome>((finish) => {
        if (this.outcome !== undefined) return finish(Effect.succeed(this.outcome))
        this.finish = finish
        this.parent = fiber
        this.timer = new RunTimer(fiber, () => this.expire())
        this.begin()
        return Effect.sync(() => this.cancel())
      })
    )
  }

  /** Starts the Effect of the hook (a promise is already running) and its timer. */
  private begin(): void {
    const { waiting } = this
    if (waiting === undefined) return
    if (waiting.start !== undefined) {
      const fiber = this.fiber = Effect.runForkWith(this.parent!.context)(waiting.start)
      fiber.addObserver((exit) => {
        if (this.waiting !== waiting) return reportLate(this.scope, waiting, exit)
        this.endWaiting(waiting)
        this.fiber = undefined
        this.takeExit(waiting.entry, waiting.ctx, exit, waiting.began)
        this.proceed()
      })
      if (this.waiting !== waiting) return
    }
    if (waiting.entry.timeoutMs !== Infinity && this.waiting === waiting) this.timer?.set(waiting.entry.timeoutMs)
  }

  private endWaiting({ ctx, entry, isShared }: Waiting): void {
    this.waiting = undefined
    if (isShared) this.scope.contexts[entry.slot] ??= ctx
  }

  /** Awaits promises one after the other, as long as hooks return promises. */
  private async awaitPromises(): Promise<void> {
    this.isAwaiting = true
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
      // After a timeout the run has continued without this answer.
      if (this.waiting !== waiting) return reportLate(this.scope, waiting)
      this.endWaiting(waiting)
      if (rejected) this.failWith(waiting.entry, waiting.ctx, "rejected", answer, waiting.began)
      else this.takeAnswer(waiting.entry, waiting.ctx, answer, waiting.began)
      this.proceed()
    }
    this.isAwaiting = false
  }

  /** Continues after a hook has answered, until the next asynchronous hook or the end. */
  private proceed(): void {
    const outcome = this.advance()
    if (outcome === undefined) return this.finish === undefined ? undefined : this.begin()
    this.timer?.cancel()
    this.finish?.(Effect.succeed(outcome))
  }

  private takeExit(entry: Entry, ctx: Context, exit: Exit.Exit<unknown, unknown>, began: number): void {
    if (Exit.isSuccess(exit)) this.takeAnswer(entry, ctx, exit.value, began)
    else if (Cause.hasInterruptsOnly(exit.cause)) {
      this.failWith(entry, ctx, "interrupted", "the hook interrupted itself", began)
    } else {
      const kind = Cause.hasFails(exit.cause) ? "failed" : "died"
      this.failWith(entry, ctx, kind, Cause.squash(exit.cause), began)
    }
  }

  private failWith(entry: Entry, ctx: Context, kind: FailureKind, error: unknown, began: number): void {
    this.keepWrites(entry, ctx)
    this.fail(entry, kind, error, began)
  }

  /** Handles the timeout of a hook. */
  private expire(): void {
    const { waiting } = this
    if (waiting === undefined) return
    Context.revoke(waiting.ctx)
    if (waiting.promise !== undefined) this.isAwaiting = false
    // The reaction of the hook to its interruption is not an answer.
    this.waiting = undefined
    this.fiber?.interruptUnsafe()
    this.fiber = undefined
    const late = `no answer within ${waiting.entry.timeoutMs} ms`
    this.failWith(waiting.entry, waiting.ctx, "timeout", late, waiting.began)
    this.proceed()
  }

  /** The turn was interrupted. The hook is interrupted too, and nothing that it does later counts. */
  private cancel(): void {
    const { waiting } = this
    this.waiting = undefined
    this.finish = undefined
    this.timer?.cancel()
    if (waiting === undefined) return
    Context.revoke(waiting.ctx)
    this.fiber?.interruptUnsafe()
    this.writer?.cancelled(waiting.entry, waiting.began)
    this.end()
  }
}
