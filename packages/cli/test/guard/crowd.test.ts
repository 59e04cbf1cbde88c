import { describe, it } from "vitest"
import { callAtOnce, killAmongMany, killCalls } from "./support/crowd.ts"

describe("one session", () => {
  it("counts calls that come at the same time, each once", async () => {
    await callAtOnce(10)
  })

  it("goes on after calls that were killed at any moment", async () => {
    await killCalls(8)
  })

  it("goes on after calls that were killed among others that run at the same time", async () => {
    await killAmongMany(3)
  })
})
