/** Interrupts a turn at a sample of its steps. InterruptedEverywhere.long.test.ts interrupts it at every step. */
import { random } from "@belay/testing/SeededRandom"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scheduler from "effect/Scheduler"
import * as Scope from "effect/Scope"
import * as AgentRuntime from "../../../src/agent/AgentRuntime.ts"
import { defineTool } from "../../../src/agent/defineTool.ts"
import * as HookState from "../../../src/hook/HookState.ts"
import { anything, assertValid } from "../../support/agent.ts"
import { asks, scripted } from "../../support/model.ts"
import { stepper } from "../../support/stepper.ts"
import { sweep } from "./interruptedTurn.ts"

describe("the interruption sweep", () => {
  it("leaves no resource, stream, timer or invalid transcript at any of 300 points", () =>
    sweep({ stride: 17, total: 300 }))

  it("finds a resource that is not released: the sweep can fail", async () => {
    let open = 0
    let leaks = 0
    for (let at = 1; at < 40; at++) {
      open = 0
      const leaky = Effect.gen(function*() {
        open++
        yield* Effect.yieldNow
        yield* Effect.yieldNow
        open--
      })
      const schedule = stepper(3, at, () => fiber.interruptUnsafe())
      const fiber: Fiber.Fiber<unknown> = Effect.runForkWith(Context.make(Scheduler.Scheduler, schedule))(leaky)
      await Effect.runPromise(Fiber.await(fiber))
      if (open !== 0) leaks++
    }
    assert.isAbove(leaks, 0)
  })
})

describe("HookState under a seeded scheduler", () => {
  it("loses no update of parallel tool calls in 200 orders, where get and set would", async () => {
    const atomic = HookState.key("atomic", 0)
    const racy = HookState.key("racy", 0)
    let lost = 0
    for (let seed = 0; seed < 200; seed++) {
      const { below } = random(seed)
      const scope = Scope.makeUnsafe()
      const runtime = await Effect.runPromise(Scope.provide(
        AgentRuntime.make({
          provider: scripted([asks(...Array.from({ length: 8 }, (_, n) => ["act", { n }] as const))]).provider,
          tools: [
            defineTool({
              name: "act",
              description: "Acts",
              input: anything,
              execute: () => Effect.as(Effect.yieldNow, "ok")
            })
          ],
          hooks: [{
            name: "counter",
            *preToolCall(_, { state }) {
              state.update(atomic, (n) => n + 1)
              const read = state.get(racy)
              yield* Effect.yieldNow
              state.set(racy, read + 1)
            }
          }]
        }),
        scope
      ))
      const session = await Effect.runPromise(runtime.session())
      const schedule = stepper(3, Infinity, () => {}, below)
      const result = await Effect.runPromiseWith(Context.make(Scheduler.Scheduler, schedule))(session.run("go"))
      assertValid(result.messages)
      assert.strictEqual(session.state.get(atomic), 8)
      if (session.state.get(racy) < 8) lost++
      await Effect.runPromise(Scope.close(scope, Exit.void))
    }
    assert.isAbove(lost, 0)
  })
})
