/** Processes that run sessions and are killed at any moment. */
import { random } from "@belay/testing/SeededRandom"
import { assert, describe, it } from "vitest"
import { newFile } from "./support/hosted.ts"
import { killStorm } from "./support/killStorm.ts"

describe("a host whose processes are killed", () => {
  it("answers each message once and in order, and begins no call twice", async () => {
    const { below } = random(7)
    const where = newFile()
    const kills = Array.from({ length: 8 }, (_, index) => index % 3 === 0 ? "report" : 3 + below(120))
    const killed = await killStorm({ where, log: `${where}.log`, seed: 7, sessions: 4, messages: 4, kills })
    assert.isAbove(killed, 4)
  })
})
