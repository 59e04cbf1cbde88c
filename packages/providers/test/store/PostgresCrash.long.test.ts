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
        assert.isAbove(
          await killCycles(40, `${server.url}#crashes`),
          0,
          "no tool was repeated: the kills come too late"
        )
      } finally {
        await server.dispose()
      }
    }
  )
})
