/** Opens the database file. It refuses files of other programs, creates a missing file, and writes in transactions. */
import { makeFolder } from "@belay/core/Folder"
import { dirname } from "node:path"
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite"
import { StoreError, storeError } from "../error.ts"
import { sqliteError } from "./attempt.ts"
import { applicationId, indexes, migrations, version } from "./schema.ts"

/** An open database. */
export interface Database {
  readonly path: string
  /** Returns a prepared statement. The SQL text is always a constant of this package. */
  readonly sql: (text: string) => StatementSync
  /** Runs `act` in a write transaction. */
  readonly write: <A>(act: () => A) => A
  /** Runs `act` in a read transaction. */
  readonly read: <A>(act: () => A) => A
  /** Runs `act`, which fails at once where it would wait for other processes and hold up this one. */
  readonly impatiently: <A>(act: () => A) => A
  readonly close: () => void
}

/** Opens a database whose operations wait so many milliseconds for other processes, or throws a `StoreError`. */
export const open = (path: string, synchronous: "normal" | "full", patience: number): Database => {
  const sqlite = process.getBuiltinModule("node:sqlite") as typeof import("node:sqlite") | undefined
  if (sqlite === undefined) {
    throw storeError(path, "unreachable", "this runtime has no node:sqlite: use Node 22.22 or newer")
  }
  const { DatabaseSync: Connection } = sqlite
  let database: DatabaseSync | undefined
  try {
    if (path !== ":memory:") inspect(path, Connection, patience)
    database = new Connection(path, { timeout: patience, enableForeignKeyConstraints: true })
    database.exec("PRAGMA trusted_schema = OFF")
    enterWal(database, path)
    database.exec(`PRAGMA synchronous = ${synchronous === "full" ? "FULL" : "NORMAL"}`)
    migrate(path, database)
    verify(path, database, Connection)
    addIndexes(database)
    return face(path, database, patience)
  } catch (error) {
    if (database?.isOpen === true) database.close()
    if (error instanceof StoreError) throw error
    throw sqliteError(path, error) ??
      storeError(
        path,
        "unreachable",
        `it cannot be opened: ${error instanceof Error ? error.message : String(error)}`,
        error
      )
  }
}

/**
 * Creates the folder and the file if they are missing, readable by their owner only. Refuses a file of another program
 * before anything writes to it.
 */
const inspect = (path: string, Connection: typeof DatabaseSync, patience: number): void => {
  // An `import` would prepare everything that the module offers, at the start of every program.
  const { closeSync, fstatSync, openSync, readSync, statSync } = process.getBuiltinModule("node:fs")
  makeFolder(dirname(path), 0o700)
  const file = openSync(path, "a+", 0o600)
  const head = Buffer.alloc(105)
  let read: number
  try {
    if (!fstatSync(file).isFile()) throw storeError(path, "unreachable", "this is not a file: use the path of a file")
    read = readSync(file, head, 0, head.length, 0)
  } finally {
    closeSync(file)
  }
  if (read === 0) return
  if (head.toString("latin1", 0, 16) !== "SQLite format 3\0") {
    throw storeError(path, "corrupt", "this is not a SQLite database: use another file")
  }
  if ((statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) === 0) {
    // Reading the first page is enough and leaves no files behind. In an empty schema this page is a table leaf without
    // cells.
    return void judge(
      path,
      head.readInt32BE(60),
      head.readInt32BE(68),
      head[100] === 13 && head.readUInt16BE(103) === 0
    )
  }
  const reader = new Connection(path, { readOnly: true, timeout: patience })
  try {
    // One read transaction, because another process may be creating the tables at this moment.
    reader.exec("BEGIN")
    versionOf(path, reader)
  } finally {
    reader.close()
  }
}

/** Returns the version of a database of this package, and 0 for an empty one. Refuses any other database. */
const judge = (path: string, found: number, owner: number, isEmpty: boolean): number => {
  if (owner === 0 && found === 0 && isEmpty) return 0
  if (owner !== applicationId) {
    throw storeError(path, "foreign", "this database belongs to another program: use another file")
  }
  if (found > version) {
    throw storeError(
      path,
      "newer",
      `it has version ${found}, and this Belay reads up to version ${version}: open it with a newer Belay`
    )
  }
  if (found < 1) {
    throw storeError(path, "corrupt", `its version is ${found}: restore it from a backup, or use another file`)
  }
  return found
}

