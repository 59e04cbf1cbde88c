import type { JsonObject } from "@belay/core/Json"
import type { LlmParameters, LlmRequest } from "@belay/core/LlmCall"
import * as OpenAiCompatible from "@belay/providers/OpenAiCompatible"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { readFile, request, scripted, stream, success, textOf } from "../../support/support.ts"
import { chunk, completion, finish, sse } from "../../support/wire.ts"

/** The body that goes to a vendor, and the headers. Nothing leaves this process. */
const sentTo = (
  baseUrl: string,
  parameters: LlmParameters,
  more: Partial<LlmRequest> = {},
  options: OpenAiCompatible.Options = {}
) =>
  Effect.gen(function*() {
    let body: JsonObject = {}
    let headers: Record<string, string> = {}
    const fetch: OpenAiCompatible.Fetch = async (_url, init) => {
      body = JSON.parse(String(init.body as string)) as JsonObject
      headers = init.headers as Record<string, string>
      return new Response(JSON.stringify(completion({ content: "hi" })))
    }
    const provider = OpenAiCompatible.make({ baseUrl, apiKey: "test-key", model: "m", fetch, ...options })
    const result = yield* Effect.result(provider.complete(request("go", { ...more, parameters })))
    return { body, headers, result }
  })
const vendors = {
  openai: "https://api.openai.com/v1",
  openrouter: "https://openrouter.ai/api/v1",
  deepseek: "https://api.deepseek.com",
  groq: "https://api.groq.com/openai/v1",
  xai: "https://api.x.ai/v1",
  alibaba: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
  zai: "https://api.z.ai/api/paas/v4",
  perplexity: "https://api.perplexity.ai",
  google: "https://generativelanguage.googleapis.com/v1beta/openai",
  anthropic: "https://api.anthropic.com/v1",
  llamacpp: "http://localhost:8080/v1",
  mistral: "https://api.mistral.ai/v1"
}

describe("a cache of prompts", () => {
  const more: Partial<LlmRequest> = {
    instructions: "Be brief",
    tools: [readFile],
    messages: [
      { role: "user", content: "one" },
      { role: "assistant", content: "", toolCalls: [{ id: "call_1", name: "read_file", args: {} }] },
      { role: "tool", toolCallId: "call_1", toolName: "read_file", content: "text" },
      { role: "user", content: [{ type: "text", text: "two" }] }
    ]
  }

  it.live("is asked for with marks on the instructions and the last messages", () =>
    Effect.gen(function*() {
      const mark = { cache_control: { type: "ephemeral", ttl: "1h" } }
      for (const vendor of ["openrouter", "alibaba"] as const) {
        const { body } = yield* sentTo(vendors[vendor], { promptCache: "1h" }, more)
        const messages = body.messages as ReadonlyArray<JsonObject>
        assert.deepStrictEqual(messages[0]?.content, [{ type: "text", text: "Be brief", ...mark }])
        assert.strictEqual(messages[1]?.content, "one")
        assert.deepStrictEqual(messages[3]?.content, [{ type: "text", text: "text", ...mark }])
        assert.deepStrictEqual(messages[4]?.content, [{ type: "text", text: "two", ...mark }])
      }
    }))

  it.live("is asked for with a key that the same instructions share", () =>
    Effect.gen(function*() {
      for (const api of ["chat", "responses"] as const) {
        const keyOf = (instructions: string) =>
          Effect.map(sentTo(vendors.openai, { promptCache: true }, { instructions }, { api }), ({ body }) =>
            body.prompt_cache_key)
        const key = yield* keyOf("a")
        assert.isString(key)
        assert.strictEqual(yield* keyOf("a"), key)
        assert.notStrictEqual(yield* keyOf("b"), key)
      }
    }))

  it.live("is not mentioned to vendors that cache by themselves, or when nobody asks", () =>
    Effect.gen(function*() {
      for (const vendor of ["deepseek", "google"] as const) {
        const { body } = yield* sentTo(vendors[vendor], { promptCache: true }, more)
        assert.notInclude(JSON.stringify(body), "cache")
      }
      const { body } = yield* sentTo(vendors.openrouter, { promptCache: false }, more)
      assert.notInclude(JSON.stringify(body), "cache_control")
      const unwanted = yield* sentTo(vendors.openai, { promptCache: false }, more)
      assert.notInclude(JSON.stringify(unwanted.body), "cache")
    }))

  for (
    const [name, usage] of Object.entries({
      "OpenRouter": { prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 } },
      "Alibaba": { prompt_tokens_details: { cached_tokens: 60, cache_creation_input_tokens: 30 } },
      "LiteLLM": { cache_read_input_tokens: 60, cache_creation_input_tokens: 30 }
    })
  ) {
    it.live(`is counted in the usage (${name})`, () =>
      Effect.gen(function*() {
        const whole = { prompt_tokens: 100, completion_tokens: 5, total_tokens: 105, ...usage }
        const { provider } = yield* scripted([{
          status: 200,
          body: completion({ content: "hi" }, "stop", { usage: whole })
        }])
        const counted = (yield* provider.complete(request())).usage
        assert.deepInclude(counted, { inputTokens: 100, cachedTokens: 60, cacheWriteTokens: 30 })
      }))
  }
})

