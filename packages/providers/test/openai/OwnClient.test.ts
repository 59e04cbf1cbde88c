/** A client of the package `openai` that the user has made sends the requests. */
import * as OpenAiCompatible from "@belay/providers/OpenAiCompatible"
import * as Endpoint from "@belay/testing/Endpoint"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Result from "effect/Result"
import OpenAI, { AzureOpenAI } from "openai"
import { failure, readFile, request, stream, success } from "../support/support.ts"

const answer = (entry: Endpoint.ScriptEntry, own: boolean) =>
  Effect.gen(function*() {
    const endpoint = yield* Endpoint.scoped({ script: [entry, entry] })
    const options = { model: "scripted", name: "vendor" }
    const provider = own
      ? OpenAiCompatible.fromClient(new OpenAI({ baseURL: endpoint.url, apiKey: "test-key" }), options)
      : OpenAiCompatible.make({ baseUrl: endpoint.url, apiKey: "test-key", ...options })
    const given = request("Read a.txt", { tools: [readFile] })
    const whole = yield* Effect.result(provider.complete(given))
    const streamed = yield* stream(provider, given)
    return { endpoint, whole, streamed }
  })

/** What an agent sees of an answer. Ids and times of the requests differ. */
const seen = (result: Result.Result<object, { readonly _tag: string; readonly message: string }>): unknown =>
  result._tag === "Success"
    ? JSON.parse(JSON.stringify(result.success).replaceAll(/chatcmpl-[\w-]+/g, "id"))
    : {
      ...JSON.parse(JSON.stringify(result.failure).replaceAll(/req_[\w-]+/g, "id")),
      tag: result.failure._tag,
      message: result.failure.message.replaceAll(/req_[\w-]+/g, "id")
    }

const entries: { readonly [name: string]: Endpoint.ScriptEntry } = {
  "a text": { text: "Hello there" },
  "calls of tools": { text: "", toolCalls: [{ name: "read_file", args: { path: "a.txt" } }] },
  "a 400 with a field of the request": {
    status: 400,
    body: { error: { message: "Unsupported value", type: "invalid_request_error", param: "temperature", code: null } }
  },
  "a wrong key": { status: 401, body: { error: { message: "Incorrect API key", code: "invalid_api_key" } } },
  "a detail in place of an error": { status: 401, body: { detail: "Unauthorized" } },
  "an error that is a text": { status: 404, body: { error: "model \"x\" not found" } },
  "a limit with a time to wait": {
    status: 429,
    headers: { "retry-after": "7" },
    body: { error: { message: "Rate limit reached", code: "rate_limit_exceeded" } }
  },
  "an overflow": {
    status: 400,
    body: { error: { message: "This model's maximum context length is 8192 tokens", code: "context_length_exceeded" } }
  },
  "a page of a proxy": { status: 502, body: "<html><body>Bad gateway</body></html>" },
  "an empty 503": { status: 503, body: "" },
  "a body that is cut": { status: 200, body: "{\"choices\":[{\"mess" }
}

describe("a client of the user", () => {
  for (const [name, entry] of Object.entries(entries)) {
    it.live(`gives the same as the built-in transport: ${name}`, () =>
      Effect.gen(function*() {
        const [own, ours] = yield* Effect.all([answer(entry, true), answer(entry, false)])
        assert.deepStrictEqual(seen(own.whole), seen(ours.whole))
        assert.deepStrictEqual(seen(own.streamed.result), seen(ours.streamed.result))
        assert.deepStrictEqual(own.streamed.deltas, ours.streamed.deltas)
        assert.lengthOf(own.endpoint.requests, ours.endpoint.requests.length)
        assert.deepStrictEqual(
          own.endpoint.requests.map(({ body }) => body),
          ours.endpoint.requests.map(({ body }) => body)
        )
      }))
  }

  it.live("does not retry by itself, and keeps its own headers, key and fetch", () =>
    Effect.gen(function*() {
      const endpoint = yield* Endpoint.scoped({ script: [{ status: 500, body: "broken" }, { text: "fine" }] })
      let fetched = 0
      const client = new OpenAI({
        baseURL: endpoint.url,
        apiKey: "own-key",
        maxRetries: 5,
        defaultHeaders: { "x-team": "blue" },
        fetch: (url, init) => (fetched++, fetch(url, init))
      })
      const provider = OpenAiCompatible.fromClient(client, { model: "m" })
      assert.strictEqual(failure(yield* Effect.result(provider.complete(request())))._tag, "ServerError")
      assert.strictEqual(fetched, 1)
      assert.strictEqual(success(yield* Effect.result(provider.complete(request()))).text, "fine")
      assert.strictEqual(endpoint.requests[1]?.headers["authorization"], "Bearer own-key")
      assert.strictEqual(endpoint.requests[1]?.headers["x-team"], "blue")
    }))

  it.live("of Azure sends to the deployment of the model", () =>
    Effect.gen(function*() {
      const endpoint = yield* Endpoint.scoped({ script: [] })
      const urls: Array<string> = []
      const client = new AzureOpenAI({
        endpoint: "http://127.0.0.1:1",
        apiKey: "azure-key",
        apiVersion: "2024-10-21",
        fetch: (url) => {
          urls.push(url instanceof Request ? url.url : url.toString())
          return Promise.resolve(Response.json({ choices: [{ message: { content: "hi" }, finish_reason: "stop" }] }))
        }
      })
      const provider = OpenAiCompatible.fromClient(client, { model: "gpt" })
      assert.strictEqual(success(yield* Effect.result(provider.complete(request()))).text, "hi")
      assert.deepStrictEqual(urls, [
        "http://127.0.0.1:1/openai/deployments/gpt/chat/completions?api-version=2024-10-21"
      ])
      assert.lengthOf(endpoint.requests, 0)
    }))

  it.live("that cannot connect is a Connection error with the reason", () =>
    Effect.gen(function*() {
      const client = new OpenAI({ baseURL: "http://127.0.0.1:1/v1", apiKey: "none" })
      const provider = OpenAiCompatible.fromClient(client, { model: "m" })
      const error = failure(yield* Effect.result(provider.complete(request())))
      assert.strictEqual(error._tag, "Connection")
    }))

  it("is checked: what is not a client, and options that the client has", () => {
    assert.throws(() => OpenAiCompatible.fromClient(Object.create(null)), /client/)
    const client = new OpenAI({ baseURL: "http://127.0.0.1:1/v1", apiKey: "none" })
    const options: object = { apiKey: "other" }
    assert.throws(() => OpenAiCompatible.fromClient(client, options), /apiKey/)
  })
})
