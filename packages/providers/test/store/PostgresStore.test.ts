/** The Postgres store, on a real server: the laws, poolers, migrations, TLS, and what it refuses. */
import * as PostgresStore from "@belay/providers/PostgresStore"
import * as StoreLaws from "@belay/testing/StoreLaws"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import pg from "pg"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { selfSigned } from "../../../../test/support/certificate.ts"
import { type PostgresServer, startPostgres } from "../../../../test/support/postgres.ts"
import { failure, newSchema, transactionPooler, wrapped } from "../support/postgresStore.ts"
import { commitOf, stateOf } from "../support/storedSessions.ts"

const { cert, key } = selfSigned(["127.0.0.1"])
const run = Effect.runPromise

let server: PostgresServer
let admin: pg.Pool
beforeAll(async () => {
  server = await startPostgres({ ssl: "on" }, { "server.crt": cert, "server.key": key })
  admin = new pg.Pool({ connectionString: server.url, max: 8 })
})
afterAll(async () => {
  await admin.end()
  await server.dispose()
})

const opened = (options: Partial<PostgresStore.Options> = {}): PostgresStore.PostgresStore =>
  PostgresStore.make({
    schema: newSchema(),
    ...(options.pool === undefined ? { url: server.url, maxConnections: 4 } : {}),
    ...options
  })

const subject = (options: () => Partial<PostgresStore.Options>) => async (): Promise<StoreLaws.Subject> => {
  const schema = newSchema()
  const open: Array<PostgresStore.PostgresStore> = []
  const another = () => {
    open.push(opened({ schema, ...options() }))
    return open.at(-1)!.sessions
  }
  return {
    store: another(),
    reopen: another,
    dispose: async () => {
      for (const store of open) await store.close()
    }
  }
}

const accountOf = (calls: number) => (before: PostgresStore.Account) =>
  [before.spent.calls, { ...before, spent: { ...before.spent, calls: before.spent.calls + calls } }] as const

describe("PostgresStore", () => {
  for (const { name, run: prove } of StoreLaws.cases(subject(() => ({})))) it(name, prove)

  describe("behind a pooler in transaction mode", () => {
    const pooled = subject(() => ({ pool: transactionPooler(admin) }))
    const wanted =
      /exactly one of several|a fork has everything|another process sees the artifacts|turns that begin at once/
    for (const { name, run: prove } of StoreLaws.cases(pooled)) if (wanted.test(name)) it(name, prove)
  })

  it("commits in one statement", async () => {
    const texts: Array<string> = []
    await using store = opened({
      pool: wrapped(admin, async (text, go) => {
        texts.push(text)
        return await go()
      })
    })
    await store.ready()
    texts.length = 0
    await run(store.sessions.commit(commitOf(stateOf(1, 3))))
    await run(store.sessions.commit(commitOf(stateOf(2, 5), 3)))
    assert.lengthOf(texts, 2)
    assert.deepEqual(await run(store.sessions.load("s")), stateOf(2, 5))
  })

  it("reads a large message of another process once, and not again while its turn runs", async () => {
    const sizes: Array<number> = []
    const schema = newSchema()
    await using sender = opened({ schema })
    await using store = opened({
      schema,
      pool: wrapped(admin, async (_text, go) => {
        const result = await go()
        sizes.push(JSON.stringify(result.rows ?? []).length)
        return result
      })
    })
    await store.ready()
    sizes.length = 0
    const { inbox } = store
    const body = { message: "m".repeat(100_000) }
    await run(inbox.add({ sessionId: "own", key: "k", kind: "message", body, at: 0 }))
    assert.deepStrictEqual((await run(inbox.open("own")))[0]?.body, body)
    assert.lengthOf(sizes.filter((size) => size > 10_000), 0)
    await run(sender.inbox.add({ sessionId: "s", key: "k", kind: "message", body, at: 0 }))
    const [first] = await run(inbox.open("s"))
    assert.deepStrictEqual(first?.body, body)
    await run(inbox.begin("s", "k"))
    const [again] = await run(inbox.open("s"))
    await run(inbox.report("s", "k", "done", { status: "completed" }))
    const done = await run(inbox.get("s", "k"))
    assert.deepStrictEqual([again?.status, again?.body === first?.body, done?.status], ["begun", true, "done"])
    assert.deepStrictEqual(done?.body, body)
    assert.lengthOf(sizes.filter((size) => size > 10_000), 1)
    const known = await run(inbox.add({ sessionId: "s", key: "k", kind: "message", body: "other", at: 0 }))
    assert.deepStrictEqual(known.type === "known" ? known.entry.body : known, body)
  })

  it("counts each change of an account once, from several stores at the same time", async () => {
    const schema = newSchema()
    await using one = opened({ schema })
    await using other = opened({ schema })
    const changes = Array.from({ length: 40 }, (_, n) => (n % 2 === 0 ? one : other).ledger.update("a", accountOf(1)))
    const before = await run(Effect.all(changes, { concurrency: "unbounded" }))
    assert.deepEqual(before.sort((a, b) => a - b), Array.from({ length: 40 }, (_, n) => n))
  })

  it("changes no account if the change throws", async () => {
    await using store = opened({ maxConnections: 1 })
    await run(store.ledger.update("a", accountOf(2)))
    const exit = await run(Effect.exit(store.ledger.update("a", () => assert.fail("a bug of the caller"))))
    assert.strictEqual(exit._tag, "Failure")
    assert.strictEqual(await run(store.ledger.update("a", accountOf(1))), 2)
  })

  it("keeps standing approvals once", async () => {
    await using store = opened()
    const rule = { hook: "h", tool: "t\u0000", fingerprint: "f" }
    await run(
      Effect.all([
        store.rules.add(rule),
        store.rules.add(rule),
        store.rules.add({ hook: "h", tool: "u", approvedBy: ["ann", "ben"] })
      ])
    )
    assert.deepEqual(await run(store.rules.load), [rule, { hook: "h", tool: "u", approvedBy: ["ann", "ben"] }])
  })

  it("frees the connection of an operation that is cancelled", async () => {
    const schema = newSchema()
    await using store = opened({ schema, maxConnections: 1 })
    await run(store.sessions.commit(commitOf(stateOf(1, 1))))
    const holder = await admin.connect()
    await holder.query("BEGIN")
    await holder.query(`LOCK TABLE ${schema}.sessions`)
    const waiting = Effect.runFork(store.sessions.commit(commitOf(stateOf(2, 1), 1)))
    const blocked = async (): Promise<boolean> =>
      (await admin.query("SELECT FROM pg_locks WHERE NOT granted")).rowCount! > 0
    while (!await blocked());
    await run(Fiber.interrupt(waiting))
    await holder.query("ROLLBACK")
    holder.release()
    assert.isDefined(await run(store.sessions.load("s")))
  })
})

