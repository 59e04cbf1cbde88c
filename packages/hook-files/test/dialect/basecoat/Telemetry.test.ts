/** What telemetry reads of what was decided. */
import { assert, describe, it } from "vitest"
import { bash, world } from "./support.ts"

describe("telemetry of Base Coat", () => {
  it("reads that a call runs", async () => {
    const { agent, ran, register } = world([bash("ls")])
    const seen: Array<unknown> = []
    register("PreToolUse", (event) => void seen.push(event["outcome"]), { kind: "telemetry" })
    await agent.run("go")
    assert.deepEqual(seen, [{ action: "passThrough" }])
    assert.deepEqual(ran, ["ls"])
  })
})
