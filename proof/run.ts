/** Runs the cells of the proof. */
import { ConfigError } from "@belay/core/AgentError"
import { existsSync } from "node:fs"
import { Absent, type Driver } from "./driver.ts"
import { aiSdk } from "./drivers/aiSdk.ts"
import { belay } from "./drivers/belay.ts"
import { langChain } from "./drivers/langChain.ts"
import { openAiAgents } from "./drivers/openAiAgents.ts"
import { type Path, paths } from "./paths.ts"

/** Whether a path holds: nothing has happened that the guard did not allow, and what it allowed has happened. */
export type Cell = "holds" | "does not hold" | "does not exist"

/** One column: a driver with the guard of Belay, or with its own mechanism. */
export interface Column {
  readonly driver: Driver
  readonly own: boolean
}

const columnsOf = (drivers: ReadonlyArray<Driver>): ReadonlyArray<Column> =>
  drivers.flatMap((driver) => [
    { driver, own: false },
    ...(driver.hasOwn ? [{ driver, own: true }] : [])
  ])

/** The columns of the SDKs that the workspace installs. */
export const columns: ReadonlyArray<Column> = columnsOf([belay, aiSdk, openAiAgents, langChain])

/** An SDK with a lockfile of its own, in this folder of `test`. */
interface Other {
  readonly name: string
  readonly folder: "peers" | "cli"
  readonly module: string
  readonly from: string
}

/** The SDKs that are installed apart, because they are large or need other versions. */
export const others: ReadonlyArray<Other> = [
  { name: "Strands", folder: "peers", module: "@strands-agents/sdk", from: "proof-strands.ts" },
  { name: "Mastra", folder: "peers", module: "@mastra/core", from: "proof-mastra.ts" },
  { name: "pi", folder: "peers", module: "@earendil-works/pi-coding-agent", from: "proof-pi.ts" },
  { name: "Claude Agent SDK", folder: "cli", module: "@anthropic-ai/claude-agent-sdk", from: "proof-claude-agent.ts" }
]

const urlOf = ({ folder }: Other, path: string): URL => new URL(`../test/${folder}/${path}`, import.meta.url)

/** Whether an SDK is there. */
export const isInstalled = (other: Other): boolean =>
  existsSync(urlOf(other, `node_modules/${other.module}/package.json`))

/** Returns the columns of an SDK that is installed apart. */
export const columnsFrom = async (other: Other): Promise<ReadonlyArray<Column>> => {
  const { driver } = await import(urlOf(other, other.from).href) as { readonly driver: Driver }
  return columnsOf([driver])
}

/** The name of a column. */
export const nameOf = ({ driver: { hasOwn, name }, own }: Column): string =>
  own ? `${name} alone` : hasOwn ? `${name} with Belay` : name

/** Runs one cell. The second value says what has happened, if the path does not hold. */
export const runCell = async (path: Path, { driver, own }: Column): Promise<readonly [Cell, string]> => {
  if (own && !path.forOwn) return ["does not exist", "the SDK has no such mechanism"]
  try {
    const { expected, ran } = await path.run(driver, own)
    const holds = JSON.stringify(ran.toSorted()) === JSON.stringify([...expected].toSorted())
    return holds
      ? ["holds", ""]
      : ["does not hold", `expected ${expected.join(", ") || "nothing"}, ran ${ran.join(", ") || "nothing"}`]
  } catch (error) {
    // The guard refuses hooks that the SDK cannot enforce when it is made. Nothing runs.
    if (error instanceof Absent || error instanceof ConfigError) return ["does not exist", error.message]
    throw error
  }
}

export { paths }
