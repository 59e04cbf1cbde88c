/** What chat completions and Responses of OpenAI have in common. */
import { assert, describe, it } from "vitest"
import {
  chatUsage,
  errorBody,
  modelOf,
  refuseFields,
  responsesUsage,
  sessionNameOf,
  toolsOf
} from "../../../src/serve/internal/openAi.ts"
import { type Kind, Refusal } from "../../../src/serve/internal/refusal.ts"

/** The text and the field of a refusal, or what was returned. */
const told = (run: () => unknown): unknown => {
  try {
    return run()
  } catch (error) {
    return `${Object(error).field}: ${Object(error).message}`
  }
}

describe("an error of OpenAI", () => {
  it.for<readonly [Kind, string, string | null]>([
    ["invalid", "invalid_request_error", null],
    ["unauthorized", "authentication_error", "invalid_api_key"],
    ["forbidden", "permission_error", null],
    ["not-found", "invalid_request_error", "not_found"],
    ["busy", "rate_limit_error", "rate_limit_exceeded"],
    ["filtered", "invalid_request_error", "content_filter"],
    ["too-long", "invalid_request_error", "context_length_exceeded"],
    ["unavailable", "server_error", "server_error"],
    ["failed", "server_error", "server_error"]
  ])("of the kind %s is %s with the code %s", ([kind, type, code]) => {
    assert.deepEqual(errorBody(new Refusal(kind, "m", "f")), { error: { message: "m", type, param: "f", code } })
    assert.isNull(errorBody(new Refusal(kind, "m")).error.param)
  })
})

describe("a request of OpenAI", () => {
  it("has tools, nested or flat", () => {
    const inputSchema = { type: "object", properties: {} }
    const tools = [
      { type: "function", function: { name: "a", description: "d", parameters: { type: "object" } } },
      { type: "function", name: "b" },
      { type: "function", function: {} }
    ]
    const read = [
      { name: "a", description: "d", inputSchema: { type: "object" } },
      { name: "b", description: "", inputSchema },
      { name: "", description: "", inputSchema }
    ]
    assert.deepEqual(toolsOf({ tools }), read)
    assert.deepEqual(toolsOf({ tools, tool_choice: "auto" }), read)
    assert.deepEqual(toolsOf({ tools, tool_choice: "none" }), [])
    assert.deepEqual(toolsOf({}), [])
    assert.strictEqual(told(() => toolsOf({ tools: {} })), "tools: tools: expected a list")
    const wrong = "tools[1]: tools[1]: only tools of type \"function\" are supported"
    assert.strictEqual(told(() => toolsOf({ tools: [tools[0], { type: "custom" }] })), wrong)
  })

  it("is refused for a field with another meaning, and not for null", () => {
    const refuse = (body: object) => told(() => refuseFields({ ...body }, { n: (value) => value !== 1, m: () => true }))
    for (const fine of [{}, { n: 1 }, { n: null }, { m: null }, { other: 2 }]) assert.isUndefined(refuse(fine))
    const wrong = "is not supported with this value: the agent behind this server decides it"
    assert.strictEqual(refuse({ n: 2 }), `n: n ${wrong}`)
    assert.strictEqual(refuse({ m: 0, n: 2 }), `n: n ${wrong}`)
    assert.strictEqual(refuse({ m: false }), `m: m ${wrong}`)
  })

  it("can name a session and a model", () => {
    const request = (headers: Readonly<Record<string, string>> = {}) => new Request("http://a.example", { headers })
    const metadata = { session_id: "m" }
    assert.strictEqual(sessionNameOf(request({ "x-session-id": "h" }), { metadata }), "h")
    assert.strictEqual(sessionNameOf(request(), { metadata }), "m")
    assert.isUndefined(sessionNameOf(request(), {}))
    const wrong = "metadata.session_id: metadata.session_id: expected a text"
    assert.strictEqual(told(() => sessionNameOf(request(), { metadata: { session_id: 1 } })), wrong)
    assert.strictEqual(modelOf({ model: "own" } as never, {}), "own")
    assert.strictEqual(modelOf({ model: "own" } as never, { model: "x".repeat(201) }), "x".repeat(200))
  })

  it("costs tokens", () => {
    const usage = { inputTokens: 5, outputTokens: 3 }
    assert.deepEqual(chatUsage({ ...usage, cachedTokens: 2, reasoningTokens: 1 }), {
      prompt_tokens: 5,
      completion_tokens: 3,
      total_tokens: 8,
      prompt_tokens_details: { cached_tokens: 2 },
      completion_tokens_details: { reasoning_tokens: 1 }
    })
    assert.deepEqual(responsesUsage({ ...usage, cachedTokens: 2, reasoningTokens: 1 }), {
      input_tokens: 5,
      input_tokens_details: { cached_tokens: 2 },
      output_tokens: 3,
      output_tokens_details: { reasoning_tokens: 1 },
      total_tokens: 8
    })
    assert.strictEqual(chatUsage(usage).prompt_tokens_details.cached_tokens, 0)
    assert.strictEqual(chatUsage(usage).completion_tokens_details.reasoning_tokens, 0)
    assert.strictEqual(responsesUsage(usage).input_tokens_details.cached_tokens, 0)
    assert.strictEqual(responsesUsage(usage).output_tokens_details.reasoning_tokens, 0)
  })
})
