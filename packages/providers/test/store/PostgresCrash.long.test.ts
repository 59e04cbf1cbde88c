/** The same kills as in the quick set, often enough that some of them cut an idempotent tool short. */
import { assert, describe, it } from "vitest"
import { startPostgres } from "../../../../test/support/postgres.ts"
import { killCycles } from "../support/storeCrash.ts"

describe("a Postgres store", () => {
  it(
    "loses nothing that 40 killed processes acknowledged, and repeats only idempotent tools",
    { timeout: 600_000 },
    async () => {
      const server = await startPostgres()
      try {
        let repeated = 0
        // The moments are random: now and then, no kill of a round cuts such a tool short.
        for (let round = 0; round < 5 && repeated === 0; round++) {
          repeated = await killCycles(40, `${server.url}#crashes${round}`)
        }
        assert.isAbove(repeated, 0, "no tool was repeated: the kills come too late")
      } finally {
        await server.dispose()
      }
    }
  )
})
