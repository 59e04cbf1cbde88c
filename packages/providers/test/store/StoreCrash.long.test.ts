/** The same kills as in the quick set, often enough that some of them cut an idempotent tool short. */
import { assert, describe, it } from "vitest"
import { killCycles, openWhileCreating } from "../support/storeCrash.ts"

const cycles = Number(process.env["BELAY_CRASHES"] ?? 200)

describe("a SQLite store", () => {
  it(
    `loses nothing that ${cycles} killed processes acknowledged, and repeats only idempotent tools`,
    { timeout: 600_000 },
    async () => assert.isAbove(await killCycles(cycles), 0, "no idempotent tool was repeated: the kills come too late")
  )

  it(
    "can be opened 600 times while another process creates its tables",
    { timeout: 600_000 },
    () => openWhileCreating(600)
  )
})
