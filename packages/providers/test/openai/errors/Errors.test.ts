import type { JsonObject } from "@belay/core/Json"
import * as ProviderError from "@belay/core/ProviderError"
import * as OpenAiCompatible from "@belay/providers/OpenAiCompatible"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { failure, request, scripted, stream } from "../../support/support.ts"

interface Row {
  readonly status: number
  readonly body: string | JsonObject
  readonly headers?: Record<string, string>
  readonly tag: ProviderError.ProviderError["_tag"]
  readonly says?: RegExp
  readonly more?: JsonObject
}

const openai = (
  message: string,
  code: string | number | null = null,
  type = "invalid_request_error",
  param: string | null = null
): JsonObject => ({ error: { message, type, param, code } })

const rows: Record<string, Row> = {
  "401": {
    status: 401,
    body: openai("Incorrect API key provided: test-key", "invalid_api_key"),
    tag: "Auth",
    says: /Incorrect API key/
  },
  "401 with a code that is a text (Azure)": {
    status: 401,
    body: { error: { code: "401", message: "Access denied due to invalid subscription key" } },
    tag: "Auth"
  },
  "401 with a detail (Mistral)": { status: 401, body: { detail: "Unauthorized" }, tag: "Auth", says: /Unauthorized/ },
  "400 with a wrong key (xAI)": {
    status: 400,
    body: {
      code: "invalid-argument",
      error: "Incorrect API key provided: te***ey. You can obtain an API key from the console."
    },
    tag: "Auth",
    says: /Incorrect API key/
  },
  "400 with a wrong key (Google)": {
    status: 400,
    body:
      "[{\"error\":{\"code\":400,\"message\":\"API key not valid. Please pass a valid API key.\",\"status\":\"INVALID_ARGUMENT\"}}]",
    tag: "Auth"
  },
  "403": { status: 403, body: openai("You may not use this model"), tag: "Permission" },
  "404 of a model": { status: 404, body: openai("The model `x` does not exist", "model_not_found"), tag: "NotFound" },
  "404 of a deployment (Azure)": {
    status: 404,
    body: { error: { code: "DeploymentNotFound", message: "The API deployment for this resource does not exist." } },
    tag: "NotFound"
  },
  "404 of a page": {
    status: 404,
    body: "<html><head><title>404 Not Found</title></head></html>",
    tag: "NotFound",
    says: /HTML page titled "404 Not Found"/
  },
  "400 of a model (Responses)": {
    status: 400,
    body: openai("The requested model 'x' does not exist.", "model_not_found"),
    tag: "NotFound"
  },
  "402": { status: 402, body: { error: { message: "Insufficient credits", code: 402 } }, tag: "QuotaExceeded" },
  "429 without quota": {
    status: 429,
    body: openai(
      "You exceeded your current quota, please check your plan and billing details.",
      "insufficient_quota",
      "insufficient_quota"
    ),
    tag: "QuotaExceeded"
  },
  "400 without credit (Anthropic)": {
    status: 400,
    body: {
      type: "error",
      error: { type: "invalid_request_error", message: "Your credit balance is too low to access the API." }
    },
    tag: "QuotaExceeded"
  },
  "429": { status: 429, body: openai("Rate limit reached", "rate_limit_exceeded", "tokens"), tag: "RateLimited" },
  "429 whose text mentions billing": {
    status: 429,
    body: openai("Rate limit reached. Add a payment method to raise it: billing_not_active", "rate_limit_exceeded"),
    tag: "RateLimited"
  },
  "429 with what the upstream said (OpenRouter)": {
    status: 429,
    body: {
      error: {
        message: "Provider returned error",
        code: 429,
        metadata: { raw: "please retry in 20s", provider_name: "X" }
      }
    },
    tag: "RateLimited",
    more: { retryAfterMs: 20_000 }
  },
  "429 without a body": { status: 429, body: "", tag: "RateLimited" },
  "503": {
    status: 503,
    body: openai("The engine is overloaded", "server_is_overloaded", "server_error"),
    tag: "Overloaded"
  },
  "529": {
    status: 529,
    body: { type: "error", error: { type: "overloaded_error", message: "Overloaded" } },
    tag: "Overloaded"
  },
  "500 that says overloaded": { status: 500, body: openai("Model is overloaded, try again later"), tag: "Overloaded" },
  "400 of a filter (Azure)": {
    status: 400,
    body: {
      error: {
        code: "content_filter",
        message: "The response was filtered",
        status: 400,
        innererror: { code: "ResponsibleAIPolicyViolation" }
      }
    },
    tag: "ContentFiltered"
  },
  "400 of a filter (Alibaba)": {
    status: 400,
    body: openai("Input data may contain inappropriate content.", "data_inspection_failed"),
    tag: "ContentFiltered"
  },
  "400 of a tool call (Groq)": {
    status: 400,
    body: {
      error: {
        message: "Failed to call a function.",
        type: "invalid_request_error",
        code: "tool_use_failed",
        failed_generation: "<function="
      }
    },
    tag: "ToolUseFailed"
  },
  "400 of a context (DeepSeek, wrong content type)": {
    status: 400,
    headers: { "content-type": "application/octet-stream" },
    body: openai(
      "This model's maximum context length is 65536 tokens. However, you requested 70001 tokens",
      "invalid_request_error"
    ),
    tag: "ContextOverflow",
    more: { limit: 65536, requested: 70001 }
  },
  "400 of a context (llama.cpp)": {
    status: 400,
    body: {
      error: {
        code: 400,
        message: "the request exceeds the available context size, try increasing it",
        type: "exceed_context_size_error",
        n_prompt_tokens: 5120,
        n_ctx: 4096
      }
    },
    tag: "ContextOverflow",
    more: { limit: 4096, requested: 5120 }
  },
  "400 of a context (old vLLM, no error key)": {
    status: 400,
    body: {
      object: "error",
      message: "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens",
      type: "BadRequestError",
      code: 400
    },
    tag: "ContextOverflow",
    more: { limit: 4096, requested: 5000 }
  },
  "413": { status: 413, body: "", tag: "ContextOverflow" },
  "400 of a parameter": {
    status: 400,
    body: openai("Unsupported parameter: 'max_tokens'", "unsupported_parameter", "invalid_request_error", "max_tokens"),
    tag: "InvalidRequest",
    more: { param: "max_tokens" }
  },
  "400 with a message and nothing else": {
    status: 400,
    body: { message: "bad thing", code: "E7" },
    tag: "InvalidRequest",
    says: /bad thing/
  },
  "422 with details (FastAPI)": {
    status: 422,
    body: { detail: [{ loc: ["body", "messages"], msg: "field required", type: "value_error" }] },
    tag: "InvalidRequest",
    says: /body\.messages: field required/
  },
  "500": { status: 500, body: openai("The server had an error", null, "server_error"), tag: "ServerError" },
  "500 as text (transformers)": {
    status: 500,
    body: "Internal Server Error",
    tag: "ServerError",
    says: /Internal Server Error/
  },
  "502 of a proxy": {
    status: 502,
    body: "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>",
    tag: "ServerError",
    says: /502 Bad Gateway/
  },
  "504": { status: 504, body: "upstream request timeout", tag: "ServerError" },
  "520": { status: 520, body: "<html></html>", tag: "ServerError" },
  "408": { status: 408, body: "", tag: "ServerError" },
  "301": {
    status: 301,
    headers: { location: "https://example.com/v1" },
    body: "",
    tag: "InvalidRequest",
    says: /redirect to https:\/\/example\.com\/v1/
  }
}

