import type { JsonObject } from "@belay/core/Json"
import type { LlmParameters } from "@belay/core/LlmCall"
import * as OpenAiCompatible from "@belay/providers/OpenAiCompatible"
import type * as Endpoint from "@belay/testing/Endpoint"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { failure, readFile, request, scripted, stream } from "../support/support.ts"

const refusal = (message: string, param: string | null = null): Endpoint.RawAnswer => ({
  status: 400,
  body: { error: { message, type: "invalid_request_error", param, code: "unsupported_parameter" } }
})
const bodies = (endpoint: Endpoint.Endpoint) => endpoint.requests.map(({ body }) => body as JsonObject)

describe("a parameter that an endpoint does not accept is changed once, and not sent again:", () => {
  const cases: Record<string, readonly [LlmParameters, string, string | null, field: string, instead?: string]> = {
    "the token limit": [
      { maxTokens: 5 },
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      "max_tokens",
      "max_tokens",
      "max_completion_tokens"
    ],
    "the temperature": [
      { temperature: 0 },
      "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.",
      "temperature",
      "temperature"
    ],
    "the seed": [{ seed: 1 }, "Unknown parameter: 'seed'", "seed", "seed"],
    "the seed, in other words": [{ seed: 1 }, "seed: Extra inputs are not permitted", null, "seed"],
    "the effort": [
      { reasoningEffort: "low" },
      "Unrecognized request argument: reasoning_effort",
      null,
      "reasoning_effort"
    ],
    "parallel calls": [
      { parallelToolCalls: false },
      "Unsupported parameter: 'parallel_tool_calls'",
      "parallel_tool_calls",
      "parallel_tool_calls"
    ]
  }
  for (const [name, [parameters, message, param, field, instead]] of Object.entries(cases)) {
    it.live(name, () =>
      Effect.gen(function*() {
        const { endpoint, provider } = yield* scripted([refusal(message, param), { text: "hi" }, { text: "hi" }])
        const given = request("go", { parameters, tools: [readFile] })
        assert.strictEqual((yield* provider.complete(given)).text, "hi")
        yield* provider.complete(given)
        assert.deepStrictEqual(bodies(endpoint).map((body) => field in body), [true, false, false])
        if (instead !== undefined) assert.strictEqual(bodies(endpoint)[1]?.[instead], 5)
      }))
  }

  it.live("but not a second time in one call", () =>
    Effect.gen(function*() {
      const { endpoint, provider } = yield* scripted([
        refusal("Unknown parameter: 'seed'", "seed"),
        refusal("Unsupported value: 'temperature'", "temperature")
      ])
      const error = yield* Effect.flip(provider.complete(request("go", { parameters: { seed: 1, temperature: 0 } })))
      assert.strictEqual(error._tag, "InvalidRequest")
      assert.lengthOf(endpoint.requests, 2)
    }))

  it.live("but never one that decides about the answer", () =>
    Effect.gen(function*() {
      const { endpoint, provider } = yield* scripted([
        refusal("Unsupported parameter: 'stop' is not supported with this model.", "stop"),
        refusal("Unknown parameter: 'seed'", "seed")
      ])
      const error = yield* Effect.flip(provider.complete(request("go", { parameters: { stop: ["x"] } })))
      assert.strictEqual(error._tag, "InvalidRequest")
      assert.strictEqual(failure((yield* stream(provider)).result)._tag, "InvalidRequest")
      assert.lengthOf(endpoint.requests, 2)
    }))
})

describe("a server that ignores", () => {
  const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] } as const
  const parameters: LlmParameters = { responseFormat: { name: "place", schema } }

  for (const [name, text] of [["a schema", "It is Bern."], ["the fields of a schema", `{"answer":"Bern"}`]] as const) {
    it.live(`${name} is asked in words from then on`, () =>
      Effect.gen(function*() {
        const { endpoint, provider } = yield* scripted([{ text }, { text: `{"city":"Bern"}` }])
        yield* provider.complete(request("where", { parameters }))
        yield* provider.complete(request("where", { parameters }))
        const [first, second] = bodies(endpoint)
        assert.property(first, "response_format")
        assert.notProperty(second, "response_format")
        assert.include(JSON.stringify(second?.messages), "must be JSON")
      }))
  }

  it.live("the tool that it must call twice is asked in words from then on", () =>
    Effect.gen(function*() {
      const { endpoint, provider } = yield* scripted([
        { text: "I will." },
        { text: "Soon." },
        { toolCalls: [{ name: "read_file", args: { path: "a" } }] },
        { text: "fine" }
      ])
      const given = request("go", { tools: [readFile], parameters: { toolChoice: { tool: "read_file" } } })
      yield* provider.complete(given)
      yield* provider.complete(given)
      assert.lengthOf((yield* provider.complete(given)).toolCalls, 1)
      yield* provider.complete(request("go", { tools: [readFile] }))
      const [, first, second, third] = bodies(endpoint).map(({ messages }) => JSON.stringify(messages))
      assert.notInclude(first, "Call the tool")
      assert.include(second, "Call the tool read_file now")
      assert.notInclude(third, "Call the tool")
    }))
})

