import { assert, describe, it } from "@effect/vitest"
import * as Overflow from "../../../src/openai/internal/response/overflow.ts"

const overflows: ReadonlyArray<readonly [string, Overflow.Overflow]> = [
  ["Your input exceeds the context window of this model. Please adjust your input and try again.", {}],
  ["This model's maximum context length is 128000 tokens. However, your messages resulted in 140022 tokens.", {
    limit: 128000,
    requested: 140022
  }],
  [
    "This model's maximum context length is 16385 tokens. However, you requested 18000 tokens (17000 in the messages, 1000 in the completion).",
    { limit: 16385, requested: 18000 }
  ],
  ["context_length_exceeded", {}],
  ["max_tokens must be at least 1, got -186.", {}],
  ["The prompt (total length 9000) is longer than the maximum model length of 8192.", { limit: 8192 }],
  ["This endpoint's maximum context length is 200000 tokens. However, you requested about 210532 tokens", {
    limit: 200000,
    requested: 210532
  }],
  ["prompt is too long: 213462 tokens > 200000 maximum", { requested: 213462, limit: 200000 }],
  [
    "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again",
    {
      requested: 210000,
      limit: 200000
    }
  ],
  ["request_too_large Request exceeds the maximum size", {}],
  ["The input token count (1250000) exceeds the maximum number of tokens allowed (1048576).", {
    requested: 1250000,
    limit: 1048576
  }],
  ["This model's maximum prompt length is 131072 but the request contains 150000 tokens.", {
    limit: 131072,
    requested: 150000
  }],
  ["Please reduce the length of the messages or completion. Current length is 42328 while limit is 40000", {
    requested: 42328,
    limit: 40000
  }],
  ["Please reduce the length of the messages or completion.", {}],
  ["The input (9821 tokens) is longer than the model's context length (8192 tokens).", {
    requested: 9821,
    limit: 8192
  }],
  [
    "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 20 `max_new_tokens`",
    {
      limit: 4096
    }
  ],
  [
    "the request exceeds the available context size. try increasing the context size or enable context shift exceed_context_size_error n_prompt_tokens: 5120 n_ctx: 4096",
    { requested: 5120, limit: 4096 }
  ],
  ["failed to decode, try again, increasing context size", {}],
  ["prompt too long; exceeded max context length by 512 tokens", {}],
  ["The number of tokens to keep from the initial prompt is greater than the context length.", {}],
  ["The total length of all messages is too long.", {}],
  ["prompt token count of 70000 exceeds the limit of 64000", { requested: 70000, limit: 64000 }],
  ["invalid params, context window exceeds limit", {}],
  ["Invalid request: Your request exceeded model token limit: 131072", { limit: 131072 }],
  ["Prompt contains 40213 tokens and 0 draft tokens, too large for model with 32768 maximum context length", {
    requested: 40213,
    limit: 32768
  }],
  ["1261 Prompt exceeds max length", {}],
  ["the model stopped: model_context_window_exceeded", {}],
  ["Range of input length should be [1, 30720]", { limit: 30720 }],
  ["Input is too long for requested model.", {}],
  ["The input exceeds the model's maximum context length of 32768 tokens", { limit: 32768 }],
  ["litellm.ContextWindowExceededError: ContextWindowExceededError", {}],
  ["The prompt is too long: 131073, model maximum context length: 131072", { requested: 131073, limit: 131072 }],
  ["too_many_prompt_tokens", {}]
]

const others: ReadonlyArray<readonly [string, number?]> = [
  ["Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000.", 429],
  [
    "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 45000. The input or output tokens must be reduced.",
    429
  ],
  ["This model's maximum context length is 10 tokens", 429],
  ["Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40 string_above_max_length"],
  ["Your prompt is being throttled, it is too long in the queue; please wait"],
  ["The model `gpt-9` does not exist"],
  ["Invalid value for 'temperature': must be at most 2"],
  ["You exceeded your current quota, please check your plan and billing details."],
  ["max_tokens is too large: 100000. This model supports at most 4096 completion tokens"],
  ["The image is too large"]
]

describe("a request that is too long is recognised by the text:", () => {
  for (const [wording, numbers] of overflows) {
    it(wording, () => assert.deepStrictEqual(Overflow.readOverflow(wording, 400), numbers))
  }
})

describe("another text is not recognised as an overflow:", () => {
  for (const [wording, status] of others) {
    it(`${wording} (${status ?? 400})`, () => assert.isUndefined(Overflow.readOverflow(wording, status ?? 400)))
  }
})