describe("the tables of a Postgres store", () => {
  it("are created once by stores that start at the same time", async () => {
    const schema = newSchema()
    const stores = Array.from({ length: 8 }, () => opened({ schema, maxConnections: 1 }))
    await Promise.all(stores.map((store) => store.ready()))
    const { rows } = await admin.query(`SELECT * FROM ${schema}.belay_version`)
    assert.deepEqual(rows, [{ version: 4, readable_by: 1 }])
    await Promise.all(stores.map((store) => store.close()))
  })

  it("can be used if a newer release says that this one can", async () => {
    const schema = newSchema()
    await using first = opened({ schema })
    await first.ready()
    await admin.query(`ALTER TABLE ${schema}.sessions ADD COLUMN later text`)
    await admin.query(`UPDATE ${schema}.belay_version SET version = 9`)
    for (const migrations of ["auto", "never"] as const) {
      await using second = opened({ schema, migrations })
      await run(second.sessions.commit(commitOf(stateOf(1, 1, `s-${migrations}`))))
      assert.isDefined(await run(second.sessions.load(`s-${migrations}`)))
    }
    const { rows } = await admin.query(`SELECT version FROM ${schema}.belay_version`)
    assert.deepEqual(rows, [{ version: 9 }])
  })

  it("are refused if only a newer release can use them", async () => {
    const schema = newSchema()
    await using first = opened({ schema })
    await first.ready()
    await admin.query(`UPDATE ${schema}.belay_version SET version = 9, readable_by = 8`)
    await using second = opened({ schema })
    assert.deepInclude(await failure(second.sessions.load("s")), {
      _tag: "StoreError",
      problem: "newer",
      message: `postgres://127.0.0.1:${server.port}/postgres: its tables have version 9, and this Belay uses up to ` +
        "version 4: use a newer Belay"
    })
  })

  it("are not created if the store may not create them", async () => {
    const schema = newSchema()
    await using store = opened({ schema, migrations: "never" })
    const { message, problem } = await failure(store.sessions.load("s"))
    assert.strictEqual(problem, "missing")
    assert.include(message, `the schema "${schema}" has no tables of Belay: create them with migrations: "auto"`)
    const { rows } = await admin.query("SELECT to_regnamespace($1) AS found", [schema])
    assert.deepEqual(rows, [{ found: null }])
  })

  it("are not put beside tables of another program with the same names", async () => {
    const schema = newSchema()
    await admin.query(`CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.messages (mine text)`)
    await using store = opened({ schema })
    assert.deepInclude(await failure(store.sessions.load("s")), { problem: "foreign" })
    const { rows } = await admin.query("SELECT relname FROM pg_class WHERE relnamespace = $1::regnamespace", [schema])
    assert.deepEqual(rows, [{ relname: "messages" }])
  })

  it("name what is damaged", async () => {
    const schema = newSchema()
    await using store = opened({ schema })
    await run(store.sessions.commit(commitOf(stateOf(1, 3))))
    await run(store.sessions.commit(commitOf(stateOf(1, 1, "t"))))
    await run(store.ledger.update("a", accountOf(1)))
    await run(store.rules.add({ hook: "h", tool: "t" }))
    await admin.query(`
      DELETE FROM ${schema}.messages WHERE position = 1;
      UPDATE ${schema}.sessions SET state = '{' WHERE id = 't';
      UPDATE ${schema}.accounts SET account = '{"spent":-1}';
      UPDATE ${schema}.rules SET rule = '{"hook":1}'`)
    const problems = await Promise.all([
      failure(store.sessions.load("s")),
      failure(store.sessions.load("t")),
      failure(store.ledger.update("a", accountOf(1))),
      failure(store.rules.load)
    ])
    assert.deepEqual(problems.map(({ problem }) => problem), ["corrupt", "corrupt", "corrupt", "corrupt"])
    assert.include(problems[0]!["message"], "session s should have 3 messages and has 2")
    assert.include(problems[1]!["message"], "a text that is not JSON")
    assert.include(problems[2]!["message"], "account \"a\" is not valid")
    assert.include(problems[3]!["message"], "a standing approval that is not valid")
  })
})

