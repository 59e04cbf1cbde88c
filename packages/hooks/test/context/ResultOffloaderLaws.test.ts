import { ConfigError, PortFailed } from "@belay/core/AgentError"
import * as ArtifactStore from "@belay/core/ArtifactStore"
import * as HookChain from "@belay/core/HookChain"
import type { Json, JsonObject } from "@belay/core/Json"
import { byLength } from "@belay/core/Tokenizer"
import * as ResultOffloader from "@belay/hooks/ResultOffloader"
import * as TestScope from "@belay/testing/TestScope"
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import * as Events from "../../../../test/support/events.ts"

const textOf = (value: Json | undefined): string =>
  typeof value === "string" ? value : assert.fail(`no text: ${JSON.stringify(value)}`)

describe("the laws of ResultOffloader", () => {
  const letters = Arbitrary.schema(
    Schema.Literals(["a", "\n", "\u{1f600}", "\u00e9", "some words ", "\ud800", "\udc00", "\u{10ffff}"])
  )
  const texts = Arbitrary.map(Arbitrary.array(letters, { maxLength: 300 }), (all) => all.join(""))
  const number = (...values: ReadonlyArray<number>) => Arbitrary.schema(Schema.Literals(values))
  const utf8 = { count: (one: string) => new TextEncoder().encode(one).length }

  it.effect.prop("shows at most the allowed tokens, and cuts only between characters", [
    texts,
    number(1, 2, 3, 7, 20, 60),
    number(0, 1, 2, 3, 5, 19, 60),
    Schema.Boolean
  ], ([content, max, preview, isUtf8]) =>
    Effect.gen(function*() {
      const artifacts = ArtifactStore.inMemory()
      const tokenizer = isUtf8 ? utf8 : byLength
      const options = { maxResultTokens: max, previewTokens: Math.min(preview, max), tokenizer }
      const shown = yield* chained(options, content, artifacts)
      if (tokenizer.count(content) <= max) return assert.strictEqual(shown, content)
      const [, head, omitted, tail] =
        /^([\s\S]*)\n\n\[\.\.\. (\d+) characters left out \.\.\.\]\n\n([\s\S]*)\n\n\[This result/u.exec(
          shown
        )!
      assert.isAtMost(tokenizer.count(head!) + tokenizer.count(tail!), Math.min(preview, max))
      assert.strictEqual(head!.length + Number(omitted) + tail!.length, content.length)
      assert.isTrue(content.startsWith(head!) && content.endsWith(tail!))
      if (content.isWellFormed()) assert.isTrue(shown.isWellFormed())
    }), { arbitrary: { runs: 300 } })

  it.effect.prop("returns exactly the stored text in excerpts", [
    texts,
    number(-5, 0, 1, 2, 3, 50, 1e9),
    number(100, 101, 300)
  ], ([content, length, maxLength]) =>
    Effect.gen(function*() {
      let all = ""
      let next: number | undefined = 0
      while (next !== undefined) {
        const piece: JsonObject = yield* reading({ "hook:offload/a": content }, {
          ref: "hook:offload/a",
          offset: next,
          length
        }, {
          maxLength
        })
        assert.isAtMost(textOf(piece["text"]).length, maxLength)
        if (content.isWellFormed()) assert.isTrue(textOf(piece["text"]).isWellFormed())
        assert.strictEqual(piece["total"], content.length)
        all += textOf(piece["text"])
        const after = piece["next"] as number | undefined
        assert.isTrue(after === undefined || after > next)
        next = after
      }
      assert.strictEqual(all, content)
    }), { arbitrary: { runs: 300 } })

  it.effect("cuts the result if the store does not answer", () =>
    Effect.gen(function*() {
      const hanging = { ...ArtifactStore.inMemory(), write: () => Effect.never }
      const fiber = yield* Effect.forkChild(chained({ maxResultTokens: 10 }, "x".repeat(1_000), hanging))
      yield* TestClock.adjust("9 seconds")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 second")
      assert.match(
        yield* Fiber.join(fiber),
        /^x{28}\n\n\[\.\.\. 960 characters left out \.\.\.\]\n\nx{12}\n\n.*It could not be stored/s
      )
    }))

  it("reads other artifacts if the option lists them", () =>
    Effect.runPromise(Effect.gen(function*() {
      const options = { keys: ["report::*", "!report::secret"] }
      const kept = { "hook:report::draft": "the draft", "hook:report::secret": "no" }
      assert.deepInclude(yield* reading(kept, { ref: "<artifact:hook:report::draft>" }, options), { text: "the draft" })
      assert.match(
        String(yield* Effect.flip(reading(kept, { ref: "<artifact:hook:report::secret>" }, options))),
        /there is no artifact/
      )
    })))

  for (
    const [options, key] of [
      [{ maxResultTokens: 0 }, "maxResultTokens"],
      [{ previewTokens: 3_000 }, "previewTokens"],
      [{ previewTokens: -1 }, "previewTokens"],
      [{ perTool: { x: { previewTokens: 2_501 } } }, "perTool[\"x\"].previewTokens"],
      [{ evictAfterTurns: 1.5 }, "evictAfterTurns"],
      [{ media: "drop" as "keep" }, "media"]
    ] as const
  ) {
    it(`refuses ${JSON.stringify(options)}`, () => {
      assert.throws(() => ResultOffloader.make(options), ConfigError, `result-offloader.${key}: expected`)
    })
  }

  it("rejects a tool that could read nothing", () => {
    assert.throws(() => ResultOffloader.readTool({ maxLength: 10 }), ConfigError, "read_artifact.maxLength")
  })
})

/** What the model reads of a text, in a chain by itself. */
const chained = (options: ResultOffloader.Options, output: string, artifacts: ArtifactStore.ArtifactStore) =>
  Effect.gen(function*() {
    const lent = {
      root: { sessionId: "s", turnNumber: 1, signal: TestScope.make().signal },
      artifacts: (hook: string) => ({
        write: (key: string, content: string) =>
          Effect.mapError(
            artifacts.write("s", key, content, { by: hook }),
            () => new PortFailed({ port: "artifacts", message: "broken" })
          )
      })
    }
    const scope = TestScope.make({ capabilities: lent as never })
    const { tool, ...call } = Events.call("loud")
    const event = { call, tool, result: { ok: true as const, output }, elapsedMs: 1, executed: true }
    const outcome = yield* HookChain.makeUnsafe([ResultOffloader.make(options)]).run("postToolCall", event, scope)
    assert.deepEqual(scope.failures, [])
    return textOf((outcome.event.result as { readonly output: Json }).output)
  })

const reading = (
  kept: { readonly [key: string]: string },
  args: ResultOffloader.ReadArgs,
  options?: ResultOffloader.ReadOptions
): Effect.Effect<JsonObject, unknown> => {
  const artifacts = { read: (key: string) => Effect.succeed(kept[key]) }
  return ResultOffloader.readTool(options).execute(args, { artifacts } as never) as Effect.Effect<JsonObject, unknown>
}
