import * as Endpoint from "@belay/testing/Endpoint"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { OpenAI } from "openai"
import type { ChatCompletionMessageParam, ChatCompletionTool } from "openai/resources/chat/completions"

const start = (options?: Endpoint.EndpointOptions) =>
  Effect.map(
    Endpoint.scoped(options),
    (endpoint) => ({
      endpoint,
      client: new OpenAI({ baseURL: endpoint.url, apiKey: "test-key", maxRetries: 0, logLevel: "off" })
    })
  )

const tool = (name: string, description: string, properties: Record<string, unknown>): ChatCompletionTool => ({
  type: "function",
  function: { name, description, parameters: { type: "object", properties, required: Object.keys(properties) } }
})
const text = { type: "string" }
const tools = [
  tool("list_folder", "Lists the files of a folder", { path: text }),
  tool("read_file", "Reads a file", { path: text }),
  tool("delete_files", "Deletes files", { pattern: text }),
  tool("send_mail", "Sends a mail", { to: text, subject: text, body: text })
]
const outputs: Record<string, string> = {
  list_folder: `["2026-09.txt","2026-10.txt","scratch.tmp"]`,
  read_file: "Invoice 2026-10: 420 EUR, due on 2026-11-30",
  delete_files: `{"deleted":1}`,
  send_mail: "sent"
}
const task =
  "List the invoices folder, read the newest invoice, delete temporary files and mail the summary to ada@example.com"

const fails = (promise: Promise<unknown>) =>
  Effect.map(Effect.promise(() => promise.then(() => undefined, (error: unknown) => error)), (error) => {
    assert.instanceOf(error, OpenAI.APIError)
    return error as InstanceType<typeof OpenAI.APIError>
  })

