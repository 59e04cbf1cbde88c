/** Session files that somebody has changed. */
import type { Message } from "@belay/core/Message"
import * as SessionFile from "@belay/providers/SessionFile"
import * as Effect from "effect/Effect"
import { assert, describe, it } from "vitest"

const call = (id: string): ReadonlyArray<Message> => [
  { role: "assistant", content: "", toolCalls: [{ id, name: "look", args: {} }] },
  { role: "tool", toolCallId: id, toolName: "look", content: "seen" }
]

const fileOf = (messages: ReadonlyArray<Message>, more: ReadonlyArray<object> = [], count = messages.length) => {
  const state = {
    version: 3,
    sessionId: "s",
    revision: 1,
    turnNumber: 1,
    stepNumber: 1,
    coreType: "tool-loop",
    input: { message: "hi" },
    phase: "ended",
    calls: [],
    injections: [],
    usage: { inputTokens: 0, outputTokens: 0 },
    counts: { llmCalls: 0, toolCalls: 0, followUps: 0, elapsedMs: 0 },
    hookState: {}
  }
  const header = {
    type: "session",
    version: 1,
    sessionId: "s",
    revision: 1,
    turnNumber: 1,
    coreType: "tool-loop",
    messages: count
  }
  const lines = [header, ...messages.map((message) => ({ type: "message", message })), ...more, {
    type: "state",
    state
  }]
  return { whole: `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`, torn: lines.slice(0, -1) }
}

const read = (text: string) =>
  Effect.runPromise(Effect.match(SessionFile.importJsonl(text), {
    onSuccess: ({ state, torn }) => ({ messages: state.messages.length, torn }),
    onFailure: ({ message, problem }) => ({ problem, message })
  }))

const hi: Message = { role: "user", content: "hi" }

describe("a session file", () => {
  it("with two calls of the same id is refused, and a torn one is kept up to the second of them", async () => {
    const messages = [hi, ...call("a"), ...call("b"), ...call("a")]
    const { torn, whole } = fileOf(messages)
    assert.deepInclude(await read(whole), { problem: "corrupt" })
    const text = `${torn.map((line) => JSON.stringify(line)).join("\n")}\n`
    assert.deepInclude(await read(text), { messages: 5 })
    assert.deepInclude(await read(fileOf([hi, ...call("a"), ...call("b")]).whole), { messages: 5 })
  })

  it("with more or fewer messages than its header says is refused", async () => {
    const messages = [hi, ...call("a")]
    assert.deepInclude(await read(fileOf(messages).whole), { messages: 3 })
    for (const count of [0, 2, 4]) {
      const found = await read(fileOf(messages, [], count).whole)
      assert.deepInclude(found, { problem: "corrupt" })
      assert.match(String(Object(found).message), new RegExp(`follows 3 messages, there were ${count}`))
    }
  })

  it("with a message after its records, or anything after its state, is refused", async () => {
    const more = [{ type: "record", record: {} }, { type: "message", message: hi }]
    assert.match(String(Object(await read(fileOf([hi], more, 2).whole)).message), /is a message after the records/)
    const { whole } = fileOf([hi])
    const after = `${whole}${JSON.stringify({ type: "message", message: hi })}\n`
    assert.match(String(Object(await read(after)).message), /follows the state/)
  })
})
