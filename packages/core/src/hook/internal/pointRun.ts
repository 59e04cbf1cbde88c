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
import { callIdOf, type CompiledPoint, type Entry, policyOf, toolOf } from "./compiledPoint.ts"
import { Context } from "./context.ts"
import { Gates, maxRounds } from "./gates.ts"
import type { HookWrites } from "./hookWrites.ts"
import { changed, decisionAfter, type Decode, type HookQuestion, observed, type Outcome } from "./outcome.ts"
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
  /** By slot of the hook: what it wants a person to decide. */
  private questions: Array<HookQuestion | undefined> | undefined
  /** Present only if records are kept. */
  private readonly writer: RecordWriter | undefined
  private readonly tool: string | undefined

  /** The position of the run: the next decider, then the next gate (in `gates`), then the next observer. */
  private next: number
  private observer: number
  private readonly gates: Gates
  /** By slot of the gate: what it has written, so that it can be taken back. */
  private readonly writes: Array<HookWrites | undefined> = []
  /** By slot of the hook: whether a change that it made stands. */
  private readonly hasChanged: Array<true | undefined> = []
  /** Whether the hook that answered for the operation is a policy. */
  private isAnsweredByPolicy = false

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
    this.decode = decode
    this.event = event
    this.scope = scope
    this.by = by
    if (by !== undefined) this.action = changed
    const { onRecord } = scope
    this.writer = onRecord === undefined ? undefined : new RecordWriter(onRecord, answers)
    this.tool = toolOf(event)
    this.observer = observer
    this.gates = new Gates(point)
    this.next = next
    // The plain loop has called these hooks. It changes nothing at a point with gates.
    for (let index = 0; index < next; index++) {
      const entry = point.deciders[index]!
      this.gates.markSeen(entry, event)
      if (entry.tracked) this.writes[entry.slot] = Context.tracked(scope.contexts[entry.slot] as Context)
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
        answer = entry.call(this.event, ctx as HookContext)
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
      if (this.isRefused() || (this.isAnswered() && !entry.isPolicy)) this.writer?.skip(entry, `decided by ${this.by}`)
      else if (!this.isForTool(entry)) this.writer?.skip(entry, "not for this tool")
      else return entry
    }
    const gate = this.pickGate()
    if (gate !== undefined) return gate
    this.askAll()
    while (this.observer < observers.length) {
      const entry = observers[this.observer++]!
      if (this.isForTool(entry)) return entry
      this.writer?.skip(entry, "not for this tool")
    }
    return undefined
  }

  /** Returns a gate that has not seen the final value. A Replace skips hooks, but not gates. */
  private pickGate(): Entry | undefined {
    if (this.isRefused()) return undefined
    const isForPolicies = this.action._tag === "Respond"
    const picked = this.gates.pick(
      this.event,
      (entry) => (!isForPolicies || entry.isPolicy) && this.isForTool(entry)
    )
    if (picked === undefined || !picked.tooOften) return picked?.entry
    if (this.point.legal.Reject === true) {
      const { name } = picked.entry
      this.decide({ _tag: "Reject", reason: `${name} was asked ${maxRounds} times and the value still changes` }, name)
    }
    return undefined
  }

  private isForTool({ wants }: Entry): boolean {
    return wants === undefined || wants(this.tool ?? "")
  }

  /** Whether the operation does not happen, so that no hook needs to check the value. */
  private isRefused(): boolean {
    return this.action._tag === "Reject" || this.action._tag === "Abort"
  }

  /** Whether a hook has given the final value or the result, so that only policies still check it. */
  private isAnswered(): boolean {
    return this.action._tag === "Replace" || this.action._tag === "Respond"
  }

  private context(entry: Entry): Context {
    const { action, by, scope } = this
    if (entry.observer) return Context.ofObserver(scope, entry.name, observed(action, by))
    if (this.gates.mayOnlyRefuse(entry)) {
      const again = new Context(scope, entry.name, true, true)
      const writes = this.writes[entry.slot]
      writes?.begin()
      Context.track(again, writes)
      return again
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
    if (ctx.askedAgain) writes?.settle(!entry.tracked || this.hasChanged[entry.slot] === true)
    if (writes !== undefined) this.writes[entry.slot] = writes
  }

  /** Handles an answer. Returns false if the hook must be awaited. */
  private handleAnswer(entry: Entry, ctx: Context, answer: unknown, began: number): boolean {
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
  private takeAnswer(entry: Entry, ctx: Context, answer: unknown, began: number): void {
    let wrong: string | undefined
    this.keepWrites(entry, ctx)
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
    if (entry.shadow || entry.observer || point.hasGates || this.questions !== undefined) return false
    if (answer === undefined) {
      this.gates.markSeen(entry, event)
      return true
    }
    const change = decode === undefined ? plainChange(point, answer, event) : undefined
    if (change === undefined) return false
    if (this.isAnswered()) return false
    if (this.scope.freeze) freeze(change.event)
    this.event = change.event
    this.gates.markSeen(entry, change.event)
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
    if (this.gates.isIgnored(entry, action, this.event)) {
      this.gates.markSeen(entry, this.event)
      this.writer?.note(entry, action, undefined, began, true)
      return undefined
    }
    const taken = this.take(entry, action)
    if (typeof taken === "string") return taken
    this.gates.markSeen(entry, this.event)
    this.writer?.note(entry, action, taken, began)
    return undefined
  }

  /** Applies a legal action. Returns the change that it makes, or a text that says what is wrong with the new value. */
  private take(entry: Entry, action: HookAction.HookAction): HookAnswer["change"] | string {
    if (action._tag === "Transform" || action._tag === "Replace") return this.changeTo(entry, action, action.value)
    if (action._tag === "Ask") return this.addQuestion(entry, this.gates.withoutProposal(entry, action))
    // The answer of a gate that is asked again replaces its question.
    this.setQuestion(entry, undefined)
    if (action._tag === "Continue") return undefined
    // Only policies run after an answer, and theirs comes before that of another hook.
    const isLate = action._tag === "Respond" && this.action._tag === "Respond" && this.isAnsweredByPolicy
    if (!isLate) this.decide(action, entry.name)
    this.isAnsweredByPolicy ||= entry.isPolicy
    return undefined
  }

  private changeTo(
    entry: Entry,
    { _tag }: HookAction.HookAction,
    value: unknown
  ): HookAnswer["change"] | string {
    const before = this.event
    const read = this.decode?.(value, before) ?? { ok: true as const, value }
    if (!read.ok) return `${_tag} at ${this.point.point}: ${read.why}`
    const next = this.point.apply === undefined ? read.value : this.point.apply(before, read.value)
    if (this.scope.freeze) freeze(next)
    this.event = next
    this.hasChanged[entry.slot] = true
    if (_tag !== "Ask") this.setQuestion(entry, undefined)
    if (this.action._tag !== "Respond") {
      const isFinal = _tag === "Replace" || this.action._tag === "Replace"
      this.decide(isFinal ? replace(read.value) : changed, entry.name)
    }
    if (this.writer === undefined || next === before) return undefined
    return entry.confidential ? confidential : change(before, next)
  }

  /** Keeps a question. All hooks see arguments that it proposes, as if they were those of the call. */
  private addQuestion(entry: Entry, ask: HookAction.Ask): HookAnswer["change"] | string {
    const { args, ...question } = ask
    const { event } = this
    const changes = args === undefined ? undefined : this.changeTo(entry, ask, { ...(event as object), args })
    if (typeof changes === "string") return changes
    if (args !== undefined) this.gates.includeAll()
    this.setQuestion(entry, { by: entry.name, ask: question })
    return changes
  }

  private setQuestion({ slot }: Entry, question: HookQuestion | undefined): void {
    if (question !== undefined) (this.questions ??= [])[slot] = question
    else if (this.questions !== undefined) this.questions[slot] = undefined
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
    const questions = this.action._tag === "Ask" ? this.openQuestions() : undefined
    this.writer?.end(this.point.point, { subject: this.tool, callId: callIdOf(this.event) }, this.action, this.by)
    for (const writes of this.writes) writes?.end()
    const outcome = { action: this.action, event: this.event, by: this.by, failure: this.failure }
    return this.outcome = questions === undefined ? outcome : { ...outcome, questions }
  }

  /** Decides for the open questions, unless the operation does not happen anyway. */
  private askAll(): void {
    if (this.questions === undefined || this.isRefused() || this.action._tag === "Respond") return
    const [first] = this.openQuestions()
    if (first !== undefined) this.decide(first.ask, first.by)
  }

  /** The questions, in the order of the hooks. */
  private openQuestions(): ReadonlyArray<HookQuestion> {
    const { questions } = this
    return questions === undefined ? [] : this.point.deciders.flatMap(({ slot }) => questions[slot] ?? [])
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
