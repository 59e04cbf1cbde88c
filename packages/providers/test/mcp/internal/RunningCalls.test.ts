/** For which call a server asks. */
import { assert, describe, it } from "vitest"
import { RunningCalls } from "../../../src/mcp/internal/runningCalls.ts"

const call = (tool: string, sessionId: string) => ({ tool, sessionId, requests: 0 })

describe("a request of a server", () => {
  it("is for the newest of the calls of one session, and unknown if several sessions have calls", () => {
    const running = new RunningCalls()
    assert.match(running.take() as string, /only while one of its tools runs/)
    const [first, second, other] = [call("a", "s1"), call("b", "s1"), call("c", "s2")]
    running.enter(first)
    assert.strictEqual(running.take(), first)
    const leaveSecond = running.enter(second)
    assert.strictEqual(running.take(), second)
    const leaveOther = running.enter(other)
    assert.match(running.take() as string, /unknown for which one it asks/)
    leaveOther()
    leaveSecond()
    assert.strictEqual(running.take(), first)
  })
})