describe("an error answer has a kind:", () => {
  for (const [name, { body, headers, more, says, status, tag }] of Object.entries(rows)) {
    it.live(`${name} is ${tag}`, () =>
      Effect.gen(function*() {
        const reply = { status, body, headers: { "x-request-id": "req-7", ...headers } }
        const { provider } = yield* scripted([reply, reply])
        for (const result of [yield* Effect.result(provider.complete(request())), (yield* stream(provider)).result]) {
          const error = failure(result)
          assert.strictEqual(error._tag, tag)
          assert.strictEqual(error.status, status)
          assert.strictEqual(error.requestId, "req-7")
          assert.strictEqual(error.model, "scripted")
          assert.match(error.message, /^vendor answered \d+: /)
          if (says !== undefined) assert.match(error.message, says)
          for (const [key, value] of Object.entries(more ?? {})) assert.strictEqual(Reflect.get(error, key), value)
          assert.isTrue(ProviderError.isProviderError(error))
        }
      }))
  }
})

describe("the requested delay", () => {
  const waits: Record<string, readonly [Record<string, string>, string, number | undefined]> = {
    "is read in milliseconds": [{ "retry-after-ms": "150", "retry-after": "9" }, "", 150],
    "is not read from milliseconds that are 0 (Azure)": [{ "retry-after-ms": "0", "retry-after": "1" }, "", 1000],
    "is read in seconds": [{ "retry-after": "2" }, "", 2000],
    "is read as a date": [
      { "retry-after": "Sat, 21 Nov 2026 10:00:05 GMT", date: "Sat, 21 Nov 2026 10:00:00 GMT" },
      "",
      5000
    ],
    "is read from a text": [{}, "Please try again in 1.5s.", 1500],
    "is read from a text in minutes and seconds": [{}, "Please try again in 1m30s.", 90_000],
    "is read from a text in milliseconds": [{}, "try again in 20ms", 20],
    "is absent when the vendor has none": [{}, "slow down", undefined],
    "is not read from nonsense": [{ "retry-after": "soon", "retry-after-ms": "NaN" }, "", undefined]
  }
  for (const [name, [headers, message, expected]] of Object.entries(waits)) {
    it.live(name, () =>
      Effect.gen(function*() {
        const { provider } = yield* scripted([{ status: 429, headers, body: openai(message, "rate_limit_exceeded") }])
        assert.strictEqual(
          ProviderError.retryAfterMs(failure(yield* Effect.result(provider.complete(request())))),
          expected
        )
      }))
  }

  it.live("is not read from a successful answer (Hugging Face)", () =>
    Effect.gen(function*() {
      const { provider } = yield* scripted([{
        status: 200,
        headers: { "retry-after": "30" },
        body: openai("too many requests", 429)
      }])
      assert.isUndefined(ProviderError.retryAfterMs(failure(yield* Effect.result(provider.complete(request())))))
    }))
})

