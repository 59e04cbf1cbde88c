import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { type Eventual, eventual } from "../../../src/data/effect/Eventual.ts"

describe("eventual", () => {
  // oxlint-disable-next-line unicorn/no-thenable -- a foreign thenable is what is tested
  const thenable = Object.fromEntries([["then", (done: (n: number) => unknown) => done(1)]]) as never
  const answers: ReadonlyArray<readonly [what: string, answer: () => Eventual<number>]> = [
    ["a value", () => 1],
    ["a promise", async () => 1],
    ["a foreign thenable", () => thenable],
    ["an Effect", () => Effect.succeed(1)]
  ]
  for (const [what, answer] of answers) {
    it.effect(`waits for ${what}`, () =>
      Effect.gen(function*() {
        assert.strictEqual(yield* eventual(answer), 1)
      }))
  }

  const failures: ReadonlyArray<readonly [what: string, answer: () => Eventual<number>]> = [
    ["throws", () => assert.fail("broken")],
    ["rejects", () => Promise.reject(new Error("broken"))],
    ["fails", () => Effect.fail("broken")]
  ]
  for (const [what, answer] of failures) {
    it.effect(`fails with the error of a function that ${what}`, () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(eventual(answer))
        assert.include(String(error), "broken")
      }))
  }

  it.effect("aborts the signal when the wait is interrupted, and only then", () =>
    Effect.gen(function*() {
      let signal: AbortSignal | undefined
      const ask = (given: AbortSignal): Promise<number> => {
        signal = given
        return new Promise(() => {})
      }
      const fiber = yield* Effect.forkChild(eventual<number, never>(ask), { startImmediately: true })
      assert.isFalse(signal?.aborted)
      yield* Fiber.interrupt(fiber)
      assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(fiber)))
      assert.isTrue(signal?.aborted)
    }))
})
