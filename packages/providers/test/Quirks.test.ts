import type { Json, JsonObject } from "@belay/core/Json"
import type { LlmResponse } from "@belay/core/LlmCall"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { failure, readFile, request, scripted, stream, success, textOf } from "./support.ts"

type Chunk = JsonObject | string

const chunk = (delta: JsonObject, more: JsonObject = {}, outer: JsonObject = {}): JsonObject => ({
  id: "c",
  object: "chat.completion.chunk",
  model: "m-1",
  choices: [{ index: 0, delta, finish_reason: null, ...more }],
  ...outer
})
const finish = (reason: Json, outer: JsonObject = {}): JsonObject => chunk({}, { finish_reason: reason }, outer)
const calls = (...pieces: ReadonlyArray<JsonObject>): JsonObject => chunk({ tool_calls: pieces })
const call = (args: Json, more: JsonObject = {}, name: Json = "read_file"): JsonObject => ({
  index: 0,
  id: "call_a",
  type: "function",
  function: { name, arguments: args },
  ...more
})
const sse = (chunks: ReadonlyArray<Chunk>, done = true): string =>
  chunks.map((one) => typeof one === "string" ? one : `data: ${JSON.stringify(one)}\n\n`).join("") + (done ? "data: [DONE]\n\n" : "")
const completion = (message: JsonObject, reason: Json = "stop", outer: JsonObject = {}): JsonObject => ({
  id: "c",
  object: "chat.completion",
  model: "m-1",
  choices: [{ index: 0, message: { role: "assistant", content: null, ...message }, finish_reason: reason }],
  ...outer
})

const pathCall = [{ id: "call_a", name: "read_file", args: { path: "a" } }]
const pathArgs = `{"path":"a"}`
const usage = { prompt_tokens: 10, completion_tokens: 3, total_tokens: 13 }
const counted = { inputTokens: 10, outputTokens: 3, billableOutputTokens: 3 }

interface Case {
  readonly chunks?: ReadonlyArray<Chunk>
  readonly done?: boolean
  readonly body?: JsonObject
  readonly expect: Partial<LlmResponse>
}

const check = (expected: Partial<LlmResponse>, response: LlmResponse) => {
  for (const [key, value] of Object.entries(expected)) assert.deepStrictEqual(Reflect.get(response, key), value, key)
}

