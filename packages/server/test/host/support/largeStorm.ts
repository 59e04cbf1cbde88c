/** A storm with everything that can happen to processes and to their database. */
import { random } from "@belay/testing/SeededRandom"
import * as Effect from "effect/Effect"
import type { PostgresServer } from "../../../../../test/support/postgres.ts"
import { newFile } from "./hosted.ts"
import { type Kill, killStorm, type Report } from "./killStorm.ts"
import type { EngineName } from "./openStore.ts"

export interface LargeStorm {
  readonly engine: EngineName
  readonly runners: number
  readonly sessions: number
  readonly messages: number
  readonly kills: number
  readonly seed: number
}

/** How long the database is away, in milliseconds. */
const awayMs = 2_000

/** Lets one of eight processes freeze, and restarts the database after a third of the messages. */
export const largeStorm = (server: PostgresServer, options: LargeStorm): Promise<Report> => {
  const { engine, kills, messages, seed, sessions } = options
  const { below } = random(seed)
  const moment = (): number => 1 + below(700)
  const kill = (index: number): Kill => index % 8 === 1 ? -moment() : index % 8 === 4 ? "report" : moment()
  const restart = async (): Promise<void> => {
    await server.kill()
    await Effect.runPromise(Effect.sleep(awayMs))
    await server.start()
  }
  return killStorm({
    ...options,
    where: `${server.url}#storm_${engine.replace("-", "")}_${seed}`,
    log: `${newFile()}.log`,
    kills: Array.from({ length: kills }, (_, index) => kill(index)),
    outage: { after: Math.floor(sessions * messages / 3), restart }
  })
}
