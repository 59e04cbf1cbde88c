/** One run of a point that needs more than the plain loop: it stops where a hook has to be waited for, and goes on when it has answered. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import { after } from "../../data/internal/timer.ts"
import { freeze } from "../../data/Json.ts"
import type * as HookAction from "../HookAction.ts"
import { Continue, replace } from "../HookAction.ts"
import type { HookContext, HookScope } from "../HookContext.ts"
import { change, type FailureKind, type HookAnswer, type HookFailure } from "../HookRecord.ts"
import { isAction, isPending, isThenable, say, violation } from "./answer.ts"
import { Context } from "./context.ts"
import { fingerprint } from "./fingerprint.ts"
import { type Entry, type Line, observes, toolOf } from "./line.ts"
import { changed, type Decode, type Outcome, type Resume } from "./outcome.ts"

/** A gate is asked again at most so often because others changed the value. */
const maxRounds = 3

type Waiting = { readonly entry: Entry; readonly ctx: Context; readonly answer: object; readonly began: number }

/** A class because its fields are the state of a machine on a warm path. */
export class Run {
  private readonly line: Line
  private readonly scope: HookScope
  private readonly decode: Decode | undefined
  private event: unknown
  private action: HookAction.HookAction = Continue
  private by: string | undefined
  private failure: HookFailure | undefined
  private readonly answers: Array<HookAnswer> | undefined
  private readonly tool: string | undefined

  /** Where the run is: which decider is next, then which gate of which round, then which observer. */
  private next: number
  private round = 0
  private gate = 0
  private observer = 0
  /** What each gate has last answered for, by slot. */
  private readonly seen = new Map<number, string>()
  private readonly settled: Resume["settled"]

  private waiting: Waiting | undefined
  private finish: ((effect: Effect.Effect<Outcome>) => void) | undefined
  /** The fiber of the turn, and the one of the hook that is waited for. */
  private parent: Fiber.Fiber<unknown, unknown> | undefined
  private fiber: Fiber.Fiber<unknown, unknown> | undefined
  private cancelTimer: (() => void) | undefined
  private outcome: Outcome | undefined

