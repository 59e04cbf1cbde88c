import * as ProviderError from "@belay/core/ProviderError"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { failure, request, scripted, stream, success, textOf } from "../../support/support.ts"
import {
  call,
  calls,
  check,
  type Chunk,
  chunk,
  completion,
  counted,
  finish,
  pathArgs,
  pathCall,
  runTable,
  sse,
  usage
} from "../../support/wire.ts"

runTable({
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
    "ends when the filter strikes (Azure)": {
      chunks: [
        { choices: [], prompt_filter_results: [], model: "" },
        chunk({ content: "hi" }),
        finish("content_filter")
      ],
      expect: { text: "hi", finishReason: "content-filter" }
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
      body: completion({ content: "hi", annotations: [], x: 1 }, "stop", {
        prompt_text: "p",
        kv_transfer_params: null
      }),
      expect: { text: "hi" }
    },
    "has a second choice, which is left out": {
      chunks: [
        chunk({ content: "hi" }),
        { choices: [{ index: 1, delta: { content: "no" } }] },
        chunk({ content: "!" }),
        finish("stop")
      ],
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
    "has cached tokens (Mistral)": {
      chunks: [chunk({ content: "hi" }), finish("stop", { usage: { ...usage, num_cached_tokens: 8 } })],
      body: completion({ content: "hi" }, "stop", { usage: { ...usage, num_cached_tokens: 8 } }),
      expect: { usage: { ...counted, cachedTokens: 8 } }
    },
    "is in every chunk, the last one wins": {
      chunks: [
        chunk({ content: "hi" }, {}, { usage: { prompt_tokens: 10, completion_tokens: 1, total_tokens: 11 } }),
        finish("stop", { usage })
      ],
      expect: { usage: counted }
    },
    "is in x_groq": {
      chunks: [chunk({ content: "hi" }), finish("stop", { x_groq: { id: "r", usage } })],
      expect: { usage: counted }
    },
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
      expect: {
        usage: {
          inputTokens: 307,
          outputTokens: 26,
          billableOutputTokens: 253,
          reasoningTokens: 227,
          costUsd: 0.0037756
        }
      }
    },
    "hides thinking in the total (Gemini)": {
      body: completion({ content: "hi" }, "stop", {
        usage: { prompt_tokens: 35, completion_tokens: 12, total_tokens: 109 }
      }),
      expect: { usage: { inputTokens: 35, outputTokens: 12, billableOutputTokens: 74 } }
    },
    "has a price (OpenRouter)": {
      body: completion({ content: "hi" }, "stop", { usage: { ...usage, cost: 0.002 } }),
      expect: { usage: { ...counted, costUsd: 0.002 } }
    },
    "has a price in parts (Perplexity)": {
      body: completion({ content: "hi" }, "stop", {
        usage: { ...usage, cost: { total_cost: 0.006, request_cost: 0.005 } }
      }),
      expect: { usage: { ...counted, costUsd: 0.006 } }
    },
    "has reasoning at the top (DeepSeek on Azure)": {
      body: completion({ content: "hi" }, "stop", { usage: { ...usage, reasoning_tokens: 2 } }),
      expect: { usage: { ...counted, reasoningTokens: 2 } }
    },
    "is only a total": {
      body: completion({ content: "hi" }, "stop", { usage: { total_tokens: 9 } }),
      expect: { usage: { inputTokens: 9, outputTokens: 0, billableOutputTokens: 0 } }
    },
    "has an output and a total": {
      body: completion({ content: "hi" }, "stop", { usage: { completion_tokens: 2, total_tokens: 9 } }),
      expect: { usage: { inputTokens: 7, outputTokens: 2, billableOutputTokens: 2 } }
    },
    "is nonsense": {
      body: completion({ content: "hi" }, "stop", {
        usage: { prompt_tokens: -1, completion_tokens: "many", total_tokens: null }
      }),
      expect: { usage: undefined as never }
    }
  },
  "the finish reason": {
    "is never set, but [DONE] comes": {
      chunks: [chunk({ content: "hi" })],
      expect: { text: "hi", finishReason: "unknown" }
    },
    "is null in a plain answer": {
      body: completion({ content: "hi" }, null),
      expect: { text: "hi", finishReason: "unknown" }
    },
    "comes twice": {
      chunks: [calls(call(pathArgs)), finish("tool_calls"), finish("tool_calls")],
      expect: { finishReason: "tool-calls" }
    },
    "key is missing until the end (transformers)": {
      chunks: [{ choices: [{ delta: { content: "hi" } }], model: "m-1" }, {
        choices: [{ delta: {}, finish_reason: "stop" }],
        model: "m-1"
      }],
      done: false,
      expect: { text: "hi", finishReason: "stop" }
    },
    "is one nobody knows": {
      chunks: [chunk({ content: "hi" }), finish("something_new")],
      body: completion({ content: "hi" }, "something_new"),
      expect: { finishReason: "unknown" }
    },
    "says length": {
      chunks: [chunk({ content: "hi" }), finish("length")],
      body: completion({ content: "hi" }, "length"),
      expect: { finishReason: "length" }
    }
  }
})

describe("the body counts, not its headers:", () => {
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
      const { provider } = yield* scripted([{
        chunks: [sse([chunk({ content: "h" }), chunk({ content: "i" }), finish("stop")])]
      }])
      check({ text: "hi", finishReason: "stop" }, yield* provider.complete(request()))
    }))

  it.live("a complete answer as the only event", () =>
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
    "as a chunk with an error (OpenRouter)": [
      { error: { code: 502, message: "Provider disconnected" } },
      "ServerError"
    ],
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
    "as a finish reason that names the window (Z.ai)": [
      chunk({}, { finish_reason: "model_context_window_exceeded" }),
      "ContextOverflow"
    ],
    "as a message and a code": [{ message: "Too many requests", code: "1302" }, "RateLimited"],
    "as a detail (transformers)": [{ detail: "CUDA out of memory" }, "ServerError"]
  }
  for (const [name, [body, tag]] of Object.entries(bodies)) {
    it.live(name, () =>
      Effect.gen(function*() {
        const { provider } = yield* scripted([{ chunks: [sse([chunk({ content: "partial text" }), body])] }])
        const error = failure((yield* stream(provider)).result)
        assert.strictEqual(error._tag, tag)
        assert.strictEqual(error.partial?.text, "partial text")
        if (name.includes("beside choices")) assert.strictEqual(ProviderError.retryAfterMs(error), 3000)
      }))
  }

  it.live("in a plain answer", () =>
    Effect.gen(function*() {
      const { provider } = yield* scripted([{
        status: 200,
        body: { error: { message: "Rate limit exceeded", code: 429 } }
      }, {
        status: 200,
        body: {}
      }, { status: 200, body: { choices: [] } }])
      assert.strictEqual(failure(yield* Effect.result(provider.complete(request())))._tag, "RateLimited")
      assert.match(failure(yield* Effect.result(provider.complete(request()))).message, /no choices/)
      assert.match(failure(yield* Effect.result(provider.complete(request()))).message, /no choices/)
    }))
})