describe("the endpoint, asked by the openai client,", () => {
  for (const streaming of [false, true]) {
    it.live(`completes a task with four tools (${streaming ? "streamed" : "plain"})`, () =>
      Effect.gen(function*() {
        const { client } = yield* start()
        const messages: Array<ChatCompletionMessageParam> = [{ role: "system", content: "You keep the books" }, {
          role: "user",
          content: task
        }]
        const asked: Array<readonly [string, unknown]> = []
        let answer: string | null = null
        while (answer === null && asked.length < 10) {
          const body = { model: "demo-large", messages, tools }
          const completion = yield* Effect.promise(() =>
            streaming
              ? client.chat.completions.stream(body).finalChatCompletion()
              : client.chat.completions.create(body)
          )
          const message = completion.choices[0]?.message
          assert.isDefined(message)
          if (message === undefined) return
          messages.push(message)
          for (const call of message.tool_calls ?? []) {
            if (call.type !== "function") continue
            asked.push([call.function.name, JSON.parse(call.function.arguments)])
            messages.push({ role: "tool", tool_call_id: call.id, content: outputs[call.function.name] ?? "" })
          }
          if (completion.choices[0]?.finish_reason === "stop") answer = message.content
        }
        assert.deepStrictEqual(asked, [
          ["list_folder", { path: "invoices" }],
          ["read_file", { path: "invoices/2026-10.txt" }],
          ["delete_files", { pattern: "scratch.tmp" }],
          ["send_mail", {
            to: "ada@example.com",
            subject: "Summary",
            body: "Summary: Invoice 2026-10: 420 EUR, due on 2026-11-30"
          }]
        ])
        assert.include(answer ?? "", "420 EUR")
      }))
  }

  it.live("streams usage in a last chunk only on request", () =>
    Effect.gen(function*() {
      const { client } = yield* start()
      const ask = (include_usage: boolean) =>
        Effect.promise(async () => {
          const chunks = []
          for await (
            const chunk of await client.chat.completions.create({
              model: "demo-small",
              messages: [{ role: "user", content: "Hello" }],
              stream: true,
              stream_options: { include_usage }
            })
          ) chunks.push(chunk)
          return chunks
        })
      const counted = yield* ask(true)
      assert.deepStrictEqual(counted.at(-1)?.choices, [])
      assert.isAbove(counted.at(-1)?.usage?.completion_tokens ?? 0, 0)
      assert.include(counted.map((chunk) => chunk.choices[0]?.delta.content ?? "").join(""), "Hello! I am demo-small")
      assert.isTrue((yield* ask(false)).every((chunk) => chunk.usage === undefined))
    }))

  it.live("lists its models", () =>
    Effect.gen(function*() {
      const { client } = yield* start()
      const ids = (yield* Effect.promise(() => client.models.list())).data.map(({ id }) => id)
      assert.includeMembers(ids, ["demo-large", "demo-small", "demo-backup", "demo:rate-limit-once"])
    }))

  it.live("answers with an object of the schema", () =>
    Effect.gen(function*() {
      const { client } = yield* start()
      const schema = {
        type: "object",
        properties: { city: text, degrees: { type: "integer" }, sky: { type: "string", enum: ["clear", "cloudy"] } },
        required: ["city", "degrees", "sky"]
      }
      const completion = yield* Effect.promise(() =>
        client.chat.completions.create({
          model: "demo",
          messages: [{ role: "user", content: "It is 21 degrees and cloudy in Paris" }],
          response_format: { type: "json_schema", json_schema: { name: "weather", schema } }
        })
      )
      assert.deepStrictEqual(JSON.parse(completion.choices[0]?.message.content ?? ""), {
        city: "Paris",
        degrees: 21,
        sky: "cloudy"
      })
    }))

  it.live("gives the same answer to the same request", () =>
    Effect.gen(function*() {
      const { client } = yield* start()
      const ask = Effect.promise(() =>
        client.chat.completions.create({ model: "demo", messages: [{ role: "user", content: task }], tools })
      )
      assert.deepStrictEqual(
        (yield* ask).choices[0]?.message.tool_calls?.map((call) => "function" in call && call.function),
        (yield* ask).choices[0]?.message.tool_calls?.map((call) => "function" in call && call.function)
      )
    }))

  it.live("accepts only the right key", () =>
    Effect.gen(function*() {
      const { client, endpoint } = yield* start({ apiKey: "another-test-key" })
      assert.strictEqual((yield* fails(client.models.list())).status, 401)
      const right = new OpenAI({ baseURL: endpoint.url, apiKey: "another-test-key" })
      assert.isNotEmpty((yield* Effect.promise(() => right.models.list())).data)
    }))

  it.live("refuses a transcript a vendor would refuse", () =>
    Effect.gen(function*() {
      const { client } = yield* start()
      const call = (id: string) => ({ id, type: "function" as const, function: { name: "read_file", arguments: "{}" } })
      const user: ChatCompletionMessageParam = { role: "user", content: "go" }
      const asks = (...ids: ReadonlyArray<string>): ChatCompletionMessageParam => ({
        role: "assistant",
        tool_calls: ids.map(call)
      })
      const result = (id: string): ChatCompletionMessageParam => ({ role: "tool", tool_call_id: id, content: "text" })
      const bad: ReadonlyArray<readonly [ReadonlyArray<ChatCompletionMessageParam>, RegExp]> = [
        [[user, result("a")], /must be a response to a preceding message with 'tool_calls'/],
        [[user, asks("a")], /did not have response messages: a/],
        [[user, asks("a", "b"), result("a"), user], /did not have response messages: b/],
        [[user, asks("a"), result("a"), asks("a"), result("a")], /Duplicate tool call id 'a'/],
        [[user, asks("a"), result("a"), result("a")], /must be a response/],
        [[user, asks("x".repeat(41)), result("x".repeat(41))], /maximum length 40/],
        [[{ role: "assistant", content: null }], /expected a string/],
        [[], /non-empty array/]
      ]
      for (const [messages, says] of bad) {
        const error = yield* fails(client.chat.completions.create({ model: "demo", messages: [...messages], tools }))
        assert.strictEqual(error.status, 400)
        assert.match(error.message, says)
      }
      yield* Effect.promise(() =>
        client.chat.completions.create({
          model: "demo",
          messages: [user, asks("a", "b"), result("b"), result("a")],
          tools
        })
      )
    }))

  it.live("refuses unknown models and paths", () =>
    Effect.gen(function*() {
      const { client, endpoint } = yield* start()
      const error = yield* fails(
        client.chat.completions.create({ model: "gpt-9", messages: [{ role: "user", content: "go" }] })
      )
      assert.deepInclude(error, { status: 404, code: "model_not_found" })
      assert.strictEqual(
        (yield* fails(
          client.chat.completions.create({ model: "demo:nonsense", messages: [{ role: "user", content: "go" }] })
        )).status,
        404
      )
      assert.strictEqual((yield* fails(client.embeddings.create({ model: "demo", input: "x" }))).status, 404)
      const response = yield* Effect.promise(() => fetch(`${endpoint.url}/chat/completions`))
      assert.strictEqual(response.status, 404)
    }))

  it.live("says when a request is too long for its model", () =>
    Effect.gen(function*() {
      const { client } = yield* start()
      const error = yield* fails(
        client.chat.completions.create({
          model: "demo-small",
          messages: [{ role: "user", content: "word ".repeat(20_000) }]
        })
      )
      assert.deepInclude(error, { status: 400, code: "context_length_exceeded" })
    }))
})

