/** Opens stores and engines by the path of a file or the address of a server. */
import * as PostgresStore from "@belay/providers/PostgresStore"
import * as SqliteStore from "@belay/providers/SqliteStore"
import * as ClusterEngine from "@belay/server/ClusterEngine"
import type { Engine } from "@belay/server/Engine"
import * as PgBossEngine from "@belay/server/PgBossEngine"
import type * as Duration from "effect/Duration"
import { pollMs } from "./hosted.ts"

export type EngineName = "local" | "cluster" | "pg-boss"

/** The address of a schema on a server: `postgres://user@host/name#schema`. */
const split = (where: string): { readonly url: string; readonly schema: string } => {
  const { hash } = new URL(where)
  return { url: where.replace(hash, ""), schema: hash.slice(1) }
}

export const openStore = (
  where: string,
  patience: Duration.Input = "1 second"
): SqliteStore.SqliteStore | PostgresStore.PostgresStore =>
  where.startsWith("postgres:")
    ? PostgresStore.make({ ...split(where), maxConnections: 4, patience })
    : SqliteStore.make({ path: where })

/** The engine of a host on this store. Nothing means the default. */
export const openEngine = (where: string, name: EngineName): { readonly engine?: Engine } => {
  if (name === "local") return {}
  const { schema, url } = split(where)
  const engine = name === "cluster"
    ? ClusterEngine.make({ url, prefix: `${schema}_engine`, maxConnections: 4, pollMs: 100, lockMs: 3_000 })
    : PgBossEngine.make({ url, schema: `${schema}_engine`, maxConnections: 4, concurrency: 8, lockMs: 2_000 })
  return { engine }
}

/** Opens both. */
export const openHost = (where: string, name: EngineName) => ({
  store: openStore(where),
  ...openEngine(where, name),
  pollMs
})
