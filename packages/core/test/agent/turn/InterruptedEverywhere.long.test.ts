/** Interrupts a turn at every one of its steps. */
import { describe, it } from "vitest"
import { sweep } from "./interruptedTurn.ts"

describe("the interruption sweep", () => {
  it(
    "leaves no resource, stream, timer or invalid transcript at any of 3,000 points",
    { timeout: 300_000 },
    () => sweep({ stride: 1, total: 3_000 })
  )
})