const cases: Record<string, Record<string, Case>> = {
  "a tool call": {
    "comes without index and type (Mistral)": {
      chunks: [
        calls({ id: "call_a", function: { name: "read_file", arguments: `{"pa` } }),
        calls({ id: "call_a", function: { name: "", arguments: `th":"a"}` } }),
        finish("tool_calls")
      ],
      expect: { toolCalls: pathCall, finishReason: "tool-calls" }
    },
    "comes without index and without id after its first piece": {
      chunks: [
        calls({ id: "call_a", function: { name: "read_file", arguments: `{"pa` } }),
        calls({ function: { arguments: `th":"a"}` } }),
        finish("tool_calls")
      ],
      expect: { toolCalls: pathCall }
    },
    "has 1 as its first index (Anthropic gateways)": {
      chunks: [
        calls({ ...call(""), index: 1 }),
        calls({ index: 1, function: { arguments: "" } }),
        calls({ index: 1, function: { arguments: pathArgs } }),
        finish("tool_calls")
      ],
      expect: { toolCalls: pathCall }
    },
    "shares its index with another id": {
      chunks: [calls(call(pathArgs)), calls(call(`{"path":"b"}`, { id: "call_b" })), finish("tool_calls")],
      expect: { toolCalls: [...pathCall, { id: "call_b", name: "read_file", args: { path: "b" } }] }
    },
    "shares its index with another that has no id (Gemini)": {
      chunks: [calls(call(pathArgs, { id: "" })), calls(call(`{"path":"b"}`, { id: "" })), finish("stop")],
      body: completion({ tool_calls: [call(pathArgs, { id: "" }), call(`{"path":"b"}`, { id: "" })] }),
      expect: { finishReason: "tool-calls" }
    },
    "has an empty id in later pieces (Alibaba)": {
      chunks: [
        calls(call("")),
        calls({ index: 0, id: "", function: { arguments: pathArgs } }),
        calls({ index: 0, id: "", function: { arguments: "" } }),
        finish("tool_calls")
      ],
      expect: { toolCalls: pathCall }
    },
    "repeats id and name in every piece and has no finish reason (Kimi)": {
      chunks: [calls(call(`{"pa`)), calls(call(`th":`)), calls(call(`"a"}`)), chunk({ content: "" }, {}, { usage })],
      expect: { toolCalls: pathCall, finishReason: "tool-calls", usage: counted }
    },
    "has its name after the arguments": {
      chunks: [
        calls({ index: 0, id: "call_a", function: { arguments: `{"pa` } }),
        calls({ index: 0, function: { name: "read_file", arguments: `th":"a"}` } }),
        finish("tool_calls")
      ],
      expect: { toolCalls: pathCall }
    },
    "has null as arguments": {
      chunks: [calls(call(null)), finish("tool_calls")],
      body: completion({ tool_calls: [call(null)] }, "tool_calls"),
      expect: { toolCalls: [{ id: "call_a", name: "read_file", args: {} }] }
    },
    "has no arguments key (OpenRouter)": {
      chunks: [calls({ index: 0, id: "call_a", function: { name: "read_file" } }), finish("tool_calls")],
      body: completion({ tool_calls: [{ id: "call_a", function: { name: "read_file" } }] }, "tool_calls"),
      expect: { toolCalls: [{ id: "call_a", name: "read_file", args: {} }] }
    },
    "has an object as arguments": {
      chunks: [calls(call({ path: "a" })), finish("tool_calls")],
      body: completion({ tool_calls: [call({ path: "a" })] }, "tool_calls"),
      expect: { toolCalls: pathCall }
    },
    "begins with an empty object": {
      chunks: [calls(call("{}")), calls({ index: 0, function: { arguments: pathArgs } }), finish("tool_calls")],
      body: completion({ tool_calls: [call(`{}${pathArgs}`)] }, "tool_calls"),
      expect: { toolCalls: pathCall }
    },
    "comes letter by letter (llama.cpp)": {
      chunks: [
        chunk({ role: "assistant", content: null }),
        calls(call("")),
        ...Array.from(pathArgs, (letter) => calls({ index: 0, function: { arguments: letter } })),
        finish("tool_calls")
      ],
      expect: { toolCalls: pathCall }
    },
    "comes whole in one chunk (Ollama)": {
      chunks: [chunk({ role: "assistant", content: "", reasoning: "hm", tool_calls: [call(pathArgs)] }), finish("tool_calls")],
      expect: { toolCalls: pathCall, reasoning: "hm" }
    },
    "is interleaved with another": {
      chunks: [
        calls(call(`{"pa`), call(`{"pa`, { index: 1, id: "call_b" })),
        calls({ index: 1, function: { arguments: `th":"b"}` } }),
        calls({ index: 0, function: { arguments: `th":"a"}` } }),
        finish("tool_calls")
      ],
      expect: { toolCalls: [...pathCall, { id: "call_b", name: "read_file", args: { path: "b" } }] }
    },
    "comes with stop as finish reason": {
      chunks: [calls(call(pathArgs)), finish("stop")],
      body: completion({ tool_calls: [call(pathArgs)] }, "stop"),
      expect: { toolCalls: pathCall, finishReason: "tool-calls" }
    },
    "comes with an empty finish reason (Snowflake)": {
      chunks: [calls(call(pathArgs)), finish("")],
      body: completion({ tool_calls: [call(pathArgs)] }, ""),
      expect: { toolCalls: pathCall, finishReason: "tool-calls" }
    },
    "comes as a legacy function_call": {
      chunks: [
        chunk({ function_call: { name: "read_file", arguments: "" } }),
        chunk({ function_call: { arguments: pathArgs } }),
        finish("function_call")
      ],
      body: completion({ function_call: { name: "read_file", arguments: pathArgs } }, "function_call"),
      expect: { finishReason: "tool-calls" }
    },
    "is nameless and empty (Snowflake)": {
      chunks: [chunk({ content: "hi", function_call: { name: "", arguments: "" } }), finish("stop")],
      body: completion({ content: "hi", function_call: { name: "", arguments: "" } }),
      expect: { text: "hi", toolCalls: [], finishReason: "stop" }
    },
    "carries a thought signature (Gemini)": {
      chunks: [calls(call(pathArgs, { extra_content: { google: { thought_signature: "sig" } } })), finish("tool_calls")],
      body: completion({ tool_calls: [call(pathArgs, { extra_content: { google: { thought_signature: "sig" } } })] }, "tool_calls"),
      expect: {
        toolCalls: [{
          ...pathCall[0] as LlmResponse["toolCalls"][number],
          metadata: { vendor: { extra_content: { google: { thought_signature: "sig" } } } }
        }]
      }
    },
    "has arguments that are nearly JSON": {
      chunks: [calls(call(`{path: 'a',}`)), finish("tool_calls")],
      body: completion({ tool_calls: [call(`{path: 'a',}`)] }, "tool_calls"),
      expect: { toolCalls: [{ id: "call_a", name: "read_file", args: { path: "a" }, malformed: `{path: 'a',}` }] }
    },
    "has arguments that are no JSON at all": {
      chunks: [calls(call("just read it")), finish("tool_calls")],
      body: completion({ tool_calls: [call("just read it")] }, "tool_calls"),
      expect: { toolCalls: [{ id: "call_a", name: "read_file", args: null, malformed: "just read it" }] }
    },
    "list is empty": {
      chunks: [chunk({ content: "hi", tool_calls: [] }), finish("stop")],
      body: completion({ content: "hi", tool_calls: [] }),
      expect: { text: "hi", toolCalls: [], finishReason: "stop" }
    }
  },
  "reasoning": {
    "is in reasoning_content (DeepSeek)": {
      chunks: [chunk({ reasoning_content: "so" }), chunk({ reasoning_content: " so" }), chunk({ content: "hi" }), finish("stop")],
      body: completion({ reasoning_content: "so so", content: "hi" }),
      expect: { reasoning: "so so", text: "hi", metadata: { vendor: { reasoningField: "reasoning_content" } } }
    },
    "is in reasoning, with a channel (Groq)": {
      chunks: [chunk({ reasoning: "so so", channel: "analysis" }), chunk({ content: "hi" }), finish("stop")],
      body: completion({ reasoning: "so so", content: "hi" }),
      expect: { reasoning: "so so", text: "hi" }
    },
    "is in reasoning_text (Copilot)": {
      chunks: [chunk({ reasoning_text: "so so" }), chunk({ content: "hi" }), finish("stop")],
      body: completion({ reasoning_text: "so so", content: "hi" }),
      expect: { reasoning: "so so" }
    },
    "comes twice, as text and as details (OpenRouter)": {
      chunks: [
        chunk({ reasoning: "so", reasoning_details: [{ type: "reasoning.text", text: "so", index: 0 }] }),
        chunk({ reasoning: " so", reasoning_details: [{ type: "reasoning.text", text: " so", signature: "sig", index: 0 }] }),
        chunk({ content: "hi" }),
        finish("stop")
      ],
      body: completion({
        content: "hi",
        reasoning: "so so",
        reasoning_details: [{ type: "reasoning.text", text: "so so", signature: "sig", index: 0 }]
      }),
      expect: {
        reasoning: "so so",
        metadata: {
          vendor: { reasoningField: "reasoning", reasoningDetails: [{ type: "reasoning.text", text: "so so", signature: "sig", index: 0 }] }
        }
      }
    },
    "is only in details (Snowflake)": {
      chunks: [chunk({ reasoning_details: [{ type: "reasoning.text", text: "so so" }] }), chunk({ content: "hi" }), finish("stop")],
      body: completion({ content: "hi", reasoning_details: [{ type: "reasoning.text", text: "so so" }] }),
      expect: { reasoning: "so so" }
    },
    "is a part of the content (Mistral)": {
      chunks: [
        chunk({ content: [{ type: "thinking", thinking: [{ type: "text", text: "so so" }] }] }),
        chunk({ content: [{ type: "text", text: "hi" }] }),
        finish("stop")
      ],
      body: completion({ content: [{ type: "thinking", thinking: [{ type: "text", text: "so so" }] }, { type: "text", text: "hi" }] }),
      expect: { reasoning: "so so", text: "hi", metadata: { vendor: { reasoningField: "content" } } }
    },
    "is between think tags (Qwen on Groq)": {
      chunks: [
        chunk({ content: "<thi" }),
        chunk({ content: "nk>\nso" }),
        chunk({ content: " so</th" }),
        chunk({ content: "ink>\n\n" }),
        chunk({ content: "hi" }),
        finish("stop")
      ],
      body: completion({ content: "<think>\nso so</think>\n\nhi" }),
      expect: { reasoning: "so so", text: "hi" }
    },
    "is between think tags that never close": {
      chunks: [chunk({ content: "<think>so" }), chunk({ content: " so</thi" }), finish("length")],
      body: completion({ content: "<think>so so</thi" }, "length"),
      expect: { reasoning: "so so</thi", text: "", finishReason: "length" }
    },
    "is empty between think tags": {
      chunks: [chunk({ content: "<think>\n\n</think>\n\nhi" }), finish("stop")],
      body: completion({ content: "<think>\n\n</think>\n\nhi" }),
      expect: { text: "hi" }
    },
    "tags in the middle of a text are text": {
      chunks: [chunk({ content: "use " }), chunk({ content: "<think> tags" }), finish("stop")],
      body: completion({ content: "use <think> tags" }),
      expect: { text: "use <think> tags" }
    },
    "tags that only look alike are text": {
      chunks: [chunk({ content: "<th" }), chunk({ content: "ead>" }), finish("stop")],
      body: completion({ content: "<thead>" }),
      expect: { text: "<thead>" }
    }
  },
  "the message": {
    "has content null first": {
      chunks: [chunk({ role: "assistant", content: null }), chunk({ content: "hi" }), finish("stop")],
      expect: { text: "hi" }
    },
    "has no role, or an empty one": {
      chunks: [chunk({ role: null, content: "h" }), chunk({ role: "", content: "i" }), finish("stop")],
      body: { ...completion({ role: "", content: "hi" }) },
      expect: { text: "hi" }
    },
    "is a refusal": {
      chunks: [chunk({ refusal: "I can" }), chunk({ refusal: "not" }), finish("stop")],
      body: completion({ refusal: "I cannot" }),
      expect: { refusal: "I cannot", text: "", finishReason: "stop" }
    },
    "is missing when the filter struck (Azure 2024)": {
      body: { model: "m-1", choices: [{ index: 0, finish_reason: "content_filter", content_filter_results: {} }] },
      chunks: [{ choices: [], prompt_filter_results: [], model: "" }, finish("content_filter")],
      expect: { text: "", finishReason: "content-filter" }
    },
    "stands beside the delta (Perplexity)": {
      chunks: [
        chunk({ content: "h" }, { message: { content: "h" } }),
        chunk({ content: "i" }, { message: { content: "hi" } }),
        finish("stop", { usage })
      ],
      done: false,
      expect: { text: "hi", usage: counted }
    },
    "has its text twice (Together)": {
      chunks: [
        chunk({ content: "h" }, { text: "h" }),
        chunk({ content: "i" }, { text: "i" }),
        chunk({}, { finish_reason: "eos", text: "" }),
        finish("eos")
      ],
      expect: { text: "hi", finishReason: "stop" }
    },
    "comes with keys nobody knows": {
      chunks: [
        chunk({ content: "hi", annotations: [], audio: null, x: { y: 1 } }, { token_ids: [1], stop_reason: 2 }, {
          time_info: {},
          p: "abc"
        }),
        finish("stop")
      ],
      body: completion({ content: "hi", annotations: [], x: 1 }, "stop", { prompt_text: "p", kv_transfer_params: null }),
      expect: { text: "hi" }
    },
    "has a second choice, which is left out": {
      chunks: [chunk({ content: "hi" }), { choices: [{ index: 1, delta: { content: "no" } }] }, chunk({ content: "!" }), finish("stop")],
      expect: { text: "hi!" }
    }
  },
  "usage": {
    "is in a last chunk without choices (OpenAI)": {
      chunks: [chunk({ content: "hi" }), finish("stop"), { choices: [], usage, model: "m-1" }],
      expect: { usage: counted }
    },
    "is in the finish chunk (DeepSeek)": {
      chunks: [chunk({ content: "hi" }), finish("stop", { usage: { ...usage, prompt_cache_hit_tokens: 4 } })],
      body: completion({ content: "hi" }, "stop", { usage: { ...usage, prompt_cache_hit_tokens: 4 } }),
      expect: { usage: { ...counted, cachedTokens: 4 } }
    },
    "is in every chunk, the last one wins": {
      chunks: [
        chunk({ content: "hi" }, {}, { usage: { prompt_tokens: 10, completion_tokens: 1, total_tokens: 11 } }),
        finish("stop", { usage })
      ],
      expect: { usage: counted }
    },
    "is in x_groq": { chunks: [chunk({ content: "hi" }), finish("stop", { x_groq: { id: "r", usage } })], expect: { usage: counted } },
    "is in the choice (Kimi)": {
      chunks: [chunk({ content: "hi" }), chunk({}, { finish_reason: "stop", usage })],
      expect: { usage: counted }
    },
    "is null until it is known": {
      chunks: [chunk({ content: "hi" }, {}, { usage: null }), finish("stop", { usage: null }), { choices: [], usage }],
      expect: { usage: counted }
    },
    "is missing": {
      chunks: [chunk({ content: "hi" }), finish("stop")],
      body: completion({ content: "hi" }),
      expect: { usage: undefined as never }
    },
    "leaves reasoning out (xAI)": {
      chunks: [chunk({ content: "hi" }), finish("stop"), {
        choices: [],
        usage: {
          prompt_tokens: 307,
          completion_tokens: 26,
          total_tokens: 560,
          completion_tokens_details: { reasoning_tokens: 227 },
          cost_in_usd_ticks: 37_756_000
        }
      }],
      body: completion({ content: "hi" }, "stop", {
        usage: {
          prompt_tokens: 307,
          completion_tokens: 26,
          total_tokens: 560,
          completion_tokens_details: { reasoning_tokens: 227 },
          cost_in_usd_ticks: 37_756_000
        }
      }),
      expect: { usage: { inputTokens: 307, outputTokens: 26, billableOutputTokens: 253, reasoningTokens: 227, costUsd: 0.0037756 } }
    },
    "hides thinking in the total (Gemini)": {
      body: completion({ content: "hi" }, "stop", { usage: { prompt_tokens: 35, completion_tokens: 12, total_tokens: 109 } }),
      expect: { usage: { inputTokens: 35, outputTokens: 12, billableOutputTokens: 74 } }
    },
    "has a price (OpenRouter)": {
      body: completion({ content: "hi" }, "stop", { usage: { ...usage, cost: 0.002 } }),
      expect: { usage: { ...counted, costUsd: 0.002 } }
    },
    "has a price in parts (Perplexity)": {
      body: completion({ content: "hi" }, "stop", { usage: { ...usage, cost: { total_cost: 0.006, request_cost: 0.005 } } }),
      expect: { usage: { ...counted, costUsd: 0.006 } }
    },
    "has reasoning at the top (DeepSeek on Azure)": {
      body: completion({ content: "hi" }, "stop", { usage: { ...usage, reasoning_tokens: 2 } }),
      expect: { usage: { ...counted, reasoningTokens: 2 } }
    },
    "is nonsense": {
      body: completion({ content: "hi" }, "stop", { usage: { prompt_tokens: -1, completion_tokens: "many", total_tokens: null } }),
      expect: { usage: undefined as never }
    }
  },
  "the finish reason": {
    "is never set, but [DONE] comes": { chunks: [chunk({ content: "hi" })], expect: { text: "hi", finishReason: "unknown" } },
    "is never set, but usage comes": {
      chunks: [chunk({ content: "hi" }), { choices: [], usage }],
      done: false,
      expect: { text: "hi", finishReason: "unknown" }
    },
    "is null in a plain answer": { body: completion({ content: "hi" }, null), expect: { text: "hi", finishReason: "unknown" } },
    "comes twice": { chunks: [calls(call(pathArgs)), finish("tool_calls"), finish("tool_calls")], expect: { finishReason: "tool-calls" } },
    "key is missing until the end (transformers)": {
      chunks: [{ choices: [{ delta: { content: "hi" } }], model: "m-1" }, {
        choices: [{ delta: {}, finish_reason: "stop" }],
        model: "m-1"
      }],
      done: false,
      expect: { text: "hi", finishReason: "stop" }
    },
    "is one nobody knows": {
      chunks: [chunk({ content: "hi" }), finish("recitation")],
      body: completion({ content: "hi" }, "recitation"),
      expect: { finishReason: "unknown" }
    },
    "says length": {
      chunks: [chunk({ content: "hi" }), finish("length")],
      body: completion({ content: "hi" }, "length"),
      expect: { finishReason: "length" }
    }
  }
}

