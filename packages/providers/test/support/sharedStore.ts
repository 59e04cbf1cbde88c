/** Opens the store at an address: a SQLite file, or a Postgres database with the schema after `#`. */
import * as PostgresStore from "@belay/providers/PostgresStore"
import * as SqliteStore from "@belay/providers/SqliteStore"

export type Store = (SqliteStore.SqliteStore | PostgresStore.PostgresStore) & AsyncDisposable

export const openStore = (address: string): Store => {
  if (address.startsWith("postgres://")) {
    const [url, schema] = address.split("#")
    return PostgresStore.make({ url: url!, schema: schema!, maxConnections: 3 })
  }
  const store = SqliteStore.make({ path: address })
  return { ...store, [Symbol.asyncDispose]: async () => store.close() }
}
