/**
 * The SQLite store: the laws, the file and who may read it, files that are refused, several processes' worth of
 * handles.
 */
import * as SqliteStore from "@belay/providers/SqliteStore"
import * as StoreLaws from "@belay/testing/StoreLaws"
import * as Effect from "effect/Effect"
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { afterAll, assert, describe, it } from "vitest"
import { commitOf, stateOf } from "../support/storedSessions.ts"

const folders: Array<string> = []
const folder = (): string => {
  const made = mkdtempSync(join(tmpdir(), "belay-sqlite-"))
  folders.push(made)
  return made
}
afterAll(() => folders.forEach((path) => rmSync(path, { recursive: true, force: true })))

const run = Effect.runPromise
const thrown = (act: () => unknown): { readonly [key: string]: unknown } => {
  try {
    act()
  } catch (error) {
    return error as never
  }
  return assert.fail("expected it to throw")
}
const failure = async (effect: Effect.Effect<unknown, unknown>): Promise<{ readonly [key: string]: unknown }> =>
  await run(Effect.flip(effect)) as never

const onFile = async (): Promise<StoreLaws.Subject> => {
  const path = join(folder(), "store.db")
  const open: Array<SqliteStore.SqliteStore> = []
  const another = () => {
    open.push(SqliteStore.make({ path }))
    return open.at(-1)!.sessions
  }
  return { store: another(), reopen: another, dispose: () => open.forEach((store) => store.close()) }
}
const inProcess = async (): Promise<StoreLaws.Subject> => {
  const store = SqliteStore.make({ path: ":memory:" })
  return { store: store.sessions, dispose: store.close }
}

