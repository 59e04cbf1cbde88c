import type { Json } from "@belay/core/Json"
import * as ProviderError from "@belay/core/ProviderError"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { request, scripted } from "../../support/support.ts"

type Tag = ProviderError.ProviderError["_tag"]
type Row = readonly [status: number, body: Json, tag: Tag, retryAfterMs?: number]

const error = (message: string, more: { readonly [key: string]: Json } = {}): Json => ({ error: { message, ...more } })
const credits = "Your team t-1 has either used all available credits or reached its monthly spending limit."
const balance = "Insufficient balance or no resource package. Please recharge."
const current = "You exceeded your current quota, please check your plan and billing details."
const retryInfo = (retryDelay: string) => ({ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay })
const quotaFailure = (quotaId: string) => ({
  "@type": "type.googleapis.com/google.rpc.QuotaFailure",
  violations: [{ quotaId }]
})
const google = (message: string, details: ReadonlyArray<Json>): Json => [
  { error: { code: 429, message, status: "RESOURCE_EXHAUSTED", details: [...details] } }
]

const rows: Record<string, Row> = {
  "Z.ai without balance": [429, error(balance, { code: "1113" }), "QuotaExceeded"],
  "Z.ai without balance, in Chinese": [
    429,
    error("余额不足或无可用资源包,请充值。", { code: "1113" }),
    "QuotaExceeded"
  ],
  "Z.ai without balance, called a rate limit": [
    429,
    { type: "error", error: { type: "rate_limit_error", code: "1113", message: `[1113][${balance}]` } },
    "QuotaExceeded"
  ],
  "Z.ai with too many requests": [429, error("Rate limit reached for requests", { code: "1302" }), "RateLimited"],
  "Moonshot, suspended": [
    429,
    error("Your account is suspended due to insufficient balance, please recharge your account", {
      type: "exceeded_current_quota_error"
    }),
    "QuotaExceeded"
  ],
  "Moonshot, not active": [
    403,
    error("Your account is not active, organization exceeded current quota, please check your plan", {
      type: "exceeded_current_quota_error"
    }),
    "QuotaExceeded"
  ],
  "Moonshot with too many tokens": [
    429,
    error("request reached project TPM rate limit, current: 1410, limit: 100", { type: "rate_limit_reached_error" }),
    "RateLimited"
  ],
  "Moonshot with too many requests at once": [
    429,
    error("request reached max request: 3, please try again after 1 seconds", { type: "rate_limit_reached_error" }),
    "RateLimited",
    1000
  ],
  "a gateway with the error of Moonshot": [
    429,
    error("Provider returned error", {
      code: 429,
      metadata: {
        raw: JSON.stringify(error("suspended due to insufficient balance", { type: "exceeded_current_quota_error" }))
      }
    }),
    "QuotaExceeded"
  ],
  "xAI without credits (429)": [429, { code: "Some resource has been exhausted", error: credits }, "QuotaExceeded"],
  "xAI without credits (403)": [403, { code: "permission-denied", error: credits }, "QuotaExceeded"],
  "xAI without a subscription": [
    403,
    { code: "x", error: "You have run out of credits or need a Grok subscription." },
    "QuotaExceeded"
  ],
  "Gemini with a wait in its words": [
    429,
    google(`${current}\nPlease retry in 16.614023621s.`, [retryInfo("16s")]),
    "RateLimited",
    16_614.023621
  ],
  "Gemini with a wait in its details": [429, google(current, [retryInfo("34s")]), "RateLimited", 34_000],
  "Gemini for today": [
    429,
    google(`${current}\nPlease retry in 30s.`, [quotaFailure("RequestsPerDayPerProject-FreeTier"), retryInfo("30s")]),
    "QuotaExceeded"
  ],
  "Gemini for this minute": [
    429,
    google(current, [quotaFailure("RequestsPerMinutePerProject-FreeTier")]),
    "RateLimited"
  ],
  "Gemini without a wait": [429, google(current, []), "QuotaExceeded"],
  "Gemini without capacity": [
    503,
    error("No capacity available", { code: 503, status: "UNAVAILABLE", details: [retryInfo("40s")] }),
    "Overloaded",
    40_000
  ],
  "OpenAI without quota": [
    429,
    error(current, { type: "insufficient_quota", code: "insufficient_quota" }),
    "QuotaExceeded"
  ],
  "Hugging Face without credits": [
    402,
    { error: "You have exceeded your monthly included credits for Inference Providers." },
    "QuotaExceeded"
  ],
  "OpenRouter without credits for the prompt": [
    402,
    error("Prompt tokens limit exceeded: 230799 > 91442. To increase, visit the settings", { code: 402 }),
    "QuotaExceeded"
  ],
  "Mistral without capacity": [
    429,
    { object: "error", message: "Service tier capacity exceeded for this model.", type: "invalid_request_error" },
    "RateLimited"
  ],
  "Alibaba in arrears": [
    400,
    { code: "Arrearage", message: "Access denied, your account is in arrears" },
    "QuotaExceeded"
  ],
  "Cloudflare with a list of errors": [
    400,
    { errors: [{ message: "AiError: Bad input", code: 5006 }], success: false, result: {}, messages: [] },
    "InvalidRequest"
  ],
  "Cohere with too many tokens": [
    400,
    { message: "too many tokens: total number of tokens (prompt and prediction) cannot exceed 2048 - received 6354." },
    "ContextOverflow"
  ],
  "a prompt over the input length": [
    400,
    error("Input length 300000 exceeds the maximum allowed input length of 262144 tokens"),
    "ContextOverflow"
  ],
  "a prompt over the configured context": [
    400,
    error("Prompt has 5,000 tokens, but the configured context size is 4,096 tokens"),
    "ContextOverflow"
  ]
}

