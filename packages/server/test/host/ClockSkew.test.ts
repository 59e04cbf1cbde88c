/** Processes whose clocks differ, on one Postgres server. */
import { createAgent } from "@belay/core/createAgent"
import * as PostgresStore from "@belay/providers/PostgresStore"
import * as Host from "@belay/server/Host"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type PostgresServer, startPostgres } from "../../../../test/support/postgres.ts"
import { planner, pollMs } from "./support/hosted.ts"

const minute = 60_000

/** A clock that is wrong by so many milliseconds. */
const wrongBy = (ms: number): Clock.Clock => {
  const now = () => Date.now() + ms
  return {
    currentTimeMillisUnsafe: now,
    currentTimeMillis: Effect.sync(now),
    currentTimeNanosUnsafe: () => BigInt(now()) * 1_000_000n,
    currentTimeNanos: Effect.sync(() => BigInt(now()) * 1_000_000n),
    sleep: (duration) =>
      Effect.callback<void>((resume) => void setTimeout(() => resume(Effect.void), Duration.toMillis(duration)))
  } as Clock.Clock
}

describe("processes whose clocks differ by minutes", () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server.dispose())

  /** A host that runs with a wrong clock. */
  const process = (schema: string, ms: number) => {
    const store = PostgresStore.make({ url: server.url, schema, maxConnections: 4 })
    const agent = createAgent({ provider: planner(), store: store.sessions, log: false })
    const host = Host.make({ agent, store, pollMs })
    const run = <A, E>(effect: Effect.Effect<A, E>) =>
      Effect.runPromise(Effect.provideService(effect, Clock.Clock, wrongBy(ms)))
    const close = async () => {
      await agent.close()
      await store.close()
    }
    return { host, run, close }
  }

  it.each([[minute, -minute], [-minute, minute]])(
    "answer messages at once and in order if the sender is off by %i ms and the other by %i ms",
    async (ofSender, ofRunner) => {
      const schema = `skew_${ofSender > 0 ? "ahead" : "behind"}`
      const [sender, runner] = [process(schema, ofSender), process(schema, ofRunner)]
      await sender.run(sender.host.send("s", "one", { key: "a" }))
      await runner.run(runner.host.send("s", "two", { key: "b" }))
      await sender.run(sender.host.send("s", "three", { key: "c" }))
      await runner.run(runner.host.advance("s"))
      const outcomes = []
      for (const key of ["a", "b", "c"]) outcomes.push(await sender.run(sender.host.status("s", key)))
      assert.deepStrictEqual(
        outcomes.map((one) => one?.outcome?.status === "completed" ? [one.outcome.text, one.outcome.turnNumber] : one),
        [["re: one", 1], ["re: two", 2], ["re: three", 3]]
      )
      const running = await runner.run(runner.host.start())
      await sender.run(sender.host.send("s", "four", { key: "d" }))
      assert.deepInclude(await sender.run(sender.host.result("s", "d")), { text: "re: four" })
      const at = Date.now() + 400
      await sender.run(sender.host.send("s", "later", { key: "later", at }))
      assert.deepInclude(await sender.run(sender.host.result("s", "later")), { text: "re: later" })
      assert.isAtLeast(Date.now(), at - 50)
      assert.isBelow(Date.now(), at + 10_000)
      await running.drain()
      await sender.close()
      await runner.close()
    }
  )
})
