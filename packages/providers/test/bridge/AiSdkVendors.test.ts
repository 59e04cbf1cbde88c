/**
 * The native endpoints of Anthropic and Gemini, through the packages of the AI SDK, on a server of the loopback
 * interface that speaks as these vendors document it.
 */
import { createAnthropic } from "@ai-sdk/anthropic"
import { createGoogleGenerativeAI } from "@ai-sdk/google"
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import type { Json, JsonObject } from "@belay/core/Json"
import type { LlmProvider } from "@belay/core/LlmProvider"
import { user } from "@belay/core/Message"
import * as AiSdk from "@belay/providers/AiSdk"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { once } from "node:events"
import { createServer } from "node:http"
import { assert, describe, it } from "vitest"

/** Reads a part of JSON; a negative number counts from the end of a list. */
const read = (value: unknown, ...path: ReadonlyArray<string | number>): unknown =>
  path.reduce<unknown>(
    (part, key) => Array.isArray(part) && typeof key === "number" ? part.at(key) : Reflect.get(Object(part), key),
    value
  )

/** A server that answers with these bodies in turn, and keeps what it received. */
const vendor = async (...bodies: ReadonlyArray<JsonObject | ReadonlyArray<JsonObject>>) => {
  const received: Array<{ readonly path: string; readonly headers: unknown; readonly body: unknown }> = []
  const server = createServer((request, response) => {
    let text = ""
    request.on("data", (part) => text += String(part))
    request.on("end", () => {
      const body = bodies[received.length]
      received.push({ path: request.url!, headers: request.headers, body: JSON.parse(text) })
      const isStream = Array.isArray(body)
      response.setHeader("content-type", isStream ? "text/event-stream" : "application/json")
      const events = (list: ReadonlyArray<JsonObject>) =>
        list.map((event) =>
          `${typeof event["type"] === "string" ? `event: ${event["type"]}\n` : ""}data: ${JSON.stringify(event)}\n\n`
        ).join("")
      response.end(isStream ? events(body as ReadonlyArray<JsonObject>) : JSON.stringify(body))
    })
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as { readonly port: number }
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, "close")
    }
  }
}

const add = defineTool({
  name: "add",
  description: "Adds two numbers",
  input: Schema.Struct({ a: Schema.Finite, b: Schema.Finite }),
  execute: ({ a, b }) => a + b
})

/** Runs one turn, streamed or not, and returns the result. */
const turn = async (provider: LlmProvider, parameters: object, streamed: boolean) => {
  await using agent = createAgent({ provider, tools: [add], instructions: "Be short.", parameters })
  if (!streamed) return await agent.run("2 + 3?")
  const stream = agent.stream("2 + 3?")
  for await (const _event of stream);
  return await stream.result
}

describe("Anthropic", () => {
  const anthropic = (url: string): LlmProvider =>
    AiSdk.fromLanguageModel(createAnthropic({ apiKey: "not-a-real-key", baseURL: `${url}/v1` })("claude-opus-4-5"))
  const base = { id: "msg_1", type: "message", role: "assistant", model: "claude-opus-4-5", stop_sequence: null }
  const usage = {
    input_tokens: 10,
    cache_creation_input_tokens: 40,
    cache_read_input_tokens: 200,
    output_tokens: 20
  }
  const thinking = { type: "thinking", thinking: "Let me add.", signature: "sig-1" }
  const call = { type: "tool_use", id: "toolu_1", name: "add", input: { a: 2, b: 3 } }
  const whole = [
    { ...base, content: [thinking, call], stop_reason: "tool_use", usage },
    { ...base, id: "msg_2", content: [{ type: "text", text: "5" }], stop_reason: "end_turn", usage }
  ]
  /** The same answers as events. */
  const streamed = [
    [
      {
        type: "message_start",
        message: { ...base, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } }
      },
      { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "Let me " } },
      { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "add." } },
      { type: "content_block_delta", index: 0, delta: { type: "signature_delta", signature: "sig-1" } },
      { type: "content_block_stop", index: 0 },
      {
        type: "content_block_start",
        index: 1,
        content_block: { type: "tool_use", id: "toolu_1", name: "add", input: {} }
      },
      { type: "content_block_delta", index: 1, delta: { type: "input_json_delta", partial_json: "{\"a\":2," } },
      { type: "content_block_delta", index: 1, delta: { type: "input_json_delta", partial_json: "\"b\":3}" } },
      { type: "content_block_stop", index: 1 },
      { type: "message_delta", delta: { stop_reason: "tool_use", stop_sequence: null }, usage: { output_tokens: 20 } },
      { type: "message_stop" }
    ],
    [
      { type: "message_start", message: { ...base, id: "msg_2", content: [], stop_reason: null, usage } },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "5" } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 20 } },
      { type: "message_stop" }
    ]
  ] as ReadonlyArray<ReadonlyArray<JsonObject>>

  it.each([false, true])("calls a tool and gets its thinking and signature back (streamed: %s)", async (isStream) => {
    await using server = await vendor(...isStream ? streamed : whole as ReadonlyArray<JsonObject>)
    const result = await turn(anthropic(server.url), { reasoningEffort: "high" }, isStream)
    assert.strictEqual(result.text, "5")
    assert.strictEqual(result.usage.cachedTokens, 400)
    assert.strictEqual(result.usage.cacheWriteTokens, 80)
    assert.strictEqual(result.usage.outputTokens, 40)
    const [first, second] = server.received
    assert.isObject(read(first, "body", "thinking"))
    assert.deepEqual(read(second, "body", "messages", 1, "content"), [
      thinking,
      { type: "tool_use", id: "toolu_1", name: "add", input: { a: 2, b: 3 } }
    ])
    assert.strictEqual(read(second, "body", "messages", 2, "content", 0, "tool_use_id"), "toolu_1")
  })

  it("caches the instructions, the tools and the conversation if it is asked to", async () => {
    for (const [promptCache, control] of [[true, { type: "ephemeral" }], ["1h", { type: "ephemeral", ttl: "1h" }]]) {
      await using server = await vendor(...whole as ReadonlyArray<JsonObject>)
      await turn(anthropic(server.url), { promptCache }, false)
      const { body } = server.received[1]!
      assert.deepEqual(read(body, "system", -1, "cache_control"), control)
      assert.deepEqual(read(body, "messages", -1, "content", -1, "cache_control"), control)
      const marks = JSON.stringify(body).split("\"cache_control\"").length - 1
      assert.isAtMost(marks, 4)
    }
    await using server = await vendor(...whole as ReadonlyArray<JsonObject>)
    await turn(anthropic(server.url), {}, false)
    assert.notInclude(JSON.stringify(server.received), "cache_control")
  })
})