describe("an error contains", () => {
  it.live("no secrets", () =>
    Effect.gen(function*() {
      const secret = "test-secret-0123456789"
      const { provider } = yield* scripted([{
        status: 401,
        body: openai(`Incorrect key ${secret}, or sk-proj-abcdefghijkl, or Bearer abcdefghijklmnop`)
      }], { apiKey: secret })
      const error = failure(yield* Effect.result(provider.complete(request())))
      for (const text of [error.message, error.body ?? "", JSON.stringify(error)]) {
        assert.notInclude(text, secret)
        assert.notInclude(text, "sk-proj")
        assert.notInclude(text, "abcdefghijklmnop")
      }
      assert.include(error.message, "[redacted]")
    }))

  it.live("at most 2,000 characters of a body", () =>
    Effect.gen(function*() {
      const { provider } = yield* scripted([{ status: 500, body: "x".repeat(10_000_000) }])
      const error = failure(yield* Effect.result(provider.complete(request())))
      assert.strictEqual(error._tag, "ServerError")
      assert.lengthOf(error.body ?? "", 2000)
      assert.isBelow(error.message.length, 700)
    }))

  it.live("the first part of a body that never ends", () =>
    Effect.gen(function*() {
      const { provider } = yield* scripted([{ status: 503, chunks: ["model is loading"], end: "open" }, {
        status: 503,
        chunks: ["model is loading", 5],
        end: "reset"
      }], { timeouts: { idleMs: 100 } })
      for (let n = 0; n < 2; n++) {
        const error = failure(yield* Effect.result(provider.complete(request())))
        assert.strictEqual(error._tag, "Overloaded")
        assert.strictEqual(error.body, "model is loading")
      }
    }))
})

describe("a request that cannot be sent", () => {
  it.effect("because no model is set says so", () =>
    Effect.gen(function*() {
      const error = failure(
        yield* Effect.result(OpenAiCompatible.make({ baseUrl: "http://127.0.0.1:9/v1" }).complete(request()))
      )
      assert.strictEqual(error._tag, "InvalidRequest")
      assert.match(error.message, /no model is set: set OPENAI_MODEL, pass `fromEnv\(\{ model \}\)`/)
    }))

  it.live("because the base URL is invalid says so", () =>
    Effect.gen(function*() {
      const error = failure(
        yield* Effect.result(OpenAiCompatible.make({ baseUrl: "nonsense", model: "m" }).complete(request()))
      )
      assert.strictEqual(error._tag, "InvalidRequest")
    }))
})
