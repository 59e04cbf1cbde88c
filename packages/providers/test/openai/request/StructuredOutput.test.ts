/** Answers of a schema, over HTTP: whatever an endpoint can do, the text of the response is the JSON. */
import { createAgent, defineTool } from "@belay/core"
import type { JsonObject } from "@belay/core/Json"
import type { LlmParameters } from "@belay/core/LlmCall"
import * as OpenAiCompatible from "@belay/providers/OpenAiCompatible"
import * as Presets from "@belay/providers/Presets"
import * as Endpoint from "@belay/testing/Endpoint"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { z } from "zod"
import { readFile, request, scripted, stream, success, textOf } from "../../support/support.ts"

const schema: JsonObject = {
  type: "object",
  properties: { city: { type: "string" }, degrees: { type: "number" } },
  required: ["city", "degrees"],
  additionalProperties: false
}
const json = `{"city":"Bern","degrees":21}`
const parameters: LlmParameters = { responseFormat: { name: "weather", schema, strict: true } }
const ways = ["native", "tool", "prompt"] as const
type Way = OpenAiCompatible.Compat["jsonSchema"]

/** What an endpoint with this way says to a question it understood. */
const line = (way: Way): Endpoint.Answer =>
  way === "native" ?
    { text: json }
    : way === "tool" ?
    { toolCalls: [{ name: "weather", args: { city: "Bern", degrees: 21 } }] }
    : { text: `Here it is:\n\`\`\`json\n${json}\n\`\`\`\nAnything else?` }

const bodyOf = (endpoint: Endpoint.Endpoint, at = 0) => endpoint.requests[at]?.body as JsonObject

describe("an answer of a schema", () => {
  for (const way of ways) {
    it.live(`is the text of the response with ${way}, streamed or not`, () =>
      Effect.gen(function*() {
        const { provider } = yield* scripted([line(way), line(way)], { compat: { jsonSchema: way } })
        const whole = yield* provider.complete(request("How warm is it?", { parameters }))
        const { deltas, result } = yield* stream(provider, request("How warm is it?", { parameters }))
        for (const { finishReason, text, toolCalls } of [whole, success(result)]) {
          assert.strictEqual(text, json)
          assert.deepStrictEqual(toolCalls, [])
          assert.strictEqual(finishReason, "stop")
        }
        assert.include(textOf(deltas), json)
        assert.isFalse(deltas.some(({ type }) => type === "tool-call"))
      }))

    it(`follows the tools it needs with ${way}, in an agent`, async () => {
      await using endpoint = await Endpoint.start({
        script: [{ toolCalls: [{ name: "measure", args: { city: "Bern" } }] }, line(way), {
          toolCalls: [{ name: "measure", args: { city: "Bern" } }]
        }, line(way)]
      })
      const provider = OpenAiCompatible.make({ baseUrl: endpoint.url, model: "scripted", compat: { jsonSchema: way } })
      const measured: Array<string> = []
      const measure = defineTool({
        name: "measure",
        description: "Measures the temperature of a city",
        input: z.object({ city: z.string() }),
        execute: ({ city }) => measured.push(city)
      })
      await using agent = createAgent({
        provider,
        tools: [measure],
        output: { name: "weather", schema: z.object({ city: z.string(), degrees: z.number() }) }
      })
      const result = await agent.run("How warm is it in Bern?")
      assert.deepStrictEqual(result.status === "completed" && result.object, { city: "Bern", degrees: 21 })
      const run = agent.stream("How warm is it in Bern?")
      let shown = ""
      for await (const event of run) {
        shown = event.type === "text-delta"
          ? shown + event.text
          : event.type === "retract"
          ? ""
          : shown
      }
      const streamed = await run.result
      assert.deepStrictEqual(streamed.status === "completed" && streamed.object, { city: "Bern", degrees: 21 })
      assert.strictEqual(shown, json)
      assert.deepStrictEqual(measured, ["Bern", "Bern"])
    })
  }

  it("comes from the rule-based model of the endpoint", async () => {
    await using endpoint = await Endpoint.start()
    for (const way of ["native", "tool"] as const) {
      const provider = OpenAiCompatible.make({ baseUrl: endpoint.url, model: "demo", compat: { jsonSchema: way } })
      await using agent = createAgent({
        provider,
        output: { name: "mail", schema: z.object({ to: z.string(), count: z.number() }) }
      })
      const result = await agent.run("Send 3 copies to ada@example.com")
      assert.strictEqual(result.status === "completed" && result.object.to, "ada@example.com", way)
    }
  })

  it("is requested again when a server ignores the format", async () => {
    await using endpoint = await Endpoint.start({ script: [{ text: "It is warm." }, { text: json }] })
    const provider = OpenAiCompatible.make({ baseUrl: endpoint.url, model: "scripted" })
    await using agent = createAgent({ provider, output: { schema } })
    const result = await agent.run("How warm is it?")
    assert.deepStrictEqual(result.status === "completed" && result.object, { city: "Bern", degrees: 21 })
    assert.include(JSON.stringify(bodyOf(endpoint, 1).messages), "it is not JSON")
  })
})

