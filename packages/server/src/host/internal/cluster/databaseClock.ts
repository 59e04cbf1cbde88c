/** The time of the database, by which wake-ups are due. That of a runner may be wrong, and may jump. */
import * as Deadline from "@belay/core/Deadline"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { SqlClient } from "effect/sql/SqlClient"
import { aheadOf } from "../sharedTime.ts"

/** How often the database is asked, in milliseconds. */
const askMs = 10_000

/** A clock that goes on evenly, and the effect that keeps it at the time of the database. */
export interface DatabaseClock {
  readonly clock: Clock.Clock
  readonly follow: Effect.Effect<never, never, SqlClient>
}

/** Makes a clock that shows the time of this process until it is followed. */
export const makeDatabaseClock: Effect.Effect<DatabaseClock> = Effect.gen(function*() {
  const own = yield* Clock.Clock
  const steady = yield* Deadline.clock
  let ahead = own.currentTimeMillisUnsafe() - steady()
  const clock: Clock.Clock = {
    currentTimeMillisUnsafe: () => Math.round(steady() + ahead),
    currentTimeMillis: Effect.sync(() => clock.currentTimeMillisUnsafe()),
    currentTimeNanosUnsafe: () => BigInt(clock.currentTimeMillisUnsafe()) * 1_000_000n,
    currentTimeNanos: Effect.sync(() => clock.currentTimeNanosUnsafe()),
    monotonicTimeNanosUnsafe: () => own.monotonicTimeNanosUnsafe(),
    monotonicTimeNanos: own.monotonicTimeNanos,
    sleep: (duration) => own.sleep(duration)
  }
  const follow = Effect.map(aheadOf(databaseTime), (found) => void (ahead = found))
  // A database that is away is asked again.
  return { clock, follow: Effect.forever(Effect.andThen(Effect.ignore(follow), Effect.sleep(askMs))) }
})

const databaseTime = Effect.gen(function*() {
  const sql = yield* SqlClient
  const query = sql<{ readonly ms: number }>`SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms`
  const [row] = yield* query
  return row!.ms
})
