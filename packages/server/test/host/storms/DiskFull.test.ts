/** A disk that is full for a moment. */
import { describe, it } from "vitest"
import { fullDisk } from "../support/fullDisk.ts"

describe("a host whose disk is full", () => {
  it("says so to those who send, and goes on when there is room, without a call that begins twice", () =>
    fullDisk(1_000, 3))
})
