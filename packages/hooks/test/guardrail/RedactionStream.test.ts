import * as HookChain from "@belay/core/HookChain"
import * as Redaction from "@belay/hooks/Redaction"
import { random } from "@belay/testing/SeededRandom"
import * as TestScope from "@belay/testing/TestScope"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { chunks, contextOf, stream } from "../support/guarded.ts"

const mail = "ada@example.com"
const card = "4111 1111 1111 1111"
const iban = "DE89 3704 0044 0532 0130 00"

describe("a stream that is redacted", () => {
  const values: ReadonlyArray<readonly [kind: Redaction.Kind, value: string]> = [
    ["email", mail],
    ["email", `${"a".repeat(60)}@${"b".repeat(50)}.example.com`],
    ["phone", "+49 170 1234567"],
    ["card", card],
    ["iban", iban],
    ["ip", "2001:db8:85a3::8a2e:370:7334"],
    ["mac", "00:1B:44:11:3A:B7"],
    ["ssn", "123-45-6789"],
    ["url-credentials", "adalovelace:correct-horse"]
  ]
  const fillers = ["The ", "answer is ", "😀👩‍👩‍👧 ", "é\u0301, ", "well\n", "— ", "𝒳 ", "in short ", "(so) ", "\ud83d "]
  const sentence = (seed: number): { readonly text: string; readonly secrets: ReadonlyArray<string> } => {
    const { below, pick } = random(seed)
    const secrets: Array<string> = []
    const words = Array.from({ length: 2 + below(60) }, () => {
      if (below(5) > 0) return pick(fillers)
      const [kind, value] = pick(values)
      secrets.push(value)
      return kind === "url-credentials" ? `https://${value}@host.test/ ` : `${value} `
    })
    return { text: words.join(""), secrets }
  }
  /** Six characters of a secret in a row are a leak. */
  const leaks = (shown: string, secrets: ReadonlyArray<string>): ReadonlyArray<string> =>
    secrets.filter((secret) =>
      Array.from({ length: secret.length - 7 }, (_, at) => secret.slice(at, at + 8)).some((part) =>
        shown.includes(part)
      )
    )

  it.effect.prop(
    "shows no value, however it is cut, and is given back as it was",
    [Schema.Int, Schema.Int],
    ([of, cut]) =>
      Effect.gen(function*() {
        const { secrets, text } = sentence(of)
        for (const strategy of ["placeholder", "redact", "hash"] as const) {
          const hook = Redaction.make({ strategy })
          const streamed = yield* stream(hook, chunks(text, cut, 1 + Math.abs(cut) % 40))
          assert.deepEqual(leaks(streamed.text, secrets), [])
          assert.isTrue(streamed.text.startsWith(streamed.shown))
          if (strategy === "placeholder") {
            assert.strictEqual(hook.revealText!(streamed.text, contextOf(TestScope.make(), hook.name) as never), text)
          }
        }
      }),
    { arbitrary: { runs: 300 } }
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
