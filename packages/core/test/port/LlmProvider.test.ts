/** Providers from async functions. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { createAgent } from "../../src/agent/createAgent.ts"
import type { LlmDelta, LlmRequest } from "../../src/data/LlmCall.ts"
import * as ProviderError from "../../src/data/ProviderError.ts"
import { fromPromise, type LlmProvider, type PromiseProvider } from "../../src/port/LlmProvider.ts"
import { within } from "../support/agent.ts"

const request: LlmRequest = { messages: [{ role: "user", content: "hello" }], tools: [], parameters: {} }

/** A provider of a generator, with all deltas that it streams. */
const streaming = (stream: NonNullable<PromiseProvider["stream"]>) => {
  const provider = fromPromise({ name: "own", model: "m", stream })
  const deltas: Array<LlmDelta> = []
  const run = () => Effect.runPromise(provider.stream!(request, (delta) => void deltas.push(delta)))
  const fail = () => Effect.runPromise(Effect.flip(provider.stream!(request, (delta) => void deltas.push(delta))))
  return { provider, deltas, run, fail }
}

describe("a provider of async functions that streams", () => {
  it("passes the pieces on in order, and makes the response from them", async () => {
    const { deltas, run } = streaming(async function*() {
      yield { type: "reasoning", text: "hm" }
      yield "one "
      yield { type: "text", text: "two" }
    })
    assert.deepStrictEqual(await run(), {
      model: "m",
      text: "one two",
      toolCalls: [],
      finishReason: "stop",
      reasoning: "hm"
    })
    assert.deepStrictEqual(deltas, [
      { type: "reasoning", text: "hm" },
      { type: "text", text: "one " },
      { type: "text", text: "two" }
    ])
  })

  it("uses what the generator returns: usage, tool calls, another model", async () => {
    const toolCalls = [{ id: "a", name: "look", args: {} }]
    const usage = { inputTokens: 1, outputTokens: 2 }
    const { run } = streaming(async function*() {
      yield { type: "tool-call", id: "a", name: "look", argsText: "{}" }
      return { toolCalls, usage, model: "other" }
    })
    assert.deepStrictEqual(await run(), { model: "other", text: "", toolCalls, finishReason: "tool-calls", usage })
  })

  it("can be called without a reader, and then answers the same", async () => {
    const { provider } = streaming(async function*() {
      yield "one"
    })
    assert.strictEqual((await Effect.runPromise(provider.complete(request))).text, "one")
    const both = fromPromise({
      name: "both",
      complete: async () => ({ model: "m", text: "whole", toolCalls: [], finishReason: "stop" }),
      stream: async function*() {
        yield "streamed"
      }
    })
    assert.strictEqual((await Effect.runPromise(both.complete(request))).text, "whole")
    assert.isUndefined(fromPromise({ name: "c", complete: both.complete as never }).stream)
  })

  it("answers with the model that was asked for if a whole response names none", async () => {
    const whole = fromPromise({
      name: "own",
      model: "m",
      complete: async () => ({ text: "whole", toolCalls: [], finishReason: "stop" })
    })
    assert.strictEqual((await Effect.runPromise(whole.complete(request))).model, "m")
    assert.strictEqual((await Effect.runPromise(whole.complete({ ...request, model: "other" }))).model, "other")
  })

  it("does not read the next piece while the reader is busy", async () => {
    const order: Array<string> = []
    const { provider } = streaming(async function*() {
      for (const piece of ["a", "b"]) {
        order.push(`made ${piece}`)
        yield piece
      }
    })
    const sink = async (delta: LlmDelta) => {
      await new Promise((resolve) => setImmediate(resolve))
      order.push(`took ${"text" in delta ? delta.text : ""}`)
    }
    await Effect.runPromise(provider.stream!(request, sink))
    assert.deepStrictEqual(order, ["made a", "took a", "made b", "took b"])
  })

  it("closes the generator when the call is cancelled, and passes nothing on afterwards", async () => {
    let closed = 0
    let aborted = false
    const { deltas, provider } = streaming(async function*(_request, signal) {
      try {
        yield "one"
        await new Promise((resolve) => signal.addEventListener("abort", resolve))
        aborted = true
        yield "late"
      } finally {
        closed++
      }
    })
    const fiber = Effect.runFork(provider.stream!(request, (delta) => void deltas.push(delta)))
    while (deltas.length === 0) await new Promise((resolve) => setImmediate(resolve))
    await within(Effect.runPromise(Fiber.interrupt(fiber)))
    await new Promise((resolve) => setImmediate(resolve))
    assert.deepStrictEqual([deltas.length, closed, aborted], [1, 1, true])
  })

  it("fails with the error of the generator, and with the text so far", async () => {
    const plain = await streaming(async function*() {
      yield "half"
      throw new Error("socket closed")
    }).fail()
    assert.deepInclude(plain, { _tag: "Connection", provider: "own", message: "socket closed" })
    assert.deepStrictEqual(plain.partial, { text: "half" })
    const typed = new ProviderError.Auth({ provider: "own", message: "no key" })
    const { fail } = streaming(async function*(): AsyncGenerator<string> {
      throw typed
    })
    assert.strictEqual(await fail(), typed)
    const cutOff = await streaming(async function*() {
      yield "half"
      throw new ProviderError.Overloaded({ provider: "own", message: "busy" })
    }).fail()
    assert.deepInclude(cutOff, { _tag: "Overloaded", message: "busy", partial: { text: "half" } })
    const { fail: early } = streaming(() => {
      throw new Error("no server")
    })
    assert.strictEqual((await early()).message, "no server")
  })

  it("fails for a stream that is not an async generator", async () => {
    const streams = [
      function*() {
        yield "a"
      },
      async () => "text",
      () => ["a"]
    ]
    for (const stream of streams) {
      assert.match((await streaming(stream as never).fail()).message, /stream must be an async generator/)
    }
  })

  it("fails for pieces that are none, and for tool calls of which only pieces came", async () => {
    const chunk = streaming(async function*() {
      yield { content: "text" } as never
    })
    assert.match((await chunk.fail()).message, /the stream of own is not an answer: it yielded something else/)
    const calls = streaming(async function*() {
      yield { type: "tool-call", id: "a", name: "look", argsText: "{" }
    })
    assert.match((await calls.fail()).message, /return the whole calls as toolCalls/)
  })

  it("refuses options that it does not know, with a suggestion", () => {
    const options = { name: "own", complete: async () => undefined, steam: async function*() {} }
    assert.throws(() => fromPromise(options as never), /fromPromise.*steam.*stream/)
    assert.throws(() => fromPromise({ complete: options.complete } as never), /fromPromise.*name/)
    assert.throws(() => fromPromise({ name: "own" } as never), /give complete, stream, or both/)
  })

  it("streams in an agent", async () => {
    const provider: LlmProvider = fromPromise({
      name: "own",
      costOf: () => 0.5,
      stream: async function*({ messages }) {
        yield `${messages.length} `
        yield "message"
        return { usage: { inputTokens: 1, outputTokens: 1 } }
      }
    })
    await using agent = createAgent({ provider })
    const stream = agent.stream("hello")
    const texts: Array<string> = []
    for await (const event of stream) if (event.type === "text-delta") texts.push(event.text)
    const { cost, text } = await stream.result
    assert.deepStrictEqual(texts, ["1 ", "message"])
    assert.strictEqual(text, "1 message")
    assert.strictEqual(cost.usd, 0.5)
  })
})
