/**
 * A program that runs a storm of any size and prints what happened:
 * `ENGINE=cluster SESSIONS=1000 MESSAGES=10 KILLS=200 RUNNERS=3 SEED=1 node --conditions=@belay/source runStorm.ts`
 * With `LOAD=8`, eight processes do nothing but keep the machine busy meanwhile. `taskset -c 1` keeps all on one core.
 */
import { spawn } from "node:child_process"
import { startPostgres } from "../../../../../test/support/postgres.ts"
import { largeStorm } from "./largeStorm.ts"
import type { EngineName } from "./openStore.ts"

const { ENGINE = "cluster", KILLS = 30, LOAD = 0, MESSAGES = 10, RUNNERS = 3, SEED = 1, SESSIONS = 100 } = process.env
const whileParentLives = "const parent = process.ppid; while (process.ppid === parent);"
const server = await startPostgres({ max_connections: "200" })
console.log(server.url)
const busy = Array.from({ length: Number(LOAD) }, () => spawn(process.execPath, ["-e", whileParentLives]))
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
  for (const one of busy) one.kill("SIGKILL")
  await server.dispose()
}
