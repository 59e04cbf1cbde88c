/** A Postgres server that goes away and comes back, and replies that are lost. */
import { createAgent } from "@belay/core/createAgent"
import * as PostgresStore from "@belay/providers/PostgresStore"
import * as Scripted from "@belay/testing/Scripted"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import pg from "pg"
import { afterAll, assert, beforeAll, describe, it, vi } from "vitest"
import { type PostgresServer, startPostgres } from "../../../../test/support/postgres.ts"
import { settableClock } from "../../../../test/support/settableClock.ts"
import { failure, newSchema, wrapped } from "../support/postgresStore.ts"
import { killCycles } from "../support/storeCrash.ts"
import { commitOf, stateOf } from "../support/storedSessions.ts"

const run = Effect.runPromise

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server.dispose())

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

describe("a Postgres server that is killed", () => {
  it("is waited for, and nothing is lost or stored twice", async () => {
    await using store = PostgresStore.make({ url: server.url, schema: newSchema(), patience: "2 minutes" })
    await run(store.sessions.commit(commitOf(stateOf(1, 1))))
    for (let revision = 2; revision < 5; revision++) {
      await server.kill()
      const waiting = run(store.sessions.commit(commitOf(stateOf(revision, revision), revision - 1)))
      await server.start()
      await waiting
    }
    assert.deepEqual(await run(store.sessions.load("s")), stateOf(4, 4))
  })

  it("only delays the turns of an agent", async () => {
    const schema = newSchema()
    await using store = PostgresStore.make({ url: server.url, schema, patience: "2 minutes" })
    await using agent = createAgent({
      provider: Scripted.make(Array.from({ length: 12 }, (_, n) => `answer ${n}`)),
      store: store.sessions
    })
    await using session = await agent.session({ id: "s" })
    const answers: Array<string> = []
    const talk = async (): Promise<void> => {
      for (let turn = 0; turn < 12; turn++) answers.push((await session.run(`question ${turn}`)).text)
    }
    const talking = talk()
    for (let crash = 0; crash < 3; crash++) {
      await pause(5)
      await server.kill()
      await server.start()
    }
    await talking
    assert.deepEqual(answers, Array.from({ length: 12 }, (_, n) => `answer ${n}`))
    const stored = await run(store.sessions.load("s"))
    assert.lengthOf(stored!.messages, 24)
  })

  it("is named after the patience", async () => {
    await using store = PostgresStore.make({ url: server.url, patience: "50 millis" })
    await server.kill()
    const { _tag, message, problem } = await failure(store.sessions.load("s"))
    await server.start()
    assert.deepEqual([_tag, problem], ["StoreError", "unreachable"])
    assert.strictEqual(
      message,
      `postgres://127.0.0.1:${server.port}/postgres: the server cannot be reached (connect ECONNREFUSED ` +
        `127.0.0.1:${server.port}): check that it runs`
    )
    // It tries again with the next operations.
    assert.isUndefined(await vi.waitFor(() => run(store.sessions.load("s")), 60_000))
  })

  it("is not waited for longer because the clock is set back", async () => {
    const { clock, move } = await run(settableClock)
    const connect = async () => {
      move(-3_600_000)
      throw Object.assign(new Error("away"), { code: "ECONNREFUSED" })
    }
    await using store = PostgresStore.make({ pool: { connect, query: connect }, patience: "50 millis" })
    const { problem } = await failure(Effect.provideService(store.sessions.load("s"), Clock.Clock, clock))
    assert.strictEqual(problem, "unreachable")
  })
})

describe("a Postgres store", () => {
  it("loses nothing that 6 killed processes acknowledged, and no tool runs twice", async () => {
    const schema = newSchema()
    await using store = PostgresStore.make({ url: server.url, schema })
    await store.ready()
    await killCycles(6, `${server.url}#${schema}`)
  })
})

describe("a connection that is lost", () => {
  /** A store whose connection is lost once, at a statement with this text: before the server gets it, or afterwards. */
  const losing = async (when: "before" | "after", what: RegExp, meanwhile = async (): Promise<void> => {}) => {
    const pool = new pg.Pool({ connectionString: server.url, max: 2 })
    const schema = newSchema()
    let lost: "never" | "waits" | "happened" = "never"
    const store = PostgresStore.make({
      schema,
      pool: wrapped(pool, async (text, go) => {
        if (lost !== "waits" || !what.test(text)) return await go()
        lost = "happened"
        if (when === "after") await go()
        await meanwhile()
        throw Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" })
      })
    })
    await store.ready()
    lost = "waits"
    return {
      store,
      schema,
      wasLost: () => lost === "happened",
      [Symbol.asyncDispose]: () => pool.end()
    }
  }

  it.each(["before", "after"] as const)("%s a commit: the commit is stored once", async (when) => {
    await using losses = await losing(when, /WITH kept/)
    const { store, wasLost } = losses
    await run(store.sessions.commit(commitOf(stateOf(1, 2))))
    assert.isTrue(wasLost())
    await run(store.sessions.commit(commitOf(stateOf(2, 3), 2)))
    assert.deepEqual(await run(store.sessions.load("s")), stateOf(2, 3))
  })

  it("after a commit that another process follows at once: the session has to be read again", async () => {
    let follow = async (): Promise<void> => {}
    await using losses = await losing("after", /WITH kept/, () => follow())
    await using other = PostgresStore.make({ url: server.url, schema: losses.schema })
    follow = () => run(other.sessions.commit(commitOf(stateOf(2, 2), 1)))
    assert.deepInclude(await failure(losses.store.sessions.commit(commitOf(stateOf(1, 1)))), {
      _tag: "SessionConflict",
      expected: 0,
      found: 2
    })
    assert.deepEqual(await run(other.sessions.load("s")), stateOf(2, 2))
  })

  it("after an append: the text is there once, and the append fails", async () => {
    await using losses = await losing("after", /WITH written/)
    const append = losses.store.artifacts.append("s", "log", "line\n", { by: "me" })
    assert.deepInclude(await failure(append), { problem: "unreachable" })
    assert.strictEqual(await run(losses.store.artifacts.read("s", "log")), "line\n")
  })

  it.each([["UPDATE", 0], ["COMMIT", 1]] as const)(
    "after %s of an account: the change is made %d times, and the update fails",
    async (text, times) => {
      await using losses = await losing("after", new RegExp(text))
      const { ledger } = losses.store
      const change = ledger.update("a", (before) => ["done", { ...before, elapsedMs: before.elapsedMs + 1 }])
      assert.deepInclude(await failure(change), { problem: "unreachable" })
      assert.strictEqual(await run(ledger.update("a", (before) => [before.elapsedMs, before])), times)
    }
  )
})