for (const [subject, group] of Object.entries(cases)) {
  describe(subject, () => {
    for (const [name, { body, chunks, done, expect }] of Object.entries(group)) {
      if (chunks !== undefined) {
        it.live(`${name}, streamed`, () =>
          Effect.gen(function*() {
            const { provider } = yield* scripted([{ chunks: [sse(chunks, done)] }])
            const { deltas, result } = yield* stream(provider)
            const response = success(result)
            check(expect, response)
            assert.strictEqual(textOf(deltas), response.text)
            assert.strictEqual(textOf(deltas, "reasoning"), response.reasoning ?? "")
            assert.strictEqual(response.model, "m-1")
          }))
      }
      if (body !== undefined) {
        it.live(`${name}, plain`, () =>
          Effect.gen(function*() {
            const { provider } = yield* scripted([{ status: 200, body }])
            check(expect, yield* provider.complete(request()))
          }))
      }
    }
  })
}

describe("ids of tool calls", () => {
  it.live("are made up when they are empty, and are unique", () =>
    Effect.gen(function*() {
      const { provider } = yield* scripted([{
        chunks: [sse([calls(call(pathArgs, { id: "" }), call(pathArgs, { index: 1, id: "" })), finish("tool_calls")])]
      }])
      const { deltas, result } = yield* stream(provider)
      const ids = success(result).toolCalls.map(({ id }) => id)
      assert.lengthOf(new Set(ids), 2)
      assert.isTrue(ids.every((id) => /^call_\w+$/.test(id)))
      assert.deepStrictEqual([...new Set(deltas.map((delta) => delta.type === "tool-call" ? delta.id : ""))], ids)
    }))

  it.live("are replaced when the transcript or the answer has them already (Bedrock)", () =>
    Effect.gen(function*() {
      const { provider } = yield* scripted([{
        status: 200,
        body: completion({ tool_calls: [call(pathArgs), call(pathArgs, { index: 1 })] }, "tool_calls")
      }])
      const response = yield* provider.complete(request("go on", {
        tools: [readFile],
        messages: [
          { role: "user", content: "go" },
          { role: "assistant", content: "", toolCalls: [{ id: "call_a", name: "read_file", args: {} }] },
          { role: "tool", toolCallId: "call_a", toolName: "read_file", content: "text" }
        ]
      }))
      assert.lengthOf(new Set(["call_a", ...response.toolCalls.map(({ id }) => id)]), response.toolCalls.length + 1)
    }))
})

