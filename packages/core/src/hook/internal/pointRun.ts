/**
 * Runs a point that needs more than the plain loop of `runPoint`: waiting, records, observers, gates, shadow hooks,
 * failures. It stops at an asynchronous hook and continues when the hook has answered.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import { freeze } from "../../data/Json.ts"
import { messageOf } from "../../data/text/ErrorMessage.ts"
import type * as HookAction from "../HookAction.ts"
import { Continue, replace } from "../HookAction.ts"
import type { HookContext, HookScope } from "../HookContext.ts"
import { change, confidential, type FailureKind, type HookAnswer, type HookFailure } from "../HookRecord.ts"
import { isAction, isPending, isPromise, isThenable, plainChange, violation } from "./checkAnswer.ts"
import { callIdOf, type CompiledPoint, type Entry, firstDecider, policyOf, toolOf } from "./compiledPoint.ts"
import { Context } from "./context.ts"
import { Gates, maxRounds } from "./gates.ts"
import { changed, decisionAfter, type Decode, observed, type Outcome, type Resume } from "./outcome.ts"
import { now, RecordWriter } from "./recordWriter.ts"
import { RunTimer } from "./runTimer.ts"
import { reportLate, type Waiting } from "./waiting.ts"

/** A class, because it is a state machine: its fields are the state. */
export class PointRun {
  private readonly point: CompiledPoint
  private readonly scope: HookScope
  private readonly decode: Decode | undefined
  private event: unknown
  private action: HookAction.HookAction = Continue
  private by: string | undefined
  private failure: HookFailure | undefined
  /** Present only if records are kept. */
  private readonly writer: RecordWriter | undefined
  private readonly tool: string | undefined