describe("the effort of reasoning is asked for as", () => {
  const cases: Record<string, readonly [keyof typeof vendors, LlmParameters, JsonObject]> = {
    "an effort": ["openai", { reasoningEffort: "low" }, { reasoning_effort: "low" }],
    "an object": ["openrouter", { reasoningEffort: "none" }, { reasoning: { enabled: false } }],
    "an object, also without an effort": ["openrouter", { reasoningSummary: true }, { reasoning: { enabled: true } }],
    "a switch": ["deepseek", { reasoningEffort: "high" }, { thinking: { type: "enabled" } }],
    "a switch that is off": ["zai", { reasoningEffort: "none" }, { thinking: { type: "disabled" } }],
    "another switch": ["alibaba", { reasoningEffort: "high" }, { enable_thinking: true }],
    "a budget": ["anthropic", { reasoningEffort: "low" }, { thinking: { type: "enabled", budget_tokens: 2048 } }],
    "a budget below the tokens of the answer": [
      "anthropic",
      { reasoningEffort: "high", maxTokens: 4096 },
      { thinking: { type: "enabled", budget_tokens: 3072 } }
    ],
    "nothing, if the answer is too short to think": [
      "anthropic",
      { reasoningEffort: "high", maxTokens: 5 },
      { max_tokens: 5 }
    ],
    "arguments of the template": ["llamacpp", { reasoningEffort: "none" }, {
      chat_template_kwargs: { enable_thinking: false }
    }],
    "thoughts (Google)": [
      "google",
      { reasoningSummary: true },
      { extra_body: { google: { thinking_config: { include_thoughts: true } } } }
    ],
    "a format (Groq)": ["groq", { reasoningSummary: true }, { reasoning_format: "parsed" }]
  }
  for (const [name, [vendor, parameters, fields]] of Object.entries(cases)) {
    it.live(name, () =>
      Effect.gen(function*() {
        const { body } = yield* sentTo(vendors[vendor], parameters)
        assert.deepInclude(body, fields)
        if (name.startsWith("nothing")) assert.notProperty(body, "thinking")
      }))
  }

  it.live("nothing, if a tool must be called (Anthropic)", () =>
    Effect.gen(function*() {
      const { body } = yield* sentTo(vendors.anthropic, {
        reasoningEffort: "high",
        responseFormat: { name: "x", schema: { type: "object" } }
      })
      assert.property(body, "tool_choice")
      assert.notProperty(body, "thinking")
    }))

  it.live("an effort and a summary of the Responses API", () =>
    Effect.gen(function*() {
      const { body } = yield* sentTo(vendors.openai, { reasoningEffort: "low", reasoningSummary: true }, {}, {
        api: "responses",
        model: "gpt-5.4"
      })
      assert.deepStrictEqual(body.reasoning, { effort: "low", summary: "auto" })
    }))
})