  constructor(line: Line, event: unknown, scope: HookScope, decode?: Decode, resume?: Resume, next = 0, by?: string) {
    this.line = line
    this.decode = decode
    this.event = event
    this.scope = scope
    this.by = by
    if (by !== undefined) this.action = changed
    this.answers = scope.onRecord === undefined ? undefined : []
    this.tool = toolOf(event)
    this.settled = resume?.settled ?? []
    const from = resume?.after === undefined ? next : line.deciders.findIndex(({ name }) => name === resume.after) + 1
    this.next = from
    for (const entry of line.deciders.slice(0, resume === undefined ? 0 : from)) {
      this.skip(entry, "decided before")
      const answered = this.settled.findLast(({ hook }) => hook === entry.name)
      if (entry.gate) this.seen.set(entry.slot, answered?.fingerprint ?? this.text())
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
      const began = this.answers === undefined ? 0 : now()
      const ctx = this.context(entry)
      let answer: unknown
      try {
        answer = entry.call.call(entry.hook, this.event, ctx as HookContext)
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
      if (this.decided()) this.skip(entry, `decided by ${this.by}`)
      else if (entry.wants !== undefined && !entry.wants(this.tool ?? "")) this.skip(entry, "not for this tool")
      else if (this.isSettled(entry)) this.skip(entry, "answered before")
      else return entry
    }
    const gate = this.pickGate()
    if (gate !== undefined) return gate
    while (this.observer < observers.length) {
      const entry = observers[this.observer++]!
      if (entry.wants !== undefined && !entry.wants(this.tool ?? "")) this.skip(entry, "not for this tool")
      else return entry
    }
    return undefined
  }

  /** A gate that has not seen the final value. A Replace skips hooks, but no gate. */
  private pickGate(): Entry | undefined {
    if (!this.line.hasGates || this.stopped()) return undefined
    const text = this.text()
    const { deciders } = this.line
    while (true) {
      while (this.gate < deciders.length) {
        const entry = deciders[this.gate++]!
        if (entry.gate && this.seen.get(entry.slot) !== text && (entry.wants === undefined || entry.wants(this.tool ?? ""))) {
          if (this.round < maxRounds) return entry
          if (this.line.legal.Reject !== true) return undefined
          this.stop({ _tag: "Reject", reason: `${entry.name} was asked ${maxRounds} times and the value still changes` }, entry.name)
          return undefined
        }
      }
      if (deciders.every((entry) => !entry.gate || this.seen.get(entry.slot) === text || entry.wants?.(this.tool ?? "") === false)) {
        return undefined
      }
      this.gate = 0
      this.round++
    }
  }

  /** Whether a person has answered this hook's question about exactly this value. */
  private isSettled(entry: Entry): boolean {
    if (this.settled.length === 0) return false
    const text = this.text()
    if (!this.settled.some((one) => one.hook === entry.name && one.fingerprint === text)) return false
    if (entry.gate) this.seen.set(entry.slot, text)
    return true
  }

  /** Whether a later decider has nothing more to say. */
  private decided(): boolean {
    return this.action._tag === "Replace" || this.stopped()
  }

  /** Whether the operation itself is decided: no gate has to look at the value. */
  private stopped(): boolean {
    const tag = this.action._tag
    return tag === "Reject" || tag === "Respond" || tag === "Abort" || tag === "Ask"
  }

  private context(entry: Entry): Context {
    if (this.isObserver(entry)) {
      const ctx = new Context(this.scope, entry.name)
      const reason = "reason" in this.action ? this.action.reason : undefined
      ctx.outcome = {
        action: this.action._tag,
        ...(reason === undefined ? {} : { reason }),
        ...(this.by === undefined ? {} : { decidedBy: this.by })
      }
      return ctx
    }
    const { contexts } = this.scope
    return (contexts[entry.slot] ?? (contexts[entry.slot] = new Context(this.scope, entry.name))) as Context
  }

  private isObserver(entry: Entry): boolean {
    return observes(entry.hook, this.line.point)
  }

  /** Takes an answer; false when it is none yet and has to be waited for. */
  private answered(entry: Entry, ctx: Context, answer: unknown, began: number): boolean {
    if (!isPending(answer)) this.said(entry, answer, began)
    else if (Exit.isExit(answer)) this.exited(entry, answer, began)
    else {
      // The context stays with this call: what it does after a timeout can then be told from what others do.
      if (!this.isObserver(entry)) this.scope.contexts[entry.slot] = undefined
      this.waiting = { entry, ctx, answer, began }
      if (isThenable(answer)) this.listen(this.waiting, answer)
      return false
    }
    return true
  }

  /** Takes what a hook said in the end. What cannot even be read is as illegal as what may not be said. */
  private said(entry: Entry, answer: unknown, began: number): void {
    let wrong: string | undefined
    try {
      wrong = answer === undefined || isAction(answer)
        ? this.take(entry, answer ?? Continue, began)
        : violation(this.line, answer, this.event)
    } catch (error) {
      wrong = `answered something that cannot be read: ${say(error)}`
    }
    if (wrong !== undefined) this.fail(entry, "illegal", wrong, began)
  }

  /** Obeys and notes an action, or says what is wrong with it; until that is certain nothing is changed. */
  private take(entry: Entry, action: HookAction.HookAction, began: number): string | undefined {
    const wrong = action._tag === "Continue" ? undefined : violation(this.line, action, this.event)
    if (wrong !== undefined) return wrong
    if (entry.shadow || this.isObserver(entry)) return this.note(entry, action, undefined, began)
    let changes: HookAnswer["change"]
    if (action._tag === "Transform" || action._tag === "Replace") {
      const before = this.event
      const read = this.decode?.(action.value, before) ?? { ok: true as const, value: action.value }
      if (!read.ok) return `${action._tag} at ${this.line.point}: ${read.why}`
      const next = this.line.apply === undefined ? read.value : this.line.apply(before, read.value)
      if (this.scope.freeze) freeze(next)
      if (this.answers !== undefined && next !== before) changes = change(before, next)
      this.event = next
      this.stop(action._tag === "Replace" || this.action._tag === "Replace" ? replace(read.value) : changed, entry.name)
    } else if (action._tag !== "Continue") this.stop(action, entry.name)
    if (entry.gate) this.seen.set(entry.slot, this.text())
    return this.note(entry, action, changes, began)
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
    const { line: { legal, point } } = this
    const wanted = kind === "timeout" ? entry.onTimeout : entry.onFailure
    const policy = entry.shadow || this.isObserver(entry) || wanted === "open"
      ? "open"
      : wanted === "abort" && legal.Abort === true
      ? "abort"
      : legal.Reject === true
      ? "reject"
      : "open"
    const failure: HookFailure = { hook: entry.name, point, kind, policy, message: say(error) }
    if (policy !== "open") {
      const reason = `hook ${entry.name} failed at ${point} (${kind}): ${failure.message}`
      this.stop(policy === "abort" ? { _tag: "Abort", reason } : { _tag: "Reject", reason }, entry.name)
      this.failure = failure
    }
    if (entry.gate) this.seen.set(entry.slot, this.text())
    this.scope.onFailure(failure)
    this.answers?.push({
      hook: entry.name,
      answer: policy === "open" ? "failed-open" : "failed-closed",
      why: `${kind}: ${failure.message}`,
      durationMs: now() - began
    })
  }

  private skip(entry: Entry, why: string): void {
    this.answers?.push({ hook: entry.name, answer: "skipped", why, durationMs: 0 })
  }

  private note(entry: Entry, action: HookAction.HookAction, changes: HookAnswer["change"], began: number): undefined {
    if (this.answers === undefined) return
    const reason = "reason" in action ? action.reason : undefined
    const again = this.answers.some(({ answer, hook }) => hook === entry.name && answer !== "skipped")
    this.answers.push({
      hook: entry.name,
      answer: action._tag,
      ...(reason === undefined ? {} : { why: reason }),
      ...(changes === undefined ? {} : { change: changes }),
      ...(entry.shadow ? { shadow: true } : {}),
      ...(again ? { again: true } : {}),
      durationMs: now() - began
    })
  }

  private end(): Outcome {
    if (this.answers !== undefined) {
      this.scope.onRecord!({
        point: this.line.point,
        ...(this.tool === undefined ? {} : { subject: this.tool }),
        hooks: this.answers,
        action: this.action._tag,
        ...(this.by === undefined ? {} : { decidedBy: this.by })
      })
    }
    return this.outcome = { action: this.action, event: this.event, by: this.by, failure: this.failure }
  }

  // Waiting: one Effect for all that has to be waited for in this run.

  private wait(): Effect.Effect<Outcome> {
    return Effect.withFiber((fiber) =>
      Effect.callback<Outcome>((finish) => {
        if (this.outcome !== undefined) return finish(Effect.succeed(this.outcome))
        this.finish = finish
        this.parent = fiber
        this.begin()
        return Effect.sync(() => this.cancel())
      })
    )
  }

  /** Starts what is waited for (a promise runs already) and its timer. */
  private begin(): void {
    const { waiting } = this
    if (waiting === undefined) return
    if (!isThenable(waiting.answer)) {
      const effect = Effect.isEffect(waiting.answer) ? waiting.answer : Effect.gen(() => waiting.answer as Generator<never, unknown, never>)
      const fiber = this.fiber = Effect.runForkWith(this.parent!.context)(effect as Effect.Effect<unknown, unknown>)
      fiber.addObserver((exit) =>
        this.waiting === waiting ? this.settle(() => this.exited(waiting.entry, exit, waiting.began)) : this.late(waiting, exit)
      )
      if (this.waiting !== waiting) return
    }
    if (waiting.entry.timeoutMs !== Infinity && this.waiting === waiting) this.arm(waiting)
  }

  private listen(waiting: Waiting, promise: PromiseLike<unknown>): void {
    // A thenable of somebody's own making may throw, answer twice or at once; a promise does none of that.
    Promise.resolve(promise).then(
      (answer) =>
        this.waiting === waiting ? this.settle(() => this.said(waiting.entry, answer, waiting.began)) : this.late(waiting, undefined),
      (error) =>
        this.waiting === waiting
          ? this.settle(() => this.fail(waiting.entry, "rejected", error, waiting.began))
          : this.late(waiting, undefined)
    )
  }

  /** The hook that was waited for has answered: note it, then go on to the next that has to be waited for, or to the end. */
  private settle(note: () => void): void {
    this.waiting = undefined
    this.fiber = undefined
    this.cancelTimer?.()
    this.cancelTimer = undefined
    note()
    const outcome = this.advance()
    if (outcome === undefined) return this.finish === undefined ? undefined : this.begin()
    this.finish?.(Effect.succeed(outcome))
  }

  private exited(entry: Entry, exit: Exit.Exit<unknown, unknown>, began: number): void {
    if (Exit.isSuccess(exit)) this.said(entry, exit.value, began)
    else if (Cause.hasInterruptsOnly(exit.cause)) this.fail(entry, "interrupted", "the hook interrupted itself", began)
    else this.fail(entry, Cause.hasFails(exit.cause) ? "failed" : "died", Cause.squash(exit.cause), began)
  }

  private arm(waiting: Waiting): void {
    const { timeoutMs } = waiting.entry
    const expire = () => {
      if (this.waiting !== waiting) return
      waiting.ctx.revoked = true
      // What the hook says to its interruption is no answer.
      this.waiting = undefined
      this.fiber?.interruptUnsafe()
      this.settle(() => this.fail(waiting.entry, "timeout", `no answer within ${timeoutMs} ms`, waiting.began))
    }
    this.cancelTimer = after(this.parent!, timeoutMs, expire)
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
    this.answers?.push({ hook: waiting.entry.name, answer: "cancelled", durationMs: now() - waiting.began })
    this.end()
  }
}

const now = (): number => performance.now()
