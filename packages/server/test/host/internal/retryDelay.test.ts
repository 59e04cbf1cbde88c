/** How long an engine waits before it advances a session again, and what it says. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as References from "effect/References"
import { assert, describe, it } from "vitest"
import { HostError } from "../../../src/host/HostError.ts"
import { isPinned, logRetry, retryDelay } from "../../../src/host/internal/retryDelay.ts"

const pinned = Cause.fail(new HostError({ problem: "pinned", message: "m" }))
const others: ReadonlyArray<Cause.Cause<unknown>> = [
  Cause.fail(new HostError({ problem: "store", message: "m" })),
  Cause.fail({ _tag: "Other", problem: "pinned" }),
  Cause.die("x"),
  Cause.fail(undefined)
]

describe("a session whose call has failed", () => {
  it("is advanced again after a time that doubles from a quarter of a second to a minute", async () => {
    for (const [failures, most] of [[1, 250], [2, 500], [3, 1_000], [8, 32_000], [9, 60_000], [500, 60_000]] as const) {
      const all = await Effect.runPromise(Effect.forEach(Array.from({ length: 200 }), () => retryDelay(failures)))
      assert.isAtLeast(Math.min(...all), most / 2)
      assert.isAtMost(Math.max(...all), most)
      // Those that have failed together do not come back together.
      assert.isBelow(Math.min(...all), most * 0.6)
      assert.isAbove(Math.max(...all), most * 0.9)
    }
  })

  it("is a warning, except if another release has it", async () => {
    const said: Array<unknown> = []
    const logger = Logger.make<unknown, void>(({ logLevel, message }) => void said.push([logLevel, String(message)]))
    const log = (cause: Cause.Cause<unknown>) =>
      Effect.runPromise(
        logRetry("s", cause).pipe(
          Effect.provide(Logger.layer([logger])),
          Effect.provideService(References.MinimumLogLevel, "All")
        )
      )
    await log(pinned)
    for (const cause of others) await log(cause)
    const line = "session s is advanced again later"
    assert.deepEqual(said.map((one) => (one as ReadonlyArray<string>)[0]), [
      "Debug",
      ...others.map(() => "Warn")
    ])
    for (const one of said) assert.include((one as ReadonlyArray<string>)[1], line)
    assert.deepEqual([pinned, ...others].map(isPinned), [true, false, false, false, false])
  })
})
