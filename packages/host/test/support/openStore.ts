/** Opens a store by the path of a file or the address of a server. */
import * as PostgresStore from "@belay/providers/PostgresStore"
import * as SqliteStore from "@belay/providers/SqliteStore"

export const openStore = (where: string): SqliteStore.SqliteStore | PostgresStore.PostgresStore => {
  if (!where.startsWith("postgres:")) return SqliteStore.make({ path: where })
  const { hash } = new URL(where)
  return PostgresStore.make({ url: where.replace(hash, ""), schema: hash.slice(1), maxConnections: 4 })
}
