import * as HookChain from "@belay/core/HookChain"
import * as Redaction from "@belay/hooks/Redaction"
import * as TestScope from "@belay/testing/TestScope"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { chunks, stream } from "../support/guarded.ts"
import { staysHidden } from "../support/redactedStream.ts"

const mail = "ada@example.com"
const card = "4111 1111 1111 1111"

describe("Redaction of a stream", () => {
  it.effect.prop(
    "shows no value wherever it is cut, and its placeholders can be replaced by the values",
    [Schema.Int, Schema.Int],
    ([sentence, cut]) => staysHidden(sentence, cut),
    { arbitrary: { runs: 60 } }
  )

  it.effect("is cut at a value that is blocked, before any of it is shown", () =>
    Effect.gen(function*() {
      for (const size of [1, 2, 3, 5, 7, 200, 500]) {
        const text = `${"so ".repeat(100)}${card} and more ${"so ".repeat(100)}`
        const { cut, shown } = yield* stream(Redaction.make({ kinds: { card: "block" } }), chunks(text, size, size))
        assert.isTrue(cut)
        assert.notInclude(shown, "4111")
      }
    }))

  it.effect("removes a value that is longer than the buffer", () =>
    Effect.gen(function*() {
      const long = `a@${`${"label".repeat(12)}.`.repeat(7)}com`
      const url = `https://example.com/${"path/".repeat(300)}`
      for (const size of [1, 3, 17, 64]) {
        const { shown, text } = yield* stream(
          Redaction.make({ kinds: ["url"], strategy: "redact" }),
          chunks(`see ${url} now ${"so ".repeat(50)}`, size, size)
        )
        assert.notInclude(shown, "path")
        assert.strictEqual(text.slice(0, 16), "see [URL] now so")
        assert.notInclude(
          (yield* stream(Redaction.make(), chunks(`to ${long} ${"so ".repeat(99)}`, size, size))).shown,
          "labellabel"
        )
      }
    }))

  it.effect("ends at a value of a custom detector that is longer than the buffer", () =>
    Effect.gen(function*() {
      const detectors = [{ kind: "own", find: "key=\\S+", maxLength: 40 }]
      const { cut, shown } = yield* stream(
        Redaction.make({ kinds: [], detectors }),
        chunks(`so key=${"x".repeat(400)} so`, 1, 4)
      )
      assert.isTrue(cut)
      assert.notInclude(shown, "x")
    }))

  it.effect("shows neither reasoning nor arguments before they are complete", () =>
    Effect.gen(function*() {
      const chain = HookChain.makeUnsafe([Redaction.make()])
      const reasoning = yield* chain.run("onLlmDelta", { type: "reasoning", text: mail }, TestScope.make())
      assert.deepEqual(reasoning.event, { type: "reasoning", text: "" })
      const piece = yield* chain.run(
        "onLlmDelta",
        { type: "tool-call", id: "1", name: "a", argsText: mail },
        TestScope.make()
      )
      assert.deepEqual(piece.event, { type: "tool-call", id: "1", name: "a", argsText: "" })
    }))
})