describe("the connection to a Postgres server", () => {
  it("is encrypted and checked with TLS", async () => {
    const schema = newSchema()
    await using store = opened({ schema, ssl: { ca: cert } })
    await store.ready()
    const { rows } = await admin.query(
      "SELECT count(*)::int AS encrypted FROM pg_stat_ssl WHERE ssl AND pid <> pg_backend_pid()"
    )
    assert.deepEqual(rows, [{ encrypted: 1 }])
    await using unchecked = opened({ schema, ssl: true, patience: 0 })
    assert.match(String((await failure(unchecked.sessions.load("s")))["message"]), /self-signed certificate/)
  })

  it("fails without telling the password", async () => {
    const url = `postgres://belay:not-a-real-password@127.0.0.1:${server.port}/nowhere`
    await using store = PostgresStore.make({ url })
    const { message, problem } = await failure(store.sessions.load("s"))
    assert.strictEqual(problem, "unreachable")
    assert.strictEqual(
      message,
      `postgres://127.0.0.1:${server.port}/nowhere: the server has no such database: create it, or use another name ` +
        "(database \"nowhere\" does not exist)"
    )
  })

  it("cannot be used after the store was closed", async () => {
    const store = opened()
    await store.ready()
    await store.close()
    await store.close()
    assert.deepInclude(await failure(store.sessions.load("s")), { problem: "closed" })
  })

  it("stays open if the program made the pool", async () => {
    const store = opened({ pool: admin })
    await store.ready()
    await store.close()
    assert.strictEqual((await admin.query("SELECT 1 AS one")).rows[0].one, 1)
  })
})

describe("PostgresStore.make", () => {
  const wrong: ReadonlyArray<readonly [unknown, string]> = [
    [{}, "postgres-store.url"],
    [{ url: "mysql://host/name" }, "postgres-store.url"],
    [{ pool: {} }, "postgres-store.pool"],
    [{ url: "postgres://h/d", pool: { connect: () => {}, query: () => {} } }, "postgres-store.pool"],
    [{ url: "postgres://h/d", schema: "a; DROP TABLE b" }, "postgres-store.schema"],
    [{ url: "postgres://h/d", schema: "Upper" }, "postgres-store.schema"],
    [{ url: "postgres://h/d", maxConnections: 0 }, "postgres-store.maxConnections"],
    [{ url: "postgres://h/d", patience: "soon" }, "postgres-store.patience"],
    [{ url: "postgres://h/d", migrations: "later" }, "postgres-store.migrations"],
    [{ uri: "postgres://h/d" }, "postgres-store.uri"]
  ]
  it.each(wrong)("refuses the options %j", (options, key) => {
    try {
      PostgresStore.make(options as never)
      assert.fail("expected it to throw")
    } catch (error) {
      assert.deepInclude(error, { _tag: "ConfigError", key })
    }
  })
})