describe("a request with a format", () => {
  const sent = (way: Way, given: Parameters<typeof request>[1] = {}, options: OpenAiCompatible.Options = {}) =>
    Effect.gen(function*() {
      const { endpoint, provider } = yield* scripted([{ text: json }], { compat: { jsonSchema: way }, ...options })
      yield* provider.complete(request("go", { parameters, ...given }))
      return bodyOf(endpoint)
    })

  it.live("uses the field of the vendors with native", () =>
    Effect.gen(function*() {
      const body = yield* sent("native", { tools: [readFile] })
      assert.deepStrictEqual(body.response_format, {
        type: "json_schema",
        json_schema: { name: "weather", schema, strict: true }
      })
      assert.notProperty(body, "tool_choice")
    }))

  it.live("uses the field of the Responses API", () =>
    Effect.gen(function*() {
      const whole = {
        object: "response",
        status: "completed",
        output: [{ type: "message", content: [{ type: "output_text", text: json }] }]
      }
      const { endpoint, provider } = yield* scripted([{ status: 200, body: whole }], { api: "responses" })
      const { text } = yield* provider.complete(request("go", { parameters }))
      assert.strictEqual(text, json)
      assert.deepStrictEqual(bodyOf(endpoint).text, {
        format: { type: "json_schema", name: "weather", schema, strict: true }
      })
    }))

  it.live("forces a tool for the answer, or any tool if there are others", () =>
    Effect.gen(function*() {
      const alone = yield* sent("tool")
      assert.notProperty(alone, "response_format")
      assert.deepStrictEqual(alone.tool_choice, { type: "function", function: { name: "weather" } })
      const beside = yield* sent("tool", { tools: [readFile] })
      assert.strictEqual(beside.tool_choice, "required")
      assert.deepStrictEqual(
        (beside.tools as ReadonlyArray<JsonObject>).map((tool) => (tool.function as JsonObject).name),
        [
          "read_file",
          "weather"
        ]
      )
      const same = yield* sent("tool", { tools: [{ ...readFile, name: "weather" }] })
      assert.deepStrictEqual(
        (same.tools as ReadonlyArray<JsonObject>).map((tool) => (tool.function as JsonObject).name),
        [
          "weather",
          "weather_"
        ]
      )
    }))

  it.live("adds an instruction with prompt", () =>
    Effect.gen(function*() {
      const body = yield* sent("prompt", { instructions: "Be brief." })
      assert.notProperty(body, "response_format")
      const [{ content } = { content: "" }] = body.messages as ReadonlyArray<{ readonly content: string }>
      assert.match(content, /^Be brief\.\n\nYour final answer \(weather\) must be JSON/)
      assert.include(content, JSON.stringify(schema))
    }))

  it.live("is native only without tools if the server uses a grammar", () =>
    Effect.gen(function*() {
      assert.property(yield* sent("native-without-tools"), "response_format")
      assert.notProperty(yield* sent("native-without-tools", { tools: [readFile] }), "response_format")
    }))
})

describe("an endpoint that refuses formats", () => {
  const refusal = (message: string): Endpoint.RawAnswer => ({
    status: 400,
    body: { error: { message, type: "invalid_request_error" } }
  })

  it.live("gets an instruction from then on", () =>
    Effect.gen(function*() {
      const { endpoint, provider } = yield* scripted([
        refusal("This response_format type is unavailable now"),
        { text: json },
        { text: json }
      ])
      for (const _ of [1, 2]) assert.strictEqual((yield* provider.complete(request("go", { parameters }))).text, json)
      assert.deepStrictEqual(endpoint.requests.map(({ body }) => "response_format" in (body as JsonObject)), [
        true,
        false,
        false
      ])
    }))

  it.live("is an error if the schema is wrong", () =>
    Effect.gen(function*() {
      const { provider } = yield* scripted([
        refusal("Invalid schema for response_format 'weather': 'oneOf' is not supported")
      ])
      const error = yield* Effect.flip(provider.complete(request("go", { parameters })))
      assert.strictEqual(error._tag, "InvalidRequest")
    }))
})

describe("the answer tool", () => {
  it.live("counts only after other tools of the same step", () =>
    Effect.gen(function*() {
      const both = {
        toolCalls: [{ name: "read_file", args: { path: "a" } }, { name: "weather", args: { city: "?", degrees: 0 } }]
      }
      const { provider } = yield* scripted([both], { compat: { jsonSchema: "tool" } })
      const { finishReason, toolCalls } = yield* provider.complete(request("go", { parameters, tools: [readFile] }))
      assert.deepStrictEqual(toolCalls.map(({ name }) => name), ["read_file"])
      assert.strictEqual(finishReason, "tool-calls")
    }))

  it.live("is optional: JSON in the text is an answer too", () =>
    Effect.gen(function*() {
      const { provider } = yield* scripted([{ text: `Sure: ${json}.` }], { compat: { jsonSchema: "tool" } })
      assert.strictEqual((yield* provider.complete(request("go", { parameters }))).text, json)
    }))
})

it("knows which endpoints accept a schema", () => {
  const of = (url: string) => Presets.compatOf(url, "m").jsonSchema
  assert.strictEqual(of("https://api.openai.com/v1"), "native")
  assert.strictEqual(of("https://unknown.example/v1"), "native")
  assert.strictEqual(of("https://api.groq.com/openai/v1"), "tool")
  assert.strictEqual(of("https://api.deepseek.com"), "prompt")
  assert.strictEqual(of("http://127.0.0.1:11434/v1"), "native-without-tools")
})