describe("Gemini", () => {
  const gemini = (url: string): LlmProvider =>
    AiSdk.fromLanguageModel(
      createGoogleGenerativeAI({ apiKey: "not-a-real-key", baseURL: `${url}/v1beta` })("gemini-3-pro-preview")
    )
  const usageMetadata = {
    promptTokenCount: 100,
    cachedContentTokenCount: 60,
    candidatesTokenCount: 5,
    thoughtsTokenCount: 30,
    totalTokenCount: 135
  }
  const answer = (parts: Json, finishReason = "STOP"): JsonObject => ({
    candidates: [{ content: { role: "model", parts }, finishReason, index: 0 }],
    usageMetadata,
    modelVersion: "gemini-3-pro-preview",
    responseId: "r1"
  })
  const call = {
    functionCall: { id: "c1", name: "add", args: { a: 2, b: 3 } },
    thoughtSignature: "c2lnbmF0dXJl"
  }
  const answers = [answer([{ text: "Let me add.", thought: true }, call]), answer([{ text: "5" }])]

  it.each([false, true])("calls a tool and gets its thought signature back (streamed: %s)", async (isStream) => {
    await using server = await vendor(...isStream ? answers.map((one) => [one]) : answers)
    const result = await turn(gemini(server.url), {}, isStream)
    assert.strictEqual(result.text, "5")
    assert.strictEqual(result.usage.cachedTokens, 120)
    assert.strictEqual(result.usage.reasoningTokens, 60)
    const contents = read(server.received[1]!.body, "contents") as ReadonlyArray<unknown>
    const parts = contents.flatMap((content) => read(content, "parts") as ReadonlyArray<JsonObject>)
    const sent = parts.find((part) => part["functionCall"] !== undefined)
    assert.strictEqual(read(sent, "thoughtSignature"), "c2lnbmF0dXJl")
    assert.strictEqual(read(sent, "functionCall", "name"), "add")
    assert.deepEqual(read(sent, "functionCall", "args"), { a: 2, b: 3 })
    const reply = parts.find((part) => part["functionResponse"] !== undefined)
    assert.strictEqual(read(reply, "functionResponse", "name"), "add")
  })

  it("asks again after a call that the model wrote wrongly", async () => {
    const broken = { ...answer([]), candidates: [{ finishReason: "MALFORMED_FUNCTION_CALL", index: 0 }] }
    await using server = await vendor(broken, answers[1]!)
    assert.strictEqual((await turn(gemini(server.url), {}, false)).text, "5")
    assert.lengthOf(server.received, 2)
  })

  it.each([false, true])("reports an empty answer as an error (streamed: %s)", async (isStream) => {
    await using server = await vendor(isStream ? [{}] : {})
    const { complete, stream } = gemini(server.url)
    const request = { messages: [user("hi")], tools: [], parameters: {} }
    const asked = isStream ? stream!(request, () => {}) : complete(request)
    assert.deepInclude(await Effect.runPromise(Effect.flip(asked)), { _tag: "Malformed" })
  })

  it("reports a blocked answer as an error", async () => {
    const blocked = { ...answer([]), candidates: [{ finishReason: "SAFETY", index: 0 }] }
    await using server = await vendor(blocked)
    const result = await turn(gemini(server.url), {}, false).catch((error: unknown) => error)
    assert.deepInclude(result, { _tag: "ContentFiltered" })
    assert.match(String(result), /the model stopped: SAFETY/)
  })
})
