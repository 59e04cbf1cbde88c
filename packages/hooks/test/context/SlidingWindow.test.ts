import { createAgent } from "@belay/core/createAgent"
import type { LlmRequest } from "@belay/core/LlmCall"
import type { Message } from "@belay/core/Message"
import { whyInvalid } from "@belay/core/Message"
import * as SlidingWindow from "@belay/hooks/SlidingWindow"
import { dryRun } from "@belay/testing/TestHook"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { calls, recording, scripted } from "../../../../test/support/agent.ts"
import { step, transcripts } from "../support/transcripts.ts"

/** The messages of the request that the model gets. */
const sent = (messages: ReadonlyArray<Message>, options?: SlidingWindow.Options) =>
  Effect.map(
    Effect.promise(() => dryRun([SlidingWindow.make(options)], "preLlmCall", { messages })),
    // The event of this point is the request.
    ({ event }) => (event as LlmRequest).messages
  )

const user = (content: string, more: object = {}): Message => ({ role: "user", content, ...more })

describe("SlidingWindow", () => {
  const talk = Array.from(
    { length: 30 },
    (_, n) => [user(`question ${n}`), { role: "assistant", content: `answer ${n}` } as const]
  ).flat()

  it.effect("sends the first and the last messages, or a short conversation as it is", () =>
    Effect.gen(function*() {
      assert.deepEqual(yield* sent(talk, { first: 2, last: 4 }), [...talk.slice(0, 2), ...talk.slice(-4)])
      assert.lengthOf(yield* sent(talk), 40)
      assert.lengthOf(yield* sent(talk.slice(0, 40)), 40)
      assert.deepEqual(yield* sent([]), [])
    }))

  it.effect("always sends pinned messages, the last message of a person, and the last step", () =>
    Effect.gen(function*() {
      const messages = [
        user("a"),
        user("pin", { pinned: true, source: "x" }),
        user("the task"),
        user("note", { source: "x" }),
        ...step("a", 2),
        ...step("b", 2)
      ]
      const kept = yield* sent(messages, { last: 1 })
      assert.deepEqual(kept, [messages[1]!, messages[2]!, ...step("b", 2)])
    }))

  it.effect("limits the tokens as far as messages can be dropped", () =>
    Effect.gen(function*() {
      const messages = [user("task"), ...Array.from({ length: 20 }, (_, n) => step(`s${n}`, 1, "x".repeat(400))).flat()]
      const kept = yield* sent(messages, { last: 1_000, tokens: 500 })
      assert.isBelow(JSON.stringify(kept).length, JSON.stringify(messages).length / 4)
      assert.deepEqual(kept.slice(-2), messages.slice(-2))
      assert.deepEqual(yield* sent(messages, { last: 1_000, tokens: 1 }), [messages[0]!, ...messages.slice(-2)])
    }))

  const small = Schema.Literals([0, 1, 2, 3, 5, 8])
  it.effect.prop(
    "sends a valid part of any valid conversation, in order",
    [transcripts, small, small],
    ([messages, first, last]) =>
      Effect.gen(function*() {
        const kept = yield* sent(messages, { first, last: last + 1, ...(last === 0 ? { tokens: 30 } : {}) })
        const indexes = kept.map((message) => messages.indexOf(message))
        return whyInvalid(messages) === undefined && whyInvalid(kept) === undefined &&
          indexes.every((index, at) => index >= 0 && (at === 0 || index > indexes[at - 1]!)) &&
          messages.every((message) =>
            !(message.role === "user" && message.pinned === true) || kept.includes(message)
          ) &&
          (messages.length === 0 || kept.at(-1) === messages.at(-1))
      }),
    { arbitrary: { runs: 300 } }
  )

  it("rejects options that are not whole numbers", () => {
    for (const options of [{ first: -1 }, { last: 0 }, { last: 1.5 }, { tokens: Number.NaN }]) {
      assert.throws(() => SlidingWindow.make(options), new RegExp(`sliding-window.${Object.keys(options)[0]}`))
    }
  })

  it("does not change the conversation of an agent", async () => {
    const { tools } = recording()
    const { provider, requests } = scripted(
      Array.from({ length: 6 }, (_, n) => calls(["bash", { command: `ls ${n}` }]))
    )
    await using agent = createAgent({ provider, tools, hooks: [SlidingWindow.make({ last: 4 })] })
    const { messages } = await agent.run("the task")
    assert.lengthOf(messages, 14)
    assert.deepEqual(requests.map((asked) => asked.messages.length), [1, 3, 5, 5, 5, 5, 5])
    assert.isTrue(
      requests.every((asked) => asked.messages[0]?.content === "the task" && whyInvalid(asked.messages) === undefined)
    )
  })

  it("sends a part to a model that streams, too", async () => {
    const { provider, requests } = scripted([])
    const streaming = { ...provider, stream: (asked: LlmRequest) => provider.complete(asked) }
    await using agent = createAgent({ provider: streaming, hooks: [SlidingWindow.make({ last: 2 })] })
    await using session = await agent.session()
    for (const question of ["a", "b", "c"]) await session.stream(question).result
    assert.deepEqual(requests.map((asked) => asked.messages.length), [1, 2, 2])
    assert.lengthOf(session.messages, 6)
  })
})
