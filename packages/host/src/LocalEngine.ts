/**
 * An engine for one process. It keeps nothing itself: the inbox says which sessions are due.
 *
 * @since 0.1.0
 */
import type { Due, Inbox } from "@belay/core/Inbox"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Random from "effect/Random"
import * as Semaphore from "effect/Semaphore"
import type { Advance, Engine } from "./Engine.ts"

/** Options of `make`. @category models @since 0.1.0 */
export interface Options {
  readonly inbox: Inbox
  /** How many sessions are advanced at the same time. Default 64. */
  readonly concurrency?: number
  /** How often the inbox is asked for sessions that are due, in milliseconds. Default 500. */
  readonly pollMs?: number
}

/** How many due sessions are read at once. */
const pageSize = 200

const firstDelayMs = 250
const lastDelayMs = 60_000

/** A session that is being advanced, or waits for that. */
interface Job {
  state: "queued" | "running" | "failed"
  /** Whether it was woken meanwhile. */
  isWoken: boolean
}

/**
 * Makes the engine. Sessions that are woken in this process are advanced at once; those that another process has written
 * to, and those that are due later, within `pollMs`. Only one process at a time may run sessions with this engine.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = ({ concurrency = 64, inbox, pollMs = 500 }: Options): Engine => {
  let run: Run | undefined
  return {
    name: "local",
    wake: (sessionId, at) =>
      Effect.map(Clock.currentTimeMillis, (time) => {
        const delay = (at ?? 0) - time
        // What is due later is found in the inbox.
        if (delay <= 0) run?.add(sessionId, true)
        else if (delay < pollMs) run?.addAfter(sessionId, delay)
      }),
    start: (advance) =>
      Effect.acquireRelease(
        Effect.gen(function*() {
          const started = new Run(advance, concurrency, yield* Effect.context<never>())
          run = started
          const poller = yield* Effect.forkDetach(poll(started, inbox, pollMs))
          return Effect.gen(function*() {
            run = undefined
            yield* Fiber.interrupt(poller)
            yield* started.close
          })
        }),
        (close) => close
      ).pipe(Effect.asVoid)
  }
}

/** Adds due sessions, as long as there are not many that wait already. */
const poll = (run: Run, inbox: Inbox, pollMs: number): Effect.Effect<never> => {
  const round = Effect.gen(function*() {
    const until = yield* Clock.currentTimeMillis
    let after: Due | undefined
    do {
      const page: ReadonlyArray<Due> = yield* inbox.due({
        until,
        limit: pageSize,
        ...(after === undefined ? {} : { after })
      })
      for (const { sessionId } of page) run.add(sessionId, false)
      after = page.length === pageSize ? page.at(-1) : undefined
    } while (after !== undefined && !run.isFull)
  })
  return Effect.forever(Effect.andThen(
    Effect.catchCause(round, (cause) => Effect.logWarning("the inbox of the host cannot be read", cause)),
    Effect.sleep(pollMs)
  ))
}

/** A class, because it is the state of an engine while it runs. */
class Run {
  private readonly advance: Advance
  private readonly limit: number
  /** The services of whoever started the engine, such as loggers. */
  private readonly context: Context.Context<never>
  private readonly permits: Semaphore.Semaphore
  private readonly jobs = new Map<string, Job>()
  private readonly fibers = new Set<Fiber.Fiber<unknown, unknown>>()
  private readonly closing = Deferred.makeUnsafe<void>()
  private isClosed = false

  constructor(advance: Advance, concurrency: number, context: Context.Context<never>) {
    this.advance = advance
    this.context = context
    this.limit = 4 * concurrency
    this.permits = Semaphore.makeUnsafe(concurrency)
  }

  /** Whether enough sessions wait. Those whose last call failed do not count. */
  get isFull(): boolean {
    let waiting = 0
    for (const { state } of this.jobs.values()) if (state === "queued") waiting++
    return waiting >= this.limit
  }

  /** Advances a session soon. A session that is running is advanced again only if it was woken. */
  add(sessionId: string, isWoken: boolean): void {
    if (this.isClosed) return
    const known = this.jobs.get(sessionId)
    if (known !== undefined) {
      known.isWoken ||= isWoken
      return
    }
    const job: Job = { state: "queued", isWoken: false }
    this.jobs.set(sessionId, job)
    this.fork(this.work(sessionId, job))
  }

  addAfter(sessionId: string, delayMs: number): void {
    if (this.isClosed) return
    this.fork(Effect.andThen(this.pause(delayMs), Effect.sync(() => this.add(sessionId, true))))
  }

  /** Waits until no session is advanced any more. */
  get close(): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.isClosed = true
      Deferred.doneUnsafe(this.closing, Effect.void)
      return Effect.forEach([...this.fibers], Fiber.await, { discard: true, concurrency: "unbounded" })
    })
  }

  private fork(effect: Effect.Effect<unknown>): void {
    const fiber = Effect.runForkWith(this.context)(effect)
    this.fibers.add(fiber)
    fiber.addObserver(() => this.fibers.delete(fiber))
  }

  private pause(ms: number): Effect.Effect<void> {
    return Effect.raceFirst(Effect.sleep(ms), Deferred.await(this.closing))
  }

  private work(sessionId: string, job: Job): Effect.Effect<void> {
    return Effect.gen({ self: this }, function*() {
      let delayMs = firstDelayMs
      while (!this.isClosed) {
        const isDone = yield* this.permits.withPermit(this.once(sessionId, job))
        if (isDone && !job.isWoken) break
        if (isDone) continue
        yield* this.pause(yield* Random.nextBetween(delayMs / 2, delayMs))
        delayMs = Math.min(2 * delayMs, lastDelayMs)
      }
      this.jobs.delete(sessionId)
    })
  }

  /** Returns whether the call has succeeded. */
  private once(sessionId: string, job: Job): Effect.Effect<boolean> {
    return Effect.suspend(() => {
      if (this.isClosed) return Effect.succeed(true)
      job.state = "running"
      job.isWoken = false
      return Effect.matchCauseEffect(this.advance(sessionId), {
        onSuccess: () => Effect.succeed(true),
        onFailure: (cause) => {
          job.state = "failed"
          return Effect.as(Effect.logWarning(`session ${sessionId} is advanced again later`, cause), false)
        }
      })
    })
  }
}
