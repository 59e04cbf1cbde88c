import * as AgentRuntime from "@belay/core/AgentRuntime"
import { textResponse } from "@belay/core/LlmCall"
import type { LlmProvider } from "@belay/core/LlmProvider"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as Metric from "effect/Metric"

const provider: LlmProvider = { name: "fake", complete: () => Effect.succeed(textResponse("hello")) }

describe("a broken hook", () => {
  it.effect("is counted, and logged with hook, point and policy by the program's own logger", () =>
    Effect.gen(function*() {
      const lines: Array<string> = []
      const logger = Logger.make<unknown, void>(({ message }) => void lines.push(String(message)))
      const broken = {
        name: "broken-one",
        preTurn: () => {
          throw new Error("boom")
        }
      }
      const runtime = yield* AgentRuntime.make({ provider, hooks: [broken] })
      const { text } = yield* Effect.provide(runtime.run("hi"), Logger.layer([logger]))
      assert.strictEqual(text, "hello")
      assert.deepStrictEqual(lines, ["hook broken-one failed at preTurn (threw, fail-open, went on): boom"])
      const counter = Metric.withAttributes(
        Metric.counter("belay_hook_failures", { description: "hook failures", incremental: true }),
        {
          hook: "broken-one",
          point: "preTurn",
          policy: "open"
        }
      )
      assert.strictEqual((yield* Metric.value(counter)).count, 1)
    }))

  it.effect("cannot move the cursor or forge a log line with its messages", () =>
    Effect.gen(function*() {
      const lines: Array<string> = []
      const logger = Logger.make<unknown, void>(({ message }) => void lines.push(String(message)))
      const said = "\u001b[2Jcleared\r\n[12:00] INFO all is well\u0000\u202e\ud800"
      const loud = {
        name: "loud",
        preTurn: (_: unknown, { warn }: { readonly warn: (message: string) => void }) => {
          warn(said)
          throw new Error(said)
        }
      }
      const runtime = yield* AgentRuntime.make({ provider, hooks: [loud] })
      yield* Effect.provide(runtime.run("hi"), Logger.layer([logger]))
      const line = "?[2Jcleared [12:00] INFO all is well??\ufffd"
      assert.deepStrictEqual(lines, [
        `loud: ${line}`,
        `hook loud failed at preTurn (threw, fail-open, went on): ${line}`
      ])
    }))
})