describe("the body is believed, not its headers:", () => {
  it.live("a plain answer to a stream request", () =>
    Effect.gen(function*() {
      const { provider } = yield* scripted([{
        status: 200,
        body: completion({ content: "hi", tool_calls: [call(pathArgs)] }, "tool_calls", { usage })
      }])
      const { deltas, result } = yield* stream(provider)
      check({ text: "hi", toolCalls: pathCall, usage: counted }, success(result))
      assert.strictEqual(textOf(deltas), "hi")
    }))

  it.live("a stream as answer to a plain request", () =>
    Effect.gen(function*() {
      const { provider } = yield* scripted([{ chunks: [sse([chunk({ content: "h" }), chunk({ content: "i" }), finish("stop")])] }])
      check({ text: "hi", finishReason: "stop" }, yield* provider.complete(request()))
    }))

  it.live("a whole answer as the only event", () =>
    Effect.gen(function*() {
      const { provider } = yield* scripted([{ chunks: [sse([completion({ content: "hi" })])] }])
      check({ text: "hi", finishReason: "stop" }, success((yield* stream(provider)).result))
    }))

  it.live("a plain answer after blank lines", () =>
    Effect.gen(function*() {
      const { provider } = yield* scripted([{ chunks: ["\n\n ", "\n", JSON.stringify(completion({ content: "hi" }))] }])
      check({ text: "hi" }, yield* provider.complete(request()))
    }))
})

