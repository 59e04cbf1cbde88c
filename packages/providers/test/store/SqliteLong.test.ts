/** Sessions with long conversations, which are read in pieces. */
import * as SqliteStore from "@belay/providers/SqliteStore"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { afterAll, assert, describe, it } from "vitest"
import { commitOf, stateOf } from "../support/storedSessions.ts"

const folder = mkdtempSync(join(tmpdir(), "belay-sqlite-long-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const run = Effect.runPromise

describe("a long session in a SqliteStore", () => {
  it("is loaded as it was saved", async () => {
    using store = SqliteStore.make({ path: join(folder, "same.db") })
    for (const count of [999, 1_000, 1_001, 2_000, 3_210]) {
      const state = stateOf(1, count, `s${count}`)
      await run(store.sessions.commit(commitOf(state)))
      assert.deepStrictEqual(await run(store.sessions.load(`s${count}`)), state)
    }
  })

  it("is loaded as it is after a change, if it is changed while it is read", async () => {
    const path = join(folder, "changed.db")
    using store = SqliteStore.make({ path })
    using other = SqliteStore.make({ path })
    await run(store.sessions.commit(commitOf(stateOf(1, 4_000))))
    const reading = Effect.runFork(store.sessions.load("s"))
    await run(Effect.yieldNow)
    await run(other.sessions.commit(commitOf(stateOf(2, 3_000))))
    assert.deepStrictEqual(await run(Fiber.join(reading)), stateOf(2, 3_000))
  })

  it("is nothing if it is removed while it is read", async () => {
    using store = SqliteStore.make({ path: join(folder, "removed.db") })
    await run(store.sessions.commit(commitOf(stateOf(1, 4_000))))
    const reading = Effect.runFork(store.sessions.load("s"))
    await run(Effect.yieldNow)
    await run(store.sessions.remove!("s"))
    assert.isUndefined(await run(Fiber.join(reading)))
  })

  it("is refused if messages are missing", async () => {
    const path = join(folder, "missing.db")
    using store = SqliteStore.make({ path })
    await run(store.sessions.commit(commitOf(stateOf(1, 2_500))))
    const database = new DatabaseSync(path)
    database.exec("DELETE FROM messages WHERE position = 1700")
    database.close()
    const error = await run(Effect.flip(store.sessions.load("s")))
    assert.match(String((error as Error).message), /should have 2500 messages and has 2499/)
  })
})

describe("many sessions on a SqliteStore", () => {
  it("let other work of the process happen in between", async () => {
    using store = SqliteStore.make({ path: join(folder, "many.db") })
    let turns = 0
    let isDone = false
    const count = () => {
      turns++
      if (!isDone) setImmediate(count)
    }
    setImmediate(count)
    const began = process.cpuUsage()
    const sessions = Array.from({ length: 400 }, (_, index) => `s${index}`)
    // Without a model that waits, only the store can give way.
    await Promise.all(sessions.map((id) =>
      run(Effect.gen(function*() {
        for (let revision = 1; revision <= 3; revision++) {
          yield* store.sessions.commit(commitOf(stateOf(revision, revision, id), revision - 1))
        }
      }))
    ))
    isDone = true
    // Time in which the machine did something else does not count.
    const { system, user } = process.cpuUsage(began)
    assert.isAtLeast(turns, Math.floor((user + system) / 50_000))
    assert.strictEqual((await run(store.sessions.load("s399")))?.revision, 3)
  })
})
