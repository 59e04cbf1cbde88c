/** Runs the cells of the proof. */
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

/** All columns. */
export const columns: ReadonlyArray<Column> = [belay, aiSdk, openAiAgents, langChain].flatMap((driver) => [
  { driver, own: false },
  ...(driver.hasOwn ? [{ driver, own: true }] : [])
])

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
    if (error instanceof Absent) return ["does not exist", error.message]
    throw error
  }
}

export { paths }
