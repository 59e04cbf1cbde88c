/** The turns that wait for ever hold nothing of the program that starts them. */
import { assert, describe, it } from "@effect/vitest"
import { AsyncLocalStorage } from "node:async_hooks"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { createAgent } from "../../../src/agent/createAgent.ts"
import { startWaiting } from "../../../src/agent/internal/running/waitingTurns.ts"

setFlagsFromString("--expose-gc")
const collect = runInNewContext("gc") as () => void

describe("turns that wait for ever", () => {
  it("hold nothing of the request in which they were started", async () => {
    const requests = new AsyncLocalStorage<object>()
    const startIn = (request: object) => {
      requests.run(request, () => startWaiting(createAgent))
      return new WeakRef(request)
    }
    const request = startIn({ user: "ada" })
    for (let tries = 0; tries < 20 && request.deref() !== undefined; tries++) {
      await new Promise((resolve) => setImmediate(resolve))
      collect()
    }
    assert.isUndefined(request.deref())
  })
})
