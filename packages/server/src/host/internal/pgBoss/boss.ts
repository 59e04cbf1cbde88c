/** Opens pg-boss. */
import * as Deadline from "@belay/core/Deadline"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type Clock as BossClock, type Job, PgBoss, type QueueOptions, systemClock } from "pg-boss"
import type { Pool } from "./pool.ts"

/** What the engine was made with. */
export interface Settings {
  readonly source: Pool | { readonly url: string; readonly ssl: unknown; readonly maxConnections: number }
  readonly schema: string
  readonly queue: string
  readonly concurrency: number
  /** A job of a runner that has given no sign of life for so long is given to another, in milliseconds. */
  readonly lockMs: number
}

export { type Job, PgBoss }

/** How often a runner gives signs of life before it has lost its jobs. */
const heartbeats = 4

/**
 * How often a runner looks for jobs that others have lost or that are due, in seconds. The smallest that pg-boss takes.
 */
const [superviseEvery, lookEvery] = [1, 0.5]

/** pg-boss waits until a time of its clock. With that of the machine, it stands still when somebody sets that back. */
const steadyClock: BossClock = { ...systemClock, now: () => performance.timeOrigin + performance.now() }

const queueOptions: QueueOptions = {
  // `advance` decides when a message was tried too often.
  retryLimit: 2 ** 31 - 1,
  retryDelay: 0,
  // The most that pg-boss takes. A turn that runs for longer is parked and continued.
  expireInSeconds: 24 * 60 * 60,
  // pg-boss would delete what nobody has run for two weeks.
  retentionSeconds: 50 * 365 * 24 * 60 * 60,
  deleteAfterSeconds: 60
}

/** Opens pg-boss until the scope closes. */
export const openBoss = (
  { queue, schema, source }: Settings,
  isRunner: boolean
): Effect.Effect<PgBoss, unknown, Scope.Scope> =>
  Effect.gen(function*() {
    const boss = new PgBoss({
      ...("query" in source ? { db: databaseOf(source) } : {
        connectionString: source.url,
        max: isRunner ? source.maxConnections : 2,
        ...(source.ssl === undefined ? {} : { ssl: source.ssl })
      }),
      clock: steadyClock,
      schema,
      schedule: false,
      registerInstance: false,
      // On a pool, which cannot listen, jobs are looked for every half a second.
      useListenNotify: isRunner,
      supervise: isRunner,
      superviseIntervalSeconds: superviseEvery,
      monitorIntervalSeconds: superviseEvery,
      queueCacheIntervalSeconds: superviseEvery,
      maintenanceIntervalSeconds: 60
    })
    const log = Effect.runForkWith(yield* Effect.context<never>())
    // Without a listener an error would end the process. A runner tries again; who sends gets the error from its call.
    const tell = isRunner ? Effect.logWarning : Effect.logDebug
    const isNew = rarely()
    boss.on("error", ({ message }) => {
      const text = `pg-boss: ${message.replace(/ \(Queue: .*\)$/s, "")}`
      void log(Effect.flatMap(isNew(text), (is) => is ? tell(text) : Effect.void))
    })
    boss.on("warning", ({ message }) => void log(Effect.logDebug(`pg-boss: ${message}`)))
    yield* Effect.addFinalizer(() => Effect.ignore(promised(() => boss.stop({ graceful: false }))))
    yield* promised(() => boss.start())
    yield* promised(() => boss.createQueue(queue, { ...queueOptions, policy: "stately", notify: true }))
    return boss
  })

/** Runs jobs until the scope closes, and then waits for those that run. */
export const runJobs = (
  boss: PgBoss,
  { concurrency, lockMs, queue }: Settings,
  run: (job: Job<unknown>) => Promise<void>
): Effect.Effect<void, unknown, Scope.Scope> =>
  Effect.asVoid(Effect.acquireRelease(
    promised(() =>
      boss.work(queue, {
        localConcurrency: concurrency,
        pollingIntervalSeconds: lookEvery,
        notifyPollingIntervalSeconds: lookEvery,
        burstWhenReadyExceeds: 1,
        heartbeatRefreshSeconds: lockMs / 1_000 / heartbeats
      }, ([job]) => run(job!))
    ),
    () => Effect.ignore(promised(() => boss.offWork(queue, { wait: true })))
  ))

/** How long the same error is not logged again, in milliseconds. While the server is away, each worker fails often. */
const quietMs = 30_000

/** Returns a function that says whether a text was not seen for a while. */
const rarely = () => {
  const seen = new Map<string, number>()
  return (text: string): Effect.Effect<boolean> =>
    Effect.map(Deadline.now, (time) => {
      if (time - (seen.get(text) ?? -Infinity) < quietMs) return false
      if (seen.size >= 100) seen.clear()
      seen.set(text, time)
      return true
    })
}

const databaseOf = (pool: Pool) => ({
  executeSql: async (text: string, values?: Array<unknown>) => pool.query(text, values)
})

/** Calls pg-boss. Fails with what it rejects with. */
export const promised = <A>(act: () => Promise<A>): Effect.Effect<A, unknown> =>
  Effect.tryPromise({ try: act, catch: (error) => error })
