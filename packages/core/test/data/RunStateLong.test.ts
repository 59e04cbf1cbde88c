import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { Message } from "../../src/data/Message.ts"
import * as RunState from "../../src/data/RunState.ts"

const messages = Array.from(
  { length: 1_203 },
  (_, index): Message =>
    index % 2 === 0
      ? { role: "user", content: `question ${index}` }
      : {
        role: "assistant",
        content: `answer ${index}`,
        toolCalls: [{ id: `c${index}`, name: "a", args: { at: index } }]
      }
)
const state: RunState.RunState = {
  version: 3,
  sessionId: "session-1",
  revision: 7,
  turnNumber: 1,
  stepNumber: 1,
  coreType: "tool-loop",
  input: { message: "deploy" },
  phase: "ended",
  messages,
  calls: [],
  injections: [],
  usage: { inputTokens: 1, outputTokens: 2 },
  counts: { llmCalls: 1, toolCalls: 0, followUps: 0, elapsedMs: 5 },
  hookState: {}
}

const withMessage = (index: number, message: unknown): object => ({
  ...state,
  messages: messages.map((one, at) => at === index ? message : one)
})

describe("a run state with many messages", () => {
  it.effect("is unchanged after encoding and decoding", () =>
    Effect.gen(function*() {
      const text = RunState.encode(state)
      const decoded = yield* RunState.decode(text)
      assert.strictEqual(RunState.encode(decoded), text)
      assert.deepStrictEqual(Object.keys(decoded), Object.keys(yield* RunState.decode({ ...state, messages: [] })))
    }))

  it.effect("lets others work while it is decoded", () =>
    Effect.gen(function*() {
      let turns = 0
      let isDone = false
      const count = () => {
        turns++
        if (!isDone) setImmediate(count)
      }
      setImmediate(count)
      yield* RunState.decode(state)
      isDone = true
      assert.isAtLeast(turns, 2)
    }))

  it.effect("is refused with the place of a wrong message", () =>
    Effect.gen(function*() {
      for (const index of [0, 499, 500, 1_202]) {
        const error = yield* Effect.flip(RunState.decode(withMessage(index, { role: "nobody" })))
        assert.strictEqual(error.problem, "not-a-snapshot")
        assert.include(error.message, String(index))
      }
    }))

  it.effect("is refused if a message is nested too deeply, like one with few messages", () =>
    Effect.gen(function*() {
      const nested = (depth: number): Message => ({
        role: "tool",
        toolCallId: "c1",
        toolName: "a",
        content: JSON.parse(`${"[".repeat(depth)}${"]".repeat(depth)}`) as never
      })
      for (const depth of [10, 63, 64, 65, 120, 121, 122, 123, 124, 125, 126, 127, 128, 140]) {
        const isShortRefused = yield* Effect.match(RunState.decode({ ...state, messages: [nested(depth)] }), {
          onFailure: () => true,
          onSuccess: () => false
        })
        const isLongRefused = yield* Effect.match(RunState.decode(withMessage(700, nested(depth))), {
          onFailure: () => true,
          onSuccess: () => false
        })
        assert.strictEqual(isLongRefused, isShortRefused, `${depth} levels`)
      }
    }))

  it.effect("is refused if its list of messages is not a list of values", () =>
    Effect.gen(function*() {
      const sparse = Array.from({ length: 2_000 })
      assert.strictEqual(
        (yield* Effect.flip(RunState.decode({ ...state, messages: sparse }))).problem,
        "not-a-snapshot"
      )
    }))
})
