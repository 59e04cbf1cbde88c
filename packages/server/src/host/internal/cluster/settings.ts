/** The parts of `effect/cluster` that the engine uses. */
import * as PgClient from "@effect/sql-pg/PgClient"
import * as RunnerAddress from "effect/cluster/RunnerAddress"
import * as RunnerHealth from "effect/cluster/RunnerHealth"
import * as Runners from "effect/cluster/Runners"
import * as RunnerStorage from "effect/cluster/RunnerStorage"
import * as Sharding from "effect/cluster/Sharding"
import * as ShardingConfig from "effect/cluster/ShardingConfig"
import * as SqlMessageStorage from "effect/cluster/SqlMessageStorage"
import * as SqlRunnerStorage from "effect/cluster/SqlRunnerStorage"
import * as Digest from "effect/crypto/Digest"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"

/** What the engine was made with. */
export interface Settings {
  readonly url: string
  readonly prefix: string
  readonly ssl: boolean | { readonly [option: string]: unknown } | undefined
  readonly maxConnections: number
  readonly concurrency: number
  readonly pollMs: number
  /** How long a runner keeps its sessions after its last sign of life, in milliseconds. */
  readonly lockMs: number
}

/** What a runner is called where the server lists its connections. */
export const nameOfConnection = (prefix: string, address: string): string => `${prefix} ${address}`.slice(0, 63)

/** How long an entity stays in memory that gets no requests, in milliseconds. */
const idleMs = 10_000

/** How long a runner that ends may take for the calls that run. `drain` of a host ends them before. */
const closeMs = 24 * 60 * 60 * 1_000

const database = ({ maxConnections, ssl, url }: Settings, name: string) =>
  PgClient.layer({
    url: Redacted.make(url),
    maxConnections,
    applicationName: name,
    connectTimeout: 5_000,
    ...(ssl === undefined ? {} : { ssl })
  })

const layerOf = (settings: Settings, name: string, config: Partial<ShardingConfig.ShardingConfig["Service"]>) => {
  const { prefix } = settings
  const isRunner = config.runnerAddress !== undefined
  return Sharding.layer.pipe(
    // Runners do not talk to each other: they need no ports, and nobody can send them anything past the database.
    Layer.provide(Runners.layerNoop),
    Layer.provide(SqlMessageStorage.layerWith({ prefix })),
    Layer.provide([
      isRunner ? SqlRunnerStorage.layerWith({ prefix }) : RunnerStorage.layerMemory,
      RunnerHealth.layerNoop
    ]),
    Layer.provide(ShardingConfig.layer({ runnerAddress: Option.none(), ...config })),
    Layer.provide(Digest.layerWebCrypto),
    Layer.provideMerge(database(settings, name))
  )
}

/** For a process that only sends. */
export const senderLayer = (settings: Settings) => layerOf({ ...settings, maxConnections: 2 }, "belay", {})

/** For a process that runs sessions. */
export const runnerLayer = (settings: Settings, address: RunnerAddress.RunnerAddress) =>
  layerOf(settings, nameOfConnection(settings.prefix, `${address.host}:${address.port}`), {
    runnerAddress: Option.some(address),
    shardLockExpiration: settings.lockMs,
    shardLockRefreshInterval: settings.lockMs / 3,
    refreshAssignmentsInterval: 500,
    entityMessagePollInterval: settings.pollMs,
    entityMaxIdleTime: idleMs,
    entityTerminationTimeout: closeMs,
    maxResidentEntities: "unbounded"
  })
