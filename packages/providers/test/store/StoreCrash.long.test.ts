/** The same kills as in the quick set, often enough that some of them cut an idempotent tool short. */
import { assert, describe, it } from "vitest"
import { killCycles } from "../support/storeCrash.ts"

const cycles = Number(process.env["BELAY_CRASHES"] ?? 200)

describe("a SQLite store", () => {
  it(
    `loses nothing that ${cycles} killed processes acknowledged, and repeats only idempotent tools`,
    { timeout: 600_000 },
    async () => assert.isAbove(await killCycles(cycles), 0, "no idempotent tool was repeated: the kills come too late")
  )
})