describe("a search of the web is asked for as", () => {
  const search: LlmParameters = { hostedTools: [{ type: "web-search", domains: ["a.example"] }] }
  const cases: Partial<Record<keyof typeof vendors, JsonObject>> = {
    openai: { web_search_options: { filters: { allowed_domains: ["a.example"] } } },
    openrouter: { plugins: [{ id: "web", include_domains: ["a.example"] }] },
    alibaba: { enable_search: true },
    zai: { tools: [{ type: "web_search", web_search: { enable: true, search_result: true } }] },
    groq: { tools: [{ type: "browser_search" }] },
    perplexity: { search_domain_filter: ["a.example"] }
  }
  for (const [vendor, fields] of Object.entries(cases)) {
    it.live(vendor, () =>
      Effect.gen(function*() {
        // The keys of the table are vendors.
        assert.deepInclude((yield* sentTo(vendors[vendor as keyof typeof vendors], search)).body, fields)
      }))
  }

  it.live("xai", () =>
    Effect.gen(function*() {
      const { body } = yield* sentTo(vendors.xai, search)
      assert.deepInclude(body.search_parameters as JsonObject, { mode: "on", return_citations: true })
    }))

  it.live("nothing, but an error, if nobody knows the tool", () =>
    Effect.gen(function*() {
      for (const api of ["chat", "responses"] as const) {
        // A program without types can pass anything.
        const hostedTools = [{ type: "web_search" }] as unknown as NonNullable<LlmParameters["hostedTools"]>
        const { body, result } = yield* sentTo(vendors.openai, { hostedTools }, {}, { api })
        assert.deepStrictEqual(body, {})
        assert.include(JSON.stringify(result), "no hosted tool web_search")
      }
    }))

  it.live("nothing, but an error, where the vendor has none", () =>
    Effect.gen(function*() {
      for (const tool of [{ type: "web-search" }, { type: "file-search", stores: ["s"] }] as const) {
        const { body, result } = yield* sentTo(vendors.mistral, { hostedTools: [tool] })
        assert.deepStrictEqual(body, {})
        assert.include(JSON.stringify(result), `no hosted tool ${tool.type}`)
      }
    }))
})

describe("a request has", () => {
  it.live("headers and labels of its own", () =>
    Effect.gen(function*() {
      const { body, headers } = yield* sentTo(
        vendors.openai,
        { headers: { "X-Tenant": "7" }, metadata: { team: "blue" } },
        {},
        {
          headers: { "x-tenant": "0", "x-team": "red" }
        }
      )
      assert.deepStrictEqual([headers["x-tenant"], headers["x-team"]], ["7", "red"])
      assert.deepStrictEqual(body.metadata, { team: "blue" })
      assert.strictEqual(headers.authorization, "Bearer test-key")
    }))

  it.live("no headers with line ends", () =>
    Effect.gen(function*() {
      for (const headers of [{ "x-a": "1\r\nx-b: 2" }, { "x a": "1" }] as ReadonlyArray<Record<string, string>>) {
        const { body, result } = yield* sentTo(vendors.openai, { headers })
        assert.deepStrictEqual(body, {})
        assert.strictEqual(result._tag === "Failure" && result.failure._tag, "InvalidRequest")
      }
      const { result } = yield* sentTo(vendors.openai, {}, {}, { apiKey: "key\r\nx-b: 2" })
      assert.strictEqual(result._tag === "Failure" && result.failure._tag, "Auth")
    }))
})

