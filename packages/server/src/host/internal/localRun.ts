/** The sessions that the local engine advances, and those that wait for it. */
import type { Due } from "@belay/core/Inbox"
import type * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Semaphore from "effect/Semaphore"
import type { Advance } from "../Engine.ts"
import { isPinned, logRetry, retryDelay } from "./retryDelay.ts"

/** The longest pause before a session is advanced again that stays due, in milliseconds. */
const lastPauseMs = 60_000

/** A session that is being advanced, or waits for that. */
interface Job {
  state: "queued" | "running" | "failed"
  /** Whether it was woken meanwhile. */
  isWoken: boolean
}

/** A session that may stay due although it is advanced, for example behind a turn that others have to continue. */
interface Seen {
  readonly at: number
  readonly pauseMs: number
  readonly until: number
}

/** What a run needs. */
interface Settings {
  readonly advance: Advance
  readonly concurrency: number
  /** The services of whoever started the engine, such as loggers. */
  readonly context: Context.Context<never>
  readonly firstPauseMs: number
}

/** A class, because it is the state of an engine while it runs. */
export class LocalRun {
  private readonly settings: Settings
  /** The most sessions that wait. Those behind them are left in the inbox. */
  private readonly maxQueued: number
  private readonly permits: Semaphore.Semaphore
  private readonly jobs = new Map<string, Job>()
  private readonly seen = new Map<string, Seen>()
  private readonly fibers = new Set<Fiber.Fiber<unknown, unknown>>()
  private readonly closing = Deferred.makeUnsafe<void>()
  private queued = 0
  /** Sessions that were woken when enough waited already. Most of them are due in the inbox too. */
  private readonly left = new Set<string>()
  /** Whether there are more sessions than could be taken. */
  private hasMore = false
  private resumePoll = (): void => {}
  private isClosed = false

  constructor(settings: Settings) {
    this.settings = settings
    this.maxQueued = 4 * settings.concurrency
    this.permits = Semaphore.makeUnsafe(settings.concurrency)
  }

  /** How many due sessions to read, with those that are known already. 0 if enough sessions wait. */
  get limit(): number {
    const room = this.maxQueued - this.queued
    return room <= 0 ? 0 : room + this.jobs.size + this.seen.size
  }

  /** Succeeds when there is room for sessions that had to be left in the inbox. */
  get room(): Effect.Effect<void> {
    return Effect.callback((resume) => {
      this.resumePoll = () => resume(Effect.void)
      return Effect.sync(() => void (this.resumePoll = () => {}))
    })
  }

  /** Advances a session soon, and again if it is running. */
  wake(sessionId: string): void {
    const known = this.jobs.get(sessionId)
    if (known !== undefined) known.isWoken = true
    else if (this.queued < this.maxQueued) this.start(sessionId)
    else {
      this.left.add(sessionId)
      this.hasMore = true
    }
  }

  wakeAfter(sessionId: string, delayMs: number): void {
    if (this.isClosed) return
    this.fork(Effect.andThen(this.pause(delayMs), Effect.sync(() => this.wake(sessionId))))
  }

  /** Advances sessions that are due. A session that stays due is advanced again after a pause, which gets longer. */
  addDue(page: ReadonlyArray<Due>, hasMore: boolean, time: number): void {
    this.hasMore = hasMore
    const ids = new Set(page.map(({ sessionId }) => sessionId))
    for (const id of this.seen.keys()) if (!ids.has(id) && !this.jobs.has(id)) this.seen.delete(id)
    for (const { at, sessionId } of page) {
      if (this.jobs.has(sessionId)) continue
      const before = this.seen.get(sessionId)
      const isSame = before?.at === at
      if (isSame && time < before.until) continue
      if (this.queued >= this.maxQueued) break
      const pauseMs = isSame ? Math.min(2 * before.pauseMs, lastPauseMs) : this.settings.firstPauseMs
      this.seen.set(sessionId, { at, pauseMs, until: time + pauseMs })
      this.start(sessionId)
    }
    for (const sessionId of this.left) {
      if (this.queued >= this.maxQueued) break
      this.left.delete(sessionId)
      this.wake(sessionId)
    }
    if (this.queued >= this.maxQueued || this.left.size > 0) this.hasMore = true
  }

  /** Waits until no session is advanced any more. */
  get close(): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.isClosed = true
      Deferred.doneUnsafe(this.closing, Effect.void)
      return Effect.forEach([...this.fibers], Fiber.await, { discard: true, concurrency: "unbounded" })
    })
  }

  private start(sessionId: string): void {
    if (this.isClosed) return
    const job: Job = { state: "queued", isWoken: false }
    this.queued++
    this.left.delete(sessionId)
    this.jobs.set(sessionId, job)
    this.fork(this.work(sessionId, job))
  }

  private fork(effect: Effect.Effect<unknown>): void {
    const fiber = Effect.runForkWith(this.settings.context)(effect)
    this.fibers.add(fiber)
    fiber.addObserver(() => this.fibers.delete(fiber))
  }

  private pause(ms: number): Effect.Effect<void> {
    return Effect.raceFirst(Effect.sleep(ms), Deferred.await(this.closing))
  }

  private work(sessionId: string, job: Job): Effect.Effect<void> {
    return Effect.gen({ self: this }, function*() {
      let failures = 0
      while (!this.isClosed) {
        const isDone = yield* this.permits.withPermit(this.once(sessionId, job))
        if (isDone && !job.isWoken) break
        if (isDone) failures = 0
        else yield* this.pause(yield* retryDelay(++failures))
      }
      this.jobs.delete(sessionId)
    })
  }

  /** Returns whether the call has succeeded. */
  private once(sessionId: string, job: Job): Effect.Effect<boolean> {
    return Effect.suspend(() => {
      if (this.isClosed) return Effect.succeed(true)
      if (job.state === "queued") this.queued--
      if (this.hasMore && this.queued <= this.maxQueued / 4) this.resumePoll()
      job.state = "running"
      job.isWoken = false
      return Effect.matchCauseEffect(this.settings.advance(sessionId), {
        onSuccess: () => Effect.succeed(true),
        onFailure: (cause) => {
          // The inbox says when it is due for this process.
          if (isPinned(cause)) return Effect.succeed(true)
          job.state = "failed"
          return Effect.as(logRetry(sessionId, cause), false)
        }
      })
    })
  }
}
