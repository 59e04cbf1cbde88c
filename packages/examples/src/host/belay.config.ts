/** What `belay host` runs, on many machines: `DATABASE_URL=postgres://… belay host belay.config.ts`. */
import * as PostgresStore from "@belay/providers/PostgresStore"
import * as PgBossEngine from "@belay/server/PgBossEngine"
import { makeAgent } from "./agent.ts"

const url = process.env["DATABASE_URL"] ?? "postgres://belay@127.0.0.1:5432/belay"
const store = PostgresStore.make({ url })

export default { agent: makeAgent(store.sessions), store, engine: PgBossEngine.make({ url, concurrency: 4 }) }
