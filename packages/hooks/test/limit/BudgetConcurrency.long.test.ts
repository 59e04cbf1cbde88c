/** The same interleavings as in the quick set, twenty times as many. */
import { describe, it } from "vitest"
import { tryInterleavings } from "../support/interleavings.ts"

describe("Budget with parallel calls", () => {
  it(
    "never spends more than the limit and one reserved call, in 10,000 interleavings of parallel agents and failed calls",
    () => tryInterleavings(10_000)
  )
})