describe("an answer has", () => {
  it.live("the probabilities of its tokens, streamed and plain", () =>
    Effect.gen(function*() {
      const one = (token: string) => ({
        token,
        logprob: -0.5,
        bytes: [1],
        top_logprobs: [{ token: "x", logprob: -1, bytes: null }]
      })
      const { endpoint, provider } = yield* scripted([
        {
          chunks: [
            sse([
              chunk({ content: "he" }, { logprobs: { content: [one("he")] } }),
              chunk({ content: "y" }, { logprobs: { content: [one("y")] } }),
              finish("stop")
            ])
          ]
        },
        {
          status: 200,
          body: {
            model: "m-1",
            choices: [{
              index: 0,
              message: { content: "hey" },
              finish_reason: "stop",
              logprobs: { content: [one("he"), one("y"), { token: 7 }] }
            }]
          }
        }
      ])
      const given = request("go", { parameters: { logprobs: 1 } })
      const expected = ["he", "y"].map((token) => ({ token, logprob: -0.5, top: [{ token: "x", logprob: -1 }] }))
      assert.deepStrictEqual(success((yield* stream(provider, given)).result).logprobs, expected)
      assert.deepStrictEqual((yield* provider.complete(given)).logprobs, expected)
      assert.deepInclude(endpoint.requests[0]?.body as JsonObject, { logprobs: true, top_logprobs: 1 })
    }))

  const annotation = {
    type: "url_citation",
    url_citation: { url: "https://a.example", title: "A", start_index: 0, end_index: 5 }
  }
  const sources: Record<string, readonly [JsonObject, ReadonlyArray<JsonObject>]> = {
    "annotations (OpenAI, OpenRouter)": [
      completion({ content: "Paris [1]", annotations: [annotation] }),
      [{ url: "https://a.example", title: "A", start: 0, end: 5 }]
    ],
    "a list of addresses (xAI)": [
      completion({ content: "Paris" }, "stop", { citations: ["https://a.example", "https://b.example"] }),
      [{ url: "https://a.example" }, { url: "https://b.example" }]
    ],
    "results of a search (Perplexity)": [
      completion({ content: "Paris" }, "stop", {
        citations: ["https://a.example"],
        search_results: [{ title: "A", url: "https://a.example", date: null, snippet: "a town" }]
      }),
      [{ url: "https://a.example", title: "A", text: "a town" }]
    ],
    "a list of links (Z.ai)": [
      completion({ content: "Paris" }, "stop", {
        web_search: [{ title: "A", link: "https://a.example", content: "c" }]
      }),
      [{ url: "https://a.example", title: "A", text: "c" }]
    ]
  }
  for (const [name, [body, expected]] of Object.entries(sources)) {
    it.live(`citations that are ${name}`, () =>
      Effect.gen(function*() {
        const { provider } = yield* scripted([{ status: 200, body }])
        assert.deepStrictEqual((yield* provider.complete(request())).citations, expected as never)
      }))
  }

  it.live("the citations of a stream once, although each chunk has them", () =>
    Effect.gen(function*() {
      const outer = { citations: ["https://a.example"] }
      const { provider } = yield* scripted([{
        chunks: [
          sse([
            chunk({ content: "Par" }, {}, outer),
            chunk({ annotations: [annotation] }),
            chunk({ content: "is" }, {}, outer),
            finish("stop", outer)
          ])
        ]
      }])
      const { citations, text } = success((yield* stream(provider)).result)
      assert.strictEqual(text, "Paris")
      assert.deepStrictEqual(citations, [{ url: "https://a.example", title: "A", start: 0, end: 5 }])
    }))

  it.live("pictures, streamed and plain (OpenRouter)", () =>
    Effect.gen(function*() {
      const images = [{ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }]
      const { endpoint, provider } = yield* scripted([
        { chunks: [sse([chunk({ content: "", images }), finish("stop")])] },
        { status: 200, body: completion({ content: "", images }) }
      ])
      const given = request("draw", { parameters: { outputs: ["text", "image"] } })
      const files = [{ type: "file", mediaType: "image/png", url: "data:image/png;base64,AAAA" }]
      assert.deepStrictEqual(success((yield* stream(provider, given)).result).files, files as never)
      assert.deepStrictEqual((yield* provider.complete(given)).files, files as never)
      const body = endpoint.requests[0]?.body as JsonObject
      assert.deepStrictEqual(body.modalities, ["text", "image"])
    }))

  it.live("sound with its text, streamed and plain", () =>
    Effect.gen(function*() {
      const piece = (data: string, transcript: string) => chunk({ audio: { id: "a", data, transcript } })
      const { endpoint, provider } = yield* scripted([
        { chunks: [sse([piece(btoa("abcd"), "hel"), piece(btoa("e"), ""), piece("", "lo"), finish("stop")])] },
        {
          status: 200,
          body: completion({ audio: { id: "a", data: btoa("abcde"), transcript: "hello", expires_at: 1 } })
        }
      ])
      const given = request("speak", { parameters: { outputs: ["text", "audio"], audio: { voice: "ash" } } })
      const { deltas, result } = yield* stream(provider, given)
      const plain = yield* provider.complete(given)
      for (const [{ files, text }, format] of [[success(result), "pcm16"], [plain, "wav"]] as const) {
        assert.strictEqual(text, "hello")
        assert.deepStrictEqual(files, [
          { type: "file", mediaType: `audio/${format}`, url: `data:audio/${format};base64,${btoa("abcde")}` }
        ])
      }
      assert.strictEqual(textOf(deltas), "hello")
      assert.deepStrictEqual(endpoint.requests.map(({ body }) => (body as JsonObject).audio), [
        { voice: "ash", format: "pcm16" },
        { voice: "ash", format: "wav" }
      ])
    }))
})
