import type { LlmDelta, LlmRequest } from "@belay/core/LlmCall"
import { Overloaded } from "@belay/core/ProviderError"
import * as Scripted from "@belay/testing/Scripted"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"

const request: LlmRequest = { messages: [{ role: "user", content: "hi" }], tools: [], parameters: {} }

describe("a scripted model", () => {
  it.effect("answers in order and keeps the requests", () =>
    Effect.gen(function*() {
      const model = Scripted.make([
        "one",
        Scripted.toolCalls({ name: "add", args: { a: 1 }, id: "c1" }),
        new Overloaded({ provider: "scripted", message: "busy" }),
        (given) => `saw ${given.messages.length}`,
        Effect.succeed({ model: "m", text: "five", toolCalls: [], finishReason: "stop" as const })
      ])
      assert.strictEqual((yield* model.complete(request)).text, "one")
      assert.deepStrictEqual((yield* model.complete(request)).toolCalls, [{ id: "c1", name: "add", args: { a: 1 } }])
      assert.strictEqual((yield* Effect.flip(model.complete(request)))._tag, "Overloaded")
      assert.strictEqual((yield* model.complete(request)).text, "saw 1")
      assert.throws(model.assertDone, /1 of 5 entries were not used/)
      assert.strictEqual((yield* model.complete(request)).text, "five")
      model.assertDone()
      assert.lengthOf(model.requests, 5)
    }))

  it.effect("says when its script has ended", () =>
    Effect.gen(function*() {
      const exit = yield* Effect.exit(Scripted.make([]).complete(request))
      assert.isTrue(Exit.hasDies(exit))
      assert.match(String(Exit.isFailure(exit) && exit.cause), /script has 0 entries, call 1 has none/)
    }))

  it.effect("streams its text in parts", () =>
    Effect.gen(function*() {
      const deltas: Array<LlmDelta> = []
      const model = Scripted.make([{
        model: "m",
        text: "Grüße 👋👋👋",
        reasoning: "hmm",
        toolCalls: [{ id: "c", name: "f", args: {} }],
        finishReason: "tool-calls"
      }], { pieceLength: 3 })
      const response = yield* (model.stream?.(request, (delta) =>
        Promise.resolve().then(() => void deltas.push(delta))) ?? Effect.never)
      assert.deepStrictEqual(deltas, [
        { type: "reasoning", text: "hmm" },
        { type: "text", text: "Grü" },
        { type: "text", text: "ße " },
        { type: "text", text: "👋👋👋" },
        { type: "tool-call", id: "c", name: "f", argsText: "{}" }
      ])
      assert.strictEqual(response.text, "Grüße 👋👋👋")
    }))
})
