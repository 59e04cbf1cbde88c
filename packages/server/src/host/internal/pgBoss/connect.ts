/** Connects a process to the queue. This is the only module of the engine that loads the package it needs. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import type { Advance, Engine } from "../../Engine.ts"
import { logRetry, retryDelay } from "../retryDelay.ts"
import { type Job, openBoss, type PgBoss, promised, runJobs, type Settings } from "./boss.ts"

/**
 * What a job says. One with `isLater` only waits until it is due, and then adds one without: so there is at most one
 * job of a session that waits, one that runs, and one for each time at which it is due.
 */
interface Request {
  readonly sessionId: string
  readonly isLater: boolean
  /** How many calls of `advance` have failed in a row. */
  readonly failures: number
}

/** Connects a process that sends. Returns its `wake`. */
export const connectSender = (settings: Settings): Effect.Effect<Engine["wake"], unknown, Scope.Scope> =>
  Effect.map(
    openBoss(settings, false),
    (boss) => (sessionId, at) => {
      if (at === undefined) return addNow(boss, settings, sessionId)
      const startAfter = new Date(Math.ceil(at)).toISOString()
      return addLater(boss, settings, { sessionId, isLater: true, failures: 0 }, `${sessionId}@${at}`, startAfter)
    }
  )

/** Connects a process that runs sessions. */
export const connectRunner = (settings: Settings, advance: Advance): Effect.Effect<void, unknown, Scope.Scope> =>
  Effect.gen(function*() {
    const boss = yield* openBoss(settings, true)
    const runPromise = Effect.runPromiseWith(yield* Effect.context<never>())
    // Only `connectSender` and this function write jobs.
    yield* runJobs(boss, settings, (job) => runPromise(work(boss, settings, advance, job as Job<Request>)))
  })

const work = (
  boss: PgBoss,
  settings: Settings,
  advance: Advance,
  { data: { failures, isLater, sessionId }, signal }: Job<Request>
): Effect.Effect<void, unknown> =>
  Effect.gen(function*() {
    if (isLater) return yield* addNow(boss, settings, sessionId, failures)
    const exit = yield* untilLost(advance(sessionId), signal)
    if (Exit.isSuccess(exit)) return
    if (signal.aborted) return yield* exit
    yield* logRetry(sessionId, exit.cause)
    const startAfter = (yield* retryDelay(failures + 1)) / 1_000
    const again = { sessionId, isLater: true, failures: failures + 1 }
    yield* addLater(boss, settings, again, `${sessionId}@again`, startAfter)
  })

/** Interrupts a call when the job was given to another process. */
const untilLost = (call: Effect.Effect<void, unknown>, signal: AbortSignal): Effect.Effect<Exit.Exit<void, unknown>> =>
  Effect.gen(function*() {
    const fiber = yield* Effect.forkDetach(call)
    const stop = () => fiber.interruptUnsafe()
    signal.addEventListener("abort", stop, { once: true })
    if (signal.aborted) stop()
    return yield* Effect.ensuring(
      Fiber.await(fiber),
      Effect.sync(() => signal.removeEventListener("abort", stop))
    )
  })

/** Adds a job that runs the session, unless one waits already. */
const addNow = (boss: PgBoss, settings: Settings, sessionId: string, failures = 0): Effect.Effect<void, unknown> =>
  add(boss, settings, { sessionId, isLater: false, failures }, { singletonKey: sessionId })

/** `startAfter` is a time of the database, or how many seconds from its time: that of this process may be wrong. */
const addLater = (
  boss: PgBoss,
  settings: Settings,
  data: Request,
  singletonKey: string,
  startAfter: string | number
): Effect.Effect<void, unknown> => add(boss, settings, data, { singletonKey, startAfter })

const add = (
  boss: PgBoss,
  { lockMs, queue }: Settings,
  data: Request,
  options: { readonly singletonKey: string; readonly startAfter?: string | number }
): Effect.Effect<void, unknown> =>
  // `send` refuses signs of life that are due more often than every ten seconds. `insert` does not check them.
  Effect.asVoid(promised(() => boss.insert(queue, [{ data, heartbeatSeconds: lockMs / 1_000, ...options }])))