describe("extra fields", () => {
  const sent = (parameters: LlmParameters, options: OpenAiCompatible.Options = {}) =>
    Effect.gen(function*() {
      const { endpoint, provider } = yield* scripted([{ text: "hi" }, { text: "hi" }], options)
      const given = request("go", { tools: [readFile], parameters })
      const result = yield* Effect.result(
        (options.api === "responses" ? stream(provider, given) : provider.complete(given)) as Effect.Effect<
          unknown,
          { readonly _tag: string; readonly message: string }
        >
      )
      return { body: bodies(endpoint)[0] as JsonObject, result }
    })
  const format = { name: "x", schema: { type: "object" } } as const

  it.live("are joined with the fields of a Responses request", () =>
    Effect.gen(function*() {
      const { body } = yield* sent({
        reasoningEffort: "low",
        responseFormat: format,
        extra: {
          text: { verbosity: "low" },
          reasoning: { summary: "auto" },
          tools: [{ type: "web_search" }],
          include: ["web_search_call.action.sources"],
          store: true
        }
      }, { api: "responses", compat: { encryptedReasoning: true, jsonSchema: "native" } })
      assert.deepStrictEqual(body.text, { format: { type: "json_schema", ...format }, verbosity: "low" })
      assert.deepStrictEqual(body.reasoning, { effort: "low", summary: "auto" })
      assert.deepStrictEqual((body.tools as ReadonlyArray<JsonObject>).map(({ type }) => type), [
        "function",
        "web_search"
      ])
      assert.deepStrictEqual(body.include, ["reasoning.encrypted_content", "web_search_call.action.sources"])
      assert.isTrue(body.store)
    }))

  it.live("are joined with the fields of a chat request", () =>
    Effect.gen(function*() {
      const { body } = yield* sent({
        extra: { tools: [{ type: "web_search" }], reasoning: { exclude: true } },
        reasoningEffort: "low"
      }, {
        compat: { reasoning: "openrouter", extraBody: { reasoning: { effort: "high", max_tokens: 5 } } }
      })
      assert.deepStrictEqual((body.tools as ReadonlyArray<JsonObject>).map(({ type }) => type), [
        "function",
        "web_search"
      ])
      assert.deepStrictEqual(body.reasoning, { effort: "low", max_tokens: 5, exclude: true })
    }))

  const conflicts: Record<string, readonly [LlmParameters, OpenAiCompatible.Options["api"]]> = {
    "extra.temperature": [{ temperature: 0, extra: { temperature: 1 } }, "chat"],
    "extra.response_format.type": [{ responseFormat: format, extra: { response_format: { type: "text" } } }, "chat"],
    "extra.text.format.name": [{ responseFormat: format, extra: { text: { format: { name: "y" } } } }, "responses"],
    "extra.reasoning.effort": [{ reasoningEffort: "low", extra: { reasoning: { effort: "high" } } }, "responses"],
    "extra.tools": [{ extra: { tools: "all" } }, "chat"],
    "extra.model": [{ extra: { model: "other" } }, "chat"],
    "extra.messages": [{ extra: { messages: [] } }, "chat"],
    "extra.input": [{ extra: { input: [] } }, "responses"],
    "extra.stream": [{ extra: { stream: false } }, "responses"]
  }
  for (const [param, [parameters, api]] of Object.entries(conflicts)) {
    it.live(`with another value than the request are an error (${param})`, () =>
      Effect.gen(function*() {
        const { body, result } = yield* sent(parameters, { api: api ?? "chat", compat: { jsonSchema: "native" } })
        assert.isUndefined(body)
        assert.include(JSON.stringify(result), param)
      }))
  }
})