/** The caller must open a transaction, because this reads three times. */
const versionOf = (path: string, database: DatabaseSync): number =>
  judge(
    path,
    numberOf(database, "user_version"),
    numberOf(database, "application_id"),
    Object.values(database.prepare("SELECT count(*) FROM sqlite_schema").get()!)[0] === 0
  )

const numberOf = (database: DatabaseSync, pragma: "user_version" | "application_id"): number =>
  // These pragmas return a number.
  Object.values(database.prepare(`PRAGMA ${pragma}`).get()!)[0] as number

/** If several processes create the same file at once, SQLite fails here for all but one. They try again. */
const enterWal = (database: DatabaseSync, path: string): void => {
  for (let left = 200; left > 0; left--) {
    try {
      const mode = Object.values(database.prepare("PRAGMA journal_mode = WAL").get()!)[0]
      if (mode === "wal" || (mode === "memory" && path === ":memory:")) return
      throw storeError(
        path,
        "unreachable",
        `its file system does not support a write-ahead log (journal mode ${String(mode)}): use a local disk`
      )
    } catch (error) {
      if (left === 1 || sqliteError(path, error)?.problem !== "busy") throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 25)
    }
  }
}

const migrate = (path: string, database: DatabaseSync): void => {
  if (numberOf(database, "application_id") === applicationId && numberOf(database, "user_version") === version) return
  database.exec("BEGIN IMMEDIATE")
  try {
    // Another process may have migrated the file in the meantime.
    for (let at = versionOf(path, database); at < version; at++) database.exec(migrations[at]!)
    database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${version}; COMMIT`)
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK")
    throw error
  }
}

/** Refuses a file whose tables do not match its version, or that has triggers or views, which could run code. */
const verify = (path: string, database: DatabaseSync, Connection: typeof DatabaseSync): void => {
  const wanted = new Connection(":memory:")
  for (const migration of migrations) wanted.exec(migration)
  const expected = objectsOf(wanted)
  wanted.close()
  const found = objectsOf(database)
  const alien = [...found].find(([name, sql]) => /^(?:trigger|view)\b/.test(name) && expected.get(name) !== sql)
  const lost = [...expected].find(([name, sql]) => found.get(name) !== sql)
  const wrong = alien ?? lost
  if (wrong === undefined) return
  throw storeError(
    path,
    "corrupt",
    `its ${wrong[0]} is not that of version ${version}: restore it from a backup, or use another file`
  )
}

const addIndexes = (database: DatabaseSync): void => {
  try {
    database.exec(indexes)
  } catch {
    // The disk is full, or others write for long: whoever opens the file next adds them.
  }
}

const objectsOf = (database: DatabaseSync): ReadonlyMap<string, unknown> =>
  new Map(
    database.prepare("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL").all().map((
      { name, sql, type }
    ) => [
      `${String(type)} ${String(name)}`,
      String(sql).replaceAll(/\s+/g, " ")
    ])
  )

const face = (path: string, database: DatabaseSync, patience: number): Database => {
  const statements = new Map<string, StatementSync>()
  const sql = (text: string): StatementSync => {
    const known = statements.get(text) ?? database.prepare(text)
    statements.set(text, known)
    return known
  }
  const within = <A>(begin: string, act: () => A): A => {
    sql(begin).run()
    try {
      const answer = act()
      sql("COMMIT").run()
      return answer
    } catch (error) {
      // After some failures, SQLite has already rolled back.
      if (database.isTransaction) sql("ROLLBACK").run()
      throw error
    }
  }
  return {
    path,
    sql,
    write: (act) => within("BEGIN IMMEDIATE", act),
    read: (act) => within("BEGIN", act),
    impatiently: (act) => {
      database.exec("PRAGMA busy_timeout = 0")
      try {
        return act()
      } finally {
        database.exec(`PRAGMA busy_timeout = ${patience}`)
      }
    },
    close: () => {
      statements.clear()
      if (database.isOpen) database.close()
    }
  }
}

/** Returns one value of one row, and nothing if there is no row. */
export const one = <A>(statement: StatementSync, ...values: ReadonlyArray<SQLInputValue>): A | undefined => {
  const row = statement.get(...values)
  // The caller names the type of the one column.
  return row === undefined ? undefined : Object.values(row)[0] as A
}
