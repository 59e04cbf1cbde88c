/** The deadline of a tool ends with the tool, not with its turn. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import * as AgentRuntime from "../../../src/agent/AgentRuntime.ts"
import { recording } from "../../support/agent.ts"
import { asks, scripted } from "../../support/model.ts"

describe("a tool that has finished", () => {
  const ends: { readonly [how: string]: () => unknown } = {
    "with a promise": () => Promise.resolve("ok"),
    "with a rejection": () => Promise.reject(new Error("no")),
    "with an Effect": () => Effect.andThen(Effect.yieldNow, Effect.succeed("ok"))
  }
  for (const [how, end] of Object.entries(ends)) {
    it.effect(`${how} is not aborted when its time would have been over`, () =>
      Effect.gen(function*() {
        const signals: Array<AbortSignal> = []
        const look = recording("look", (_, { signal }) => {
          signals.push(signal)
          return end()
        })
        const thinking = () => Effect.as(Effect.sleep("10 seconds"), "done")
        const { provider } = scripted([asks(["look"]), asks(["look"]), thinking])
        const runtime = yield* AgentRuntime.make({ provider, tools: [look.tool], limits: { toolMs: 1_000 } })
        const fiber = yield* Effect.forkChild(runtime.run("go"), { startImmediately: true })
        // Promises settle outside of the test clock.
        while (signals.length < 2) yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
        for (let tick = 0; tick < 5; tick++) yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(signals.map(({ aborted }) => aborted), [false, false])
        yield* TestClock.adjust("10 seconds")
        assert.strictEqual((yield* Fiber.join(fiber)).text, "done")
      }))
  }
})
