/** The turns that wait for ever hold nothing of the program that starts them. */
import { assert, describe, it } from "@effect/vitest"
import { AsyncLocalStorage } from "node:async_hooks"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { createAgent } from "../../../src/agent/createAgent.ts"
import * as waitingTurns from "../../../src/agent/internal/running/waitingTurns.ts"

setFlagsFromString("--expose-gc")
const collect = runInNewContext("gc") as () => void

describe("turns that wait for ever", () => {
  it("are two, which start with the 64th turn of a process", async () => {
    // A new copy of the module, as in a new process.
    const name = "../../../src/agent/internal/running/waitingTurns.ts?again"
    const fresh = await import(name) as Pick<typeof waitingTurns, "countTurn" | "keepShapesWith">
    let made = 0
    const create = () => {
      made++
      return { run: () => new Promise(() => {}) }
    }
    fresh.keepShapesWith(create)
    for (let turn = 1; turn < 64; turn++) fresh.countTurn()
    assert.strictEqual(made, 0)
    for (let turn = 64; turn < 200; turn++) fresh.countTurn()
    assert.strictEqual(made, 2)
  })

  it("hold nothing of the request in which they were started", async () => {
    const requests = new AsyncLocalStorage<object>()
    const startIn = (request: object) => {
      requests.run(request, () => waitingTurns.startWaiting(createAgent))
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
