/** The engine for one process keeps the laws of engines. */
import { type Inbox, inMemory } from "@belay/core/Inbox"
import * as SqliteStore from "@belay/providers/SqliteStore"
import * as LocalEngine from "@belay/server/LocalEngine"
import * as EngineLaws from "@belay/testing/EngineLaws"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { assert, describe, it, vi } from "vitest"
import { settableClock } from "../../../../test/support/settableClock.ts"
import { newFile, pollMs } from "./support/hosted.ts"

describe("the local engine", () => {
  const inMemorySubject = async (): Promise<EngineLaws.Subject> => {
    const inbox = inMemory()
    return { inbox, engine: LocalEngine.make({ inbox, pollMs }) }
  }
  const onFile = async (): Promise<EngineLaws.Subject> => {
    const { close, inbox } = SqliteStore.make({ path: newFile() })
    return { inbox, engine: LocalEngine.make({ inbox, pollMs }), dispose: close }
  }
  for (const { name, run } of EngineLaws.cases(inMemorySubject)) it(`in memory: ${name}`, run)
  for (const { name, run } of EngineLaws.cases(onFile)) it(`on SQLite: ${name}`, run)

  it("advances at most `concurrency` sessions at the same time", async () => {
    const inbox = inMemory()
    const engine = LocalEngine.make({ inbox, pollMs, concurrency: 3 })
    let [inside, most, calls] = [0, 0, 0]
    const scope = await Effect.runPromise(Scope.make())
    const advance = () =>
      Effect.gen(function*() {
        most = Math.max(most, ++inside)
        yield* Effect.sleep(2)
        inside--
        calls++
      })
    await Effect.runPromise(Scope.provide(engine.start(advance), scope))
    for (let index = 0; index < 30; index++) await Effect.runPromise(engine.wake(`s${index}`))
    while (calls < 30) await Effect.runPromise(Effect.sleep(2))
    await Effect.runPromise(Scope.close(scope, Exit.void))
    assert.strictEqual(most, 3)
  })

  it("advances a session that stays due again although the clock is set back", async () => {
    const inbox = { ...inMemory(), due: () => Effect.succeed([{ sessionId: "s", at: 0 }]) }
    const engine = LocalEngine.make({ inbox, pollMs: 1 })
    const { clock, move } = await Effect.runPromise(settableClock)
    const scope = await Effect.runPromise(Scope.make())
    const again = Promise.withResolvers<void>()
    let calls = 0
    const advance = () => {
      if (calls++ > 0) again.resolve()
      move(-3_600_000)
      return Effect.void
    }
    const starting = Effect.provideService(engine.start(advance), Clock.Clock, clock)
    await Effect.runPromise(Scope.provide(starting, scope))
    await again.promise
    await Effect.runPromise(Scope.close(scope, Exit.void))
  })

  it("says once what keeps it from reading the inbox, until it can read it again", async () => {
    const inbox = inMemory()
    const problems = ["away", "away", "away", "full", "full", "", "away", "away"]
    const due: Inbox["due"] = (page) =>
      Effect.suspend(() => {
        const problem = problems.shift() ?? ""
        return problem === "" ? inbox.due(page) : Effect.fail(problem)
      })
    const engine = LocalEngine.make({ inbox: { ...inbox, due }, pollMs: 1 })
    const scope = await Effect.runPromise(Scope.make())
    const printed = vi.spyOn(console, "log").mockReturnValue()
    await Effect.runPromise(Scope.provide(engine.start(() => Effect.void), scope))
    while (problems.length > 0) await Effect.runPromise(Effect.sleep(2))
    await Effect.runPromise(Scope.close(scope, Exit.void))
    const lines = printed.mock.calls.map((line) => String(line)).filter((line) => line.includes("cannot be read"))
    vi.restoreAllMocks()
    assert.deepStrictEqual(lines.map((line) => /away|full/.exec(line)?.[0]), ["away", "full", "away"])
  })
})