describe("a failure by name", () => {
  const ask = (client: OpenAI, model: string) =>
    client.chat.completions.create({ model, messages: [{ role: "user", content: "Hello" }] })

  for (
    const [model, status] of [["demo:rate-limit", 429], ["demo:overloaded", 503], ["demo:auth", 401], [
      "demo:quota",
      429
    ], [
      "demo:overflow",
      400
    ]] as const
  ) {
    it.live(`${model} is a ${status}`, () =>
      Effect.gen(function*() {
        const { client } = yield* start()
        assert.strictEqual((yield* fails(ask(client, model))).status, status)
        assert.strictEqual((yield* fails(ask(client, model))).status, status)
      }))
  }

  for (const model of ["demo:rate-limit-once", "demo:overloaded-once"]) {
    it.live(`${model} fails once a turn`, () =>
      Effect.gen(function*() {
        const { client } = yield* start()
        for (let turn = 0; turn < 2; turn++) {
          yield* fails(ask(client, model))
          yield* Effect.promise(() => ask(client, model))
        }
      }))
  }

  it.live("demo:slow arrives in parts until its end", () =>
    Effect.gen(function*() {
      const { client } = yield* start({ slowMs: 1 })
      const completion = yield* Effect.promise(() =>
        client.chat.completions.stream({ model: "demo:slow", messages: [{ role: "user", content: "Hello" }] })
          .finalChatCompletion()
      )
      assert.include(completion.choices[0]?.message.content ?? "", "Hello!")
    }))

  for (
    const [model, ends] of [["demo:reset", "broken"], ["demo:cut", "clean"], ["demo:html", "clean"], [
      "demo:empty",
      "clean"
    ]] as const
  ) {
    it.live(`${model} ends ${ends}, without a finish`, () =>
      Effect.gen(function*() {
        const { endpoint } = yield* start()
        const body = JSON.stringify({ model, stream: true, messages: [{ role: "user", content: "Hello" }], tools })
        const got = yield* Effect.promise(() =>
          fetch(`${endpoint.url}/chat/completions`, { method: "POST", body }).then((response) => response.text()).catch(
            (error: unknown) => error
          )
        )
        if (ends === "broken") assert.instanceOf(got, Error)
        else assert.notInclude(String(got), "[DONE]")
      }))
  }
})

describe("a scripted endpoint", () => {
  it.live("answers with its entries in order, logs the requests, and says when there are no more", () =>
    Effect.gen(function*() {
      const { client, endpoint } = yield* start({
        script: [
          { text: "one" },
          (request) => ({ text: `request ${request.ordinal}` }),
          { status: 418, body: { error: { message: "teapot" } } },
          {
            toolCalls: [{ id: "x", name: "f", args: { a: 1 } }],
            usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 }
          }
        ],
        logLimit: 3
      })
      const ask = () => client.chat.completions.create({ model: "any", messages: [{ role: "user", content: "go" }] })
      assert.strictEqual((yield* Effect.promise(ask)).choices[0]?.message.content, "one")
      assert.strictEqual((yield* Effect.promise(ask)).choices[0]?.message.content, "request 2")
      assert.strictEqual((yield* fails(ask())).status, 418)
      assert.strictEqual(endpoint.remaining, 1)
      const last = yield* Effect.promise(ask)
      assert.deepStrictEqual(last.choices[0]?.message.tool_calls, [{
        id: "x",
        type: "function",
        function: { name: "f", arguments: `{"a":1}` }
      }])
      assert.deepStrictEqual(last.usage, { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 })
      assert.match((yield* fails(ask())).message, /script is exhausted: request 5/)
      assert.deepStrictEqual(endpoint.requests.map(({ ordinal }) => ordinal), [3, 4, 5])
      assert.deepInclude(endpoint.requests[0]?.body, { model: "any" })
    }))

  it.live("listens on the loopback interface only, until it is closed", () =>
    Effect.gen(function*() {
      const endpoint = yield* Effect.promise(() => Endpoint.start())
      assert.match(endpoint.url, /^http:\/\/127\.0\.0\.1:\d+\/v1$/)
      yield* Effect.promise(async () => {
        await using _ = endpoint
      })
      assert.instanceOf(yield* Effect.promise(() => fetch(endpoint.url).catch((error: unknown) => error)), Error)
    }))
})