describe("an error with 200 is an error", () => {
  const bodies: Record<string, readonly [Chunk, string]> = {
    "as an event called error (Groq)": [
      `event: error\ndata: {"error":{"message":"over capacity","type":"internal_server_error"},"status_code":503}\n\n`,
      "Overloaded"
    ],
    "as a chunk with an error (OpenRouter)": [{ error: { code: 502, message: "Provider disconnected" } }, "ServerError"],
    "beside choices (OpenRouter)": [
      chunk({ content: "" }, { finish_reason: "error" }, {
        error: { code: 429, message: "Provider returned error", metadata: { raw: "try again in 3s" } }
      }),
      "RateLimited"
    ],
    "as an object called error (vLLM)": [{
      object: "error",
      message: "This model's maximum context length is 4096 tokens.",
      type: "BadRequestError",
      code: 400
    }, "ContextOverflow"],
    "as a text": [{ error: "model is loading, server overloaded" }, "Overloaded"],
    "as a finish reason": [chunk({}, { finish_reason: "error" }), "ServerError"],
    "as a finish reason that names the window (Z.ai)": [chunk({}, { finish_reason: "model_context_window_exceeded" }), "ContextOverflow"],
    "as a detail (transformers)": [{ detail: "CUDA out of memory" }, "ServerError"]
  }
  for (const [name, [body, tag]] of Object.entries(bodies)) {
    it.live(name, () =>
      Effect.gen(function*() {
        const { provider } = yield* scripted([{ chunks: [sse([chunk({ content: "partial text" }), body])] }])
        const error = failure((yield* stream(provider)).result)
        assert.strictEqual(error._tag, tag)
        assert.strictEqual(error.partial?.text, "partial text")
        if (error._tag === "RateLimited") assert.strictEqual(error.retryAfterMs, 3000)
      }))
  }

  it.live("in a plain answer", () =>
    Effect.gen(function*() {
      const { provider } = yield* scripted([{ status: 200, body: { error: { message: "Rate limit exceeded", code: 429 } } }, {
        status: 200,
        body: {}
      }, { status: 200, body: { choices: [] } }])
      assert.strictEqual(failure(yield* Effect.result(provider.complete(request())))._tag, "RateLimited")
      assert.match(failure(yield* Effect.result(provider.complete(request()))).message, /no choices/)
      assert.match(failure(yield* Effect.result(provider.complete(request()))).message, /no choices/)
    }))
})
