import { createAgent } from "@belay/core/createAgent"
import type { LlmRequest } from "@belay/core/LlmCall"
import type { Message } from "@belay/core/Message"
import { whyInvalid } from "@belay/core/Message"
import * as ContextEditing from "@belay/hooks/ContextEditing"
import { dryRun } from "@belay/testing/TestHook"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { calls, recording, scripted } from "../../../../test/support/agent.ts"
import { step, transcripts } from "../support/transcripts.ts"

/** The messages of the request that the model gets. */
const sent = (messages: ReadonlyArray<Message>, options?: ContextEditing.Options) =>
  Effect.map(
    Effect.promise(() => dryRun([ContextEditing.make(options)], "preLlmCall", { messages })),
    // The event of this point is the request.
    ({ event }) => (event as LlmRequest).messages
  )

const results = (messages: ReadonlyArray<Message>) =>
  messages.flatMap((message) => message.role === "tool" ? [message.content] : [])

const long: ReadonlyArray<Message> = [
  { role: "user", content: "the first task" },
  ...step("a", 1),
  { role: "user", content: "the task" },
  ...step("b", 2, "kept", "memory_read"),
  ...step("c", 2),
  ...step("d", 2)
]

describe("ContextEditing", () => {
  it.effect("clears all but the latest results once a request is long", () =>
    Effect.gen(function*() {
      assert.deepEqual(results(yield* sent(long, { trigger: 10 })), [
        "[cleared]",
        "[cleared]",
        "[cleared]",
        "[cleared]",
        "result of c",
        "result of d",
        "result of d"
      ])
      assert.deepEqual(yield* sent(long), long)
      assert.deepEqual(
        yield* sent([...long, { role: "user", content: "x".repeat(400_100) }], { keep: 7, clearReasoning: false }),
        [
          ...long,
          { role: "user", content: "x".repeat(400_100) }
        ]
      )
    }))

  it.effect("keeps the results of excluded tools, and uses the placeholder of the options", () =>
    Effect.gen(function*() {
      const found = results(yield* sent(long, { trigger: 10, keep: 0, excludeTools: "memory_*", placeholder: "-" }))
      assert.deepEqual(found, ["-", "kept", "kept", "-", "-", "-", "-"])
    }))

  it.effect("clears arguments if the option is set, and the reasoning of earlier turns by default", () =>
    Effect.gen(function*() {
      const edited = yield* sent(long, { trigger: 10, keep: 2, clearToolInputs: true })
      const assistants = edited.filter((message) => message.role === "assistant")
      assert.deepEqual(assistants.map(({ reasoning }) => reasoning), [
        undefined,
        "thinking about b",
        "thinking about c",
        "thinking about d"
      ])
      assert.deepEqual(assistants.map(({ toolCalls }) => toolCalls?.[0]?.args), [{}, {}, {}, { what: "d 0" }])
      const kept = yield* sent(long, { trigger: 10, clearReasoning: false })
      assert.isTrue(kept.every((message) => message.role !== "assistant" || message.reasoning !== undefined))
    }))

  const small = Schema.Literals([0, 1, 2, 5])
  it.effect.prop(
    "keeps calls and results together, and never makes a request longer",
    [transcripts, small, Schema.Boolean],
    ([messages, keep, clearToolInputs]) =>
      Effect.gen(function*() {
        const edited = yield* sent(messages, { trigger: 0, keep, clearToolInputs })
        const cleared = results(edited).filter((content) => content === "[cleared]").length
        return whyInvalid(edited) === undefined && edited.length === messages.length &&
          cleared === Math.max(0, results(messages).length - keep) &&
          JSON.stringify(edited).length <= JSON.stringify(messages).length
      }),
    { arbitrary: { runs: 300 } }
  )

  it("rejects options that are not whole numbers", () => {
    for (const options of [{ keep: -1 }, { trigger: 0.5 }]) {
      assert.throws(() => ContextEditing.make(options), /context-editing\./)
    }
  })

  it("does not change the conversation of an agent", async () => {
    const { tools } = recording()
    const { provider, requests } = scripted(
      Array.from({ length: 4 }, (_, n) => calls(["bash", { command: `ls ${n}` }]))
    )
    await using agent = createAgent({ provider, tools, hooks: [ContextEditing.make({ trigger: 1, keep: 1 })] })
    const { messages } = await agent.run("the task")
    assert.deepEqual(results(messages), ["done", "done", "done", "done"])
    assert.deepEqual(results(requests.at(-1)!.messages), ["[cleared]", "[cleared]", "[cleared]", "done"])
  })
})