  /** The position of the run: the next decider, then the next gate (in `gates`), then the next observer. */
  private next: number
  private observer: number
  private readonly gates: Gates
  /** Whether a gate is running because it has not seen the final value. */
  private inGates = false

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
    resume?: Resume,
    next = 0,
    by?: string,
    observer = 0,
    answers?: Array<HookAnswer>
  ) {
    this.point = point
    this.decode = decode
    this.event = event
    this.scope = scope
    this.by = by
    if (by !== undefined) this.action = changed
    const { onRecord } = scope
    this.writer = onRecord === undefined ? undefined : new RecordWriter(onRecord, answers)
    this.tool = toolOf(event)
    this.observer = observer
    this.gates = new Gates(point, resume)
    this.next = firstDecider(point, next, resume)
    for (let index = 0; index < this.next; index++) {
      const entry = point.deciders[index]!
      // The plain loop has called these hooks. It changes nothing at a point with gates.
      if (resume === undefined) this.gates.markSeen(entry, event)
      else {
        this.writer?.skip(entry, "decided before")
        this.gates.markSkipped(entry)
      }
    }
  }

  start(): Outcome | Effect.Effect<Outcome> {
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
    this.fail(this.lastCalled(), "threw", error, began)
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
        answer = entry.call(this.event, ctx as HookContext)
      } catch (error) {
        this.fail(entry, "threw", error, began)
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
      if (this.action._tag === "Replace" || this.isDecided()) this.writer?.skip(entry, `decided by ${this.by}`)
      else if (entry.wants !== undefined && !entry.wants(this.tool ?? "")) {
        this.writer?.skip(entry, "not for this tool")
      } else if (this.gates.isSettled(entry, this.event)) this.writer?.skip(entry, "answered before")
      else return entry
    }
    const gate = this.pickGate()
    if (gate !== undefined) return gate
    while (this.observer < observers.length) {
      const entry = observers[this.observer++]!
      if (entry.wants !== undefined && !entry.wants(this.tool ?? "")) this.writer?.skip(entry, "not for this tool")
      else return entry
    }
    return undefined
  }

  /** Returns a gate that has not seen the final value. A Replace skips hooks, but not gates. */
  private pickGate(): Entry | undefined {
    if (!this.point.hasGates || this.isDecided()) return undefined
    const picked = this.gates.pick(this.event, this.tool)
    this.inGates = picked !== undefined
    if (picked === undefined || !picked.tooOften) return picked?.entry
    if (this.point.legal.Reject === true) {
      const { name } = picked.entry
      this.decide({ _tag: "Reject", reason: `${name} was asked ${maxRounds} times and the value still changes` }, name)
    }
    return undefined
  }

  /** Whether the operation is decided, so that no gate needs to check the value. */
  private isDecided(): boolean {
    const tag = this.action._tag
    return tag === "Reject" || tag === "Respond" || tag === "Abort" || tag === "Ask"
  }

  private context(entry: Entry): Context {
    const { action, by, scope } = this
    if (entry.observer) return Context.ofObserver(scope, entry.name, observed(action, by))
    if (this.gates.isAskedAgain(entry)) return new Context(scope, entry.name, true, true)
    // Only the chain fills this list, with its own contexts.
    return (scope.contexts[entry.slot] ??= new Context(scope, entry.name, entry.shadow)) as Context
  }

  /** Handles an answer. Returns false if the hook must be awaited. */
  private handleAnswer(entry: Entry, ctx: Context, answer: unknown, began: number): boolean {
    if (isPromise(answer)) this.startWaiting(entry, ctx, undefined, answer, began)
    else if (!isPending(answer)) {
      this.takeAnswer(entry, answer, began)
      return true
    } else if (Exit.isExit(answer)) {
      this.takeExit(entry, answer, began)
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
  private takeAnswer(entry: Entry, answer: unknown, began: number): void {
    let wrong: string | undefined
    try {
      if (this.writer === undefined && this.takePlain(entry, answer)) return
      wrong = answer === undefined || isAction(answer)
        ? this.apply(entry, answer ?? Continue, began)
        : violation(this.point, answer, this.event)
    } catch (error) {
      wrong = `answered something that cannot be read: ${messageOf(error)}`
    }
    if (wrong !== undefined) this.fail(entry, "illegal", wrong, began)
  }

  /** Takes nothing or a change, which are the most frequent answers, if there is nothing else to do. */
  private takePlain(entry: Entry, answer: unknown): boolean {
    const { decode, event, point } = this
    if (entry.shadow || entry.observer || point.hasGates) return false
    if (answer === undefined) return true
    const change = decode === undefined ? plainChange(point, answer, event) : undefined
    if (change === undefined) return false
    if (this.scope.freeze) freeze(change.event)
    this.event = change.event
    this.decide(changed, entry.name)
    return true
  }

  /** Applies and records an action, or describes what is wrong with it. An illegal action changes nothing. */
  private apply(entry: Entry, action: HookAction.HookAction, began: number): string | undefined {
    const wrong = action._tag === "Continue" ? undefined : violation(this.point, action, this.event)
    if (wrong !== undefined) return wrong
    if (entry.shadow || entry.observer) {
      this.writer?.note(entry, action, undefined, began)
      return undefined
    }
    if (action._tag === "Ask" && this.gates.isSettled(entry, this.event, true)) {
      return this.apply(entry, Continue, began)
    }
    if (this.gates.isIgnored(entry, action, this.event)) {
      this.gates.markSeen(entry, this.event)
      this.writer?.note(entry, action, undefined, began, true)
      return undefined
    }
    let changes: HookAnswer["change"]
    if (action._tag === "Transform" || action._tag === "Replace") {
      const before = this.event
      const read = this.decode?.(action.value, before, entry.name) ?? { ok: true as const, value: action.value }
      if (!read.ok) return `${action._tag} at ${this.point.point}: ${read.why}`
      const next = this.point.apply === undefined ? read.value : this.point.apply(before, read.value)
      if (this.scope.freeze) freeze(next)
      if (this.writer !== undefined && next !== before) {
        changes = entry.confidential
          ? confidential
          : change(before, next)
      }
      this.event = next
      this.decide(
        action._tag === "Replace" || this.action._tag === "Replace" ? replace(read.value) : changed,
        entry.name
      )
    } else if (action._tag !== "Continue") this.decide(this.gates.withoutProposal(entry, action), entry.name)
    this.gates.markSeen(entry, this.event)
    this.writer?.note(entry, action, changes, began)
    return undefined
  }

  private decide(action: HookAction.HookAction, by: string): void {
    this.action = action
    this.by = by
  }

  private fail(entry: Entry, kind: FailureKind, error: unknown, began: number): void {
    const policy = policyOf(this.point, entry, kind)
    const failure: HookFailure = { hook: entry.name, point: this.point.point, kind, policy, message: messageOf(error) }
    if (policy !== "open") {
      this.decide(decisionAfter(failure), entry.name)
      this.failure = failure
    }
    this.gates.markSeen(entry, this.event)
    this.scope.onFailure(failure)
    this.writer?.failed(entry, failure, began)
  }

  private end(): Outcome {
    this.writer?.end(this.point.point, { subject: this.tool, callId: callIdOf(this.event) }, this.action, this.by)
    const outcome = { action: this.action, event: this.event, by: this.by, failure: this.failure }
    return this.outcome = this.action._tag === "Ask" && this.inGates ? { ...outcome, atGate: true } : outcome
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
        this.takeExit(waiting.entry, exit, waiting.began)
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
      if (rejected) this.fail(waiting.entry, "rejected", answer, waiting.began)
      else this.takeAnswer(waiting.entry, answer, waiting.began)
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

  private takeExit(entry: Entry, exit: Exit.Exit<unknown, unknown>, began: number): void {
    if (Exit.isSuccess(exit)) this.takeAnswer(entry, exit.value, began)
    else if (Cause.hasInterruptsOnly(exit.cause)) this.fail(entry, "interrupted", "the hook interrupted itself", began)
    else this.fail(entry, Cause.hasFails(exit.cause) ? "failed" : "died", Cause.squash(exit.cause), began)
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
    this.fail(waiting.entry, "timeout", `no answer within ${waiting.entry.timeoutMs} ms`, waiting.began)
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
