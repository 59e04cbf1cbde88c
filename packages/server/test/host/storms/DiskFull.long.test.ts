/** A disk that is full for ten seconds. */
import { describe, it } from "vitest"
import { fullDisk } from "../support/fullDisk.ts"

describe("a host whose disk is full", () => {
  it("for ten seconds goes on afterwards, and nothing happens twice", { timeout: 180_000 }, () => fullDisk(10_000, 40))
})
