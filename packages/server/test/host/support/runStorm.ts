/**
 * A program that runs a storm of any size and prints what happened:
 * `ENGINE=cluster SESSIONS=1000 MESSAGES=10 KILLS=200 RUNNERS=3 SEED=1 node --conditions=@belay/source runStorm.ts`
 */
import { startPostgres } from "../../../../../test/support/postgres.ts"
import { largeStorm } from "./largeStorm.ts"
import type { EngineName } from "./openStore.ts"

const { ENGINE = "cluster", KILLS = 30, MESSAGES = 10, RUNNERS = 3, SEED = 1, SESSIONS = 100 } = process.env
const server = await startPostgres({ max_connections: "200" })
console.log(server.url)
try {
  const storm = {
    // One of the names; another one fails at once.
    engine: ENGINE as EngineName,
    runners: Number(RUNNERS),
    sessions: Number(SESSIONS),
    messages: Number(MESSAGES),
    kills: Number(KILLS),
    seed: Number(SEED)
  }
  console.log(storm, await largeStorm(server, storm))
} finally {
  await server.dispose()
}