describe("SqliteStore", () => {
  for (const { name, run: prove } of StoreLaws.cases(onFile)) it(`on a file: ${name}`, prove)
  for (const { name, run: prove } of StoreLaws.cases(inProcess)) it(`in memory: ${name}`, prove)

  it("creates a file that only its owner can read, in such a folder", () => {
    const path = join(folder(), "deep", "er", "store.db")
    using _store = SqliteStore.make({ path })
    const modeOf = (at: string) => (statSync(at).mode & 0o777).toString(8)
    assert.deepStrictEqual([modeOf(path), modeOf(join(path, "..")), modeOf(join(path, "../.."))], ["600", "700", "700"])
    for (const name of readdirSync(join(path, ".."))) assert.strictEqual(modeOf(join(path, "..", name)), "600", name)
  })

  it("does not change the mode of an existing file and folder", () => {
    const path = join(folder(), "store.db")
    SqliteStore.make({ path }).close()
    chmodSync(path, 0o640)
    SqliteStore.make({ path }).close()
    assert.strictEqual(statSync(path).mode & 0o777, 0o640)
  })

  it("writes ahead, and is one file after it is closed", async () => {
    const path = join(folder(), "store.db")
    const store = SqliteStore.make({ path, synchronous: "full" })
    await run(store.sessions.commit(commitOf(stateOf(1, 2))))
    store.close()
    assert.deepStrictEqual(readdirSync(join(path, "..")), ["store.db"])
    const database = new DatabaseSync(path, { readOnly: true })
    assert.deepStrictEqual({ ...database.prepare("PRAGMA journal_mode").get() }, { journal_mode: "wal" })
    assert.deepStrictEqual({ ...database.prepare("PRAGMA user_version").get() }, { user_version: 5 })
    database.close()
  })

  it("refuses wrong options", () => {
    for (
      const options of [{ path: "" }, { path: "file:x?mode=memory" }, { path: "a\0b" }, { path: undefined }] as never[]
    ) {
      assert.deepInclude(thrown(() => SqliteStore.make(options)), { _tag: "ConfigError", key: "sqlite-store.path" })
    }
    assert.deepInclude(thrown(() => SqliteStore.make({ path: ":memory:", synchronous: "off" as never })), {
      _tag: "ConfigError",
      key: "sqlite-store.synchronous",
      message: "sqlite-store.synchronous: expected \"normal\" or \"full\""
    })
    for (const patience of [-1, 0.5, 3_600_001]) {
      assert.deepInclude(thrown(() => SqliteStore.make({ path: ":memory:", patience })), {
        key: "sqlite-store.patience",
        message: "sqlite-store.patience: expected whole milliseconds, at most an hour"
      })
    }
    SqliteStore.make({ path: ":memory:", patience: 0 }).close()
    SqliteStore.make({ path: ":memory:", patience: 3_600_000 }).close()
  })

  describe("refuses and does not change", () => {
    const database = (fill: (database: DatabaseSync) => void) => (path: string) => {
      const made = new DatabaseSync(path)
      fill(made)
      made.close()
    }
    const ours = (spoil: (database: DatabaseSync) => void) => (path: string) => {
      SqliteStore.make({ path }).close()
      database(spoil)(path)
    }
    const files: ReadonlyArray<
      readonly [string, (path: string) => void, problem: SqliteStore.StoreError["problem"], message: RegExp]
    > = [
      [
        "a newer one",
        ours((db) => db.exec("PRAGMA user_version = 6")),
        "newer",
        /has version 6, and this Belay reads up to version 5: open it with a newer Belay/
      ],
      [
        "another program's",
        database((db) => db.exec("CREATE TABLE t (a)")),
        "foreign",
        /belongs to another program: use another file/
      ],
      [
        "another program's that has no tables",
        database((db) => db.exec("PRAGMA application_id = 7")),
        "foreign",
        /another program/
      ],
      [
        "a text",
        (path) => writeFileSync(path, "these are my notes\n".repeat(100)),
        "corrupt",
        /not a SQLite database: use another file/
      ],
      ["a short text", (path) => writeFileSync(path, "x"), "corrupt", /not a SQLite database/],
      [
        "one without its tables",
        ours((db) => db.exec("DROP TABLE rules")),
        "corrupt",
        /its table rules is not that of version 5/
      ],
      [
        "one with other tables",
        ours((db) => db.exec("ALTER TABLE rules ADD COLUMN more TEXT")),
        "corrupt",
        /its table rules is not/
      ],
      [
        "one that runs somebody's code",
        ours((db) => db.exec("CREATE TRIGGER t AFTER INSERT ON messages BEGIN DELETE FROM sessions; END")),
        "corrupt",
        /its trigger t is not/
      ],
      ["one of version 0", ours((db) => db.exec("PRAGMA user_version = 0")), "corrupt", /its version is 0/],
      [
        "one that was cut off",
        (path) => {
          ours((db) => db.exec("CREATE INDEX more ON rules (key)"))(path)
          writeFileSync(path, readFileSync(path).subarray(0, 5000))
        },
        "corrupt",
        /damaged|not that of/
      ]
    ]
    it.each(files.map(([what, make, problem, message]) => ({ what, make, problem, message })))(
      "$what",
      ({ make, message, problem }) => {
        const path = join(folder(), "store.db")
        make(path)
        const before = readFileSync(path)
        const error = thrown(() => SqliteStore.make({ path }))
        assert.instanceOf(error, SqliteStore.StoreError)
        assert.deepInclude(error, { path, problem })
        assert.match(String(error["message"]), message)
        assert.isTrue(String(error["message"]).startsWith(`${path}: `))
        assert.isTrue(before.equals(readFileSync(path)))
        assert.deepStrictEqual(readdirSync(join(path, "..")), ["store.db"])
      }
    )

    it("a newer one that another process has open", () => {
      const path = join(folder(), "store.db")
      SqliteStore.make({ path }).close()
      using other = new DatabaseSync(path)
      other.exec("PRAGMA user_version = 6")
      assert.deepInclude(thrown(() => SqliteStore.make({ path })), { _tag: "StoreError", path, problem: "newer" })
      assert.deepStrictEqual({ ...other.prepare("PRAGMA user_version").get() }, { user_version: 6 })
    })

    it("a directory, a directory below a file, and a dangling link to nowhere", () => {
      const home = folder()
      writeFileSync(join(home, "file"), "")
      symlinkSync(join(home, "no", "where"), join(home, "link"))
      for (const path of [home, join(home, "file", "store.db"), join(home, "link")]) {
        assert.deepInclude(thrown(() => SqliteStore.make({ path })), {
          _tag: "StoreError",
          path,
          problem: "unreachable"
        })
      }
    })
  })

  it("says what is damaged inside", async () => {
    const path = join(folder(), "store.db")
    using store = SqliteStore.make({ path })
    await run(store.sessions.commit(commitOf(stateOf(1, 3))))
    await run(store.rules.add({ hook: "h", tool: "t" }))
    await run(store.ledger.update("a", (before) => [undefined, { ...before, elapsedMs: 1 }]))
    const other = new DatabaseSync(path)
    other.exec(
      "DELETE FROM messages WHERE position = 1; UPDATE rules SET rule = '{}'; UPDATE accounts SET account = '{\"spent\":'"
    )
    other.close()
    assert.match(
      String((await failure(store.sessions.load("s")))["message"]),
      /session s should have 3 messages and has 2/
    )
    assert.match(String((await failure(store.rules.load))["message"]), /not valid/)
    assert.match(
      String((await failure(store.ledger.update("a", (before) => [0, before])))["message"]),
      /a text that is not JSON/
    )
  })

  it("does not believe an account that is JSON and not an account, and leaves it as it is", async () => {
    const path = join(folder(), "store.db")
    using store = SqliteStore.make({ path })
    const read = store.ledger.update("a", (before) => [before, before])
    await run(store.ledger.update("a", (before) => [undefined, { ...before, elapsedMs: 1 }]))
    const account = await run(read)
    const other = new DatabaseSync(path)
    const damaged: ReadonlyArray<unknown> = [
      {},
      [],
      null,
      { ...account, spent: { ...account.spent, money: "-5000000000000" } },
      { ...account, spent: { ...account.spent, money: 0 } },
      { ...account, spent: { ...account.spent, tokens: "many" } },
      { ...account, holds: { call: { amount: account.spent, holder: "h" } } },
      { ...account, level: "fine" },
      { ...account, elapsedMs: null }
    ]
    for (const one of damaged) {
      other.prepare("UPDATE accounts SET account = ?").run(JSON.stringify(one))
      const change = store.ledger.update("a", () => assert.fail("nobody may change it"))
      const error = await failure(change)
      assert.deepInclude(error, { _tag: "StoreError", problem: "corrupt" }, JSON.stringify(one))
      assert.match(String(error["message"]), /account "a" is not valid: restore it from a backup/)
      assert.deepStrictEqual(
        other.prepare("SELECT account FROM accounts").get()?.["account"],
        JSON.stringify(one)
      )
    }
    other.close()
  })

  it("decodes what it loads: a wrong state is a typed error", async () => {
    const path = join(folder(), "store.db")
    using store = SqliteStore.make({ path })
    await run(store.sessions.commit(commitOf(stateOf(1, 0))))
    const other = new DatabaseSync(path)
    const put = (text: string) => other.prepare("UPDATE sessions SET state = ?").run(text)
    put("{\"version\":2,\"phase\":\"thinking\"}")
    assert.deepInclude(await failure(store.sessions.load("s")), { _tag: "SnapshotError", problem: "not-a-snapshot" })
    put("{\"version\":99}")
    assert.deepInclude(await failure(store.sessions.load("s")), { _tag: "SnapshotError", problem: "newer-version" })
    put("[".repeat(100_000))
    assert.deepInclude(await failure(store.sessions.load("s")), { _tag: "StoreError", problem: "corrupt" })
    other.close()
  })

  it("fails with `closed` after it was closed, once or several times", async () => {
    const store = SqliteStore.make({ path: ":memory:" })
    store.close()
    store.close()
    const { artifacts, ledger, rules, sessions } = store
    for (
      const operation of [
        sessions.load("s"),
        sessions.commit(commitOf(stateOf(1, 1))),
        sessions.list(),
        sessions.remove("s"),
        artifacts.append("s", "k", "x", { by: "h" }),
        rules.load,
        ledger.update("a", (before) => [0, before])
      ]
    ) assert.deepInclude(await failure(operation), { _tag: "StoreError", problem: "closed", path: ":memory:" })
  })

  it("fails with `id` for a text that is not a session id", async () => {
    using store = SqliteStore.make({ path: ":memory:" })
    for (const id of ["../s", "", "s' OR 1=1", "x".repeat(129)]) {
      assert.deepInclude(await failure(store.sessions.load(id)), { _tag: "StoreError", problem: "id" })
      assert.deepInclude(await failure(store.sessions.commit(commitOf(stateOf(1, 1, id)))), { problem: "id" })
      assert.deepInclude(await failure(store.artifacts.read(id, "k")), { problem: "id" })
      assert.deepInclude(await failure(store.sessions.fork("s", id)), { _tag: "StoreError" })
    }
  })

  it("writes the whole session if it was removed while a turn ran", async () => {
    using store = SqliteStore.make({ path: ":memory:" })
    await run(store.sessions.commit(commitOf(stateOf(1, 5))))
    await run(store.sessions.remove("s"))
    await run(store.sessions.commit(commitOf(stateOf(2, 7), 5)))
    assert.deepStrictEqual(await run(store.sessions.load("s")), stateOf(2, 7))
  })

  it("changes an account atomically in every process, and not at all if the change fails", async () => {
    const path = join(folder(), "store.db")
    using one = SqliteStore.make({ path })
    using two = SqliteStore.make({ path })
    const more = (store: SqliteStore.SqliteStore) =>
      store.ledger.update("__proto__", (before) => [before.elapsedMs, { ...before, elapsedMs: before.elapsedMs + 1 }])
    const seen = await Promise.all(Array.from({ length: 100 }, (_, index) => run(more(index % 2 === 0 ? one : two))))
    assert.deepStrictEqual(seen.toSorted((a, b) => a - b), Array.from({ length: 100 }, (_, index) => index))
    const exit = await Effect.runPromiseExit(one.ledger.update("__proto__", () => assert.fail("broken")))
    assert.strictEqual(exit._tag, "Failure")
    assert.strictEqual(await run(more(two)), 100)
    assert.strictEqual(await run(one.ledger.update("other", (before) => [before.elapsedMs, before])), 0)
  })

  it("keeps standing approvals once each, in order", async () => {
    const path = join(folder(), "store.db")
    using one = SqliteStore.make({ path })
    using two = SqliteStore.make({ path })
    const rules = [{ hook: "h", tool: "t" }, { hook: "h", tool: "t", fingerprint: "t:{}" }, {
      hook: "__proto__",
      tool: "\ud83d'"
    }, { hook: "h", tool: "t", approvedBy: ["ann", "ben"] }]
    for (const rule of [...rules, rules[0]!]) await run(one.rules.add(rule))
    assert.deepStrictEqual(await run(two.rules.load), rules)
  })
})