describe("money, quota, limit or overflow:", () => {
  for (const [name, [status, body, tag, retryAfterMs]] of Object.entries(rows)) {
    it.live(`${name} is ${tag}`, () =>
      Effect.gen(function*() {
        const { provider } = yield* scripted([{ status, body: JSON.stringify(body) }])
        const found = yield* Effect.flip(provider.complete(request()))
        assert.strictEqual(found._tag, tag)
        assert.strictEqual(ProviderError.retryAfterMs(found), retryAfterMs)
      }))
  }

  it.live("the sizes of an overflow are read", () =>
    Effect.gen(function*() {
      const sizes = (message: string) =>
        Effect.gen(function*() {
          const { provider } = yield* scripted([{ status: 400, body: JSON.stringify(error(message)) }])
          const found = yield* Effect.flip(provider.complete(request()))
          return found._tag === "ContextOverflow" ? [found.requested, found.limit] : [found._tag]
        })
      const input = "Input length 300000 exceeds the maximum allowed input length of 262144 tokens"
      const context = "Prompt has 5,000 tokens, but the configured context size is 4,096 tokens"
      const prediction = "total number of tokens (prompt and prediction) cannot exceed 2048 - received 6354"
      assert.deepStrictEqual(yield* sizes(input), [300_000, 262_144])
      assert.deepStrictEqual(yield* sizes(context), [5000, 4096])
      assert.deepStrictEqual(yield* sizes(prediction), [6354, 2048])
    }))

  it.live("a gateway's time of reset is the wait (OpenRouter)", () =>
    Effect.gen(function*() {
      const headers = { "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": String(Date.parse("2026-11-21T10:00:30Z")) }
      const { provider } = yield* scripted([{
        status: 429,
        headers: { date: "Sat, 21 Nov 2026 10:00:00 GMT" },
        body: JSON.stringify(error("Rate limit exceeded: free-models-per-min", { code: 429, metadata: { headers } }))
      }])
      const found = yield* Effect.flip(provider.complete(request()))
      assert.strictEqual(found._tag, "RateLimited")
      assert.strictEqual(ProviderError.retryAfterMs(found), 30_000)
    }))
})
