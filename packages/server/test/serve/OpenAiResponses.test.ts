/** Responses with the client of OpenAI. */
import type { AgentHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import { Connection } from "@belay/core/ProviderError"
import * as OpenAiResponses from "@belay/server/OpenAiResponses"
import * as Serve from "@belay/server/Serve"
import OpenAI from "openai"
import { assert, describe, it } from "vitest"
import { ada, request } from "./support/requests.ts"
import { authorize, served, talker, tools } from "./support/served.ts"

const clientOf = (url: string, user = "ada") =>
  new OpenAI({ baseURL: `${url}/v1`, apiKey: `token-${user}`, maxRetries: 0 })
const model = "agent"
const failure = async (promise: PromiseLike<unknown>): Promise<{ readonly [field: string]: unknown }> =>
  Object(await promise.then(() => ({ message: "it did not fail" }), (error: unknown) => error))

describe("responses", () => {
  it("continues a conversation with the id of the previous response", async () => {
    await using server = await served(OpenAiResponses.handler)
    const client = clientOf(server.url)
    const first = await client.responses.create({ model, input: "one" })
    assert.strictEqual(first.output_text, "You said: one (1)")
    assert.strictEqual(first.usage?.total_tokens, 16)
    const second = await client.responses.create({ model, input: "two", previous_response_id: first.id })
    assert.strictEqual(second.output_text, "You said: two (3)")
    const read = await client.responses.retrieve(second.id)
    assert.strictEqual(read.output_text, "You said: two (3)")
  })

  it("reads the responses of earlier turns from their outcomes, without waiting for events that are gone", async () => {
    const handler = (serve: Serve.Serve) => {
      const events = () => assert.fail("the events of an earlier turn are not there")
      const [whole, reader] = [serve, { ...serve, host: { ...serve.host, events } }].map(OpenAiResponses.handler)
      return (request: Request) => (request.method === "GET" ? reader : whole)!(request)
    }
    await using server = await served(handler)
    const client = clientOf(server.url)
    const first = await client.responses.create({ model, input: "one" })
    const asked = await client.responses.create({ model, input: "call delete_file", previous_response_id: first.id })
    const request = asked.output.find((item) => item.type === "mcp_approval_request")!
    const input = [{ type: "mcp_approval_response" as const, approval_request_id: request.id, approve: true }]
    const approved = await client.responses.create({ model, previous_response_id: asked.id, input })
    const last = await client.responses.create({ model, input: "two", previous_response_id: approved.id })
    const read = await client.responses.retrieve(first.id)
    assert.deepInclude(read, { status: "completed", output_text: "You said: one (1)" })
    assert.strictEqual((await client.responses.retrieve(approved.id)).output_text, "Result: deleted")
    const streamed = []
    for await (const { type } of await client.responses.retrieve(first.id, { stream: true })) streamed.push(type)
    assert.strictEqual(streamed.at(-1), "response.completed")
    // The events of the last turn are there.
    assert.include((await failure(client.responses.retrieve(last.id)))["message"], "500")
  })

  it("streams typed events that the client puts together", async () => {
    await using server = await served(OpenAiResponses.handler)
    const stream = clientOf(server.url).responses.stream({ model, input: "call weather" })
    const types: Array<string> = []
    const numbers: Array<number> = []
    for await (const event of stream) {
      types.push(event.type)
      numbers.push(event.sequence_number)
    }
    const final = await stream.finalResponse()
    assert.deepStrictEqual(final.output.map(({ type }) => type), ["message", "mcp_call", "message"])
    assert.include(final.output_text, "Result: {\"degrees\":21}")
    assert.strictEqual(types[0], "response.created")
    assert.strictEqual(types.at(-1), "response.completed")
    assert.deepStrictEqual(numbers, [...new Set(numbers)].sort((a, b) => a - b))
  })

  it("asks with an approval request, which is answered once", async () => {
    await using server = await served(OpenAiResponses.handler)
    const client = clientOf(server.url)
    const asked = await client.responses.create({ model, input: "call delete_file" })
    const request = asked.output.find((item) => item.type === "mcp_approval_request")!
    assert.deepInclude(request, { name: "delete_file", arguments: "{\"city\":\"Bern\"}" })
    const answer = {
      model,
      previous_response_id: asked.id,
      input: [{ type: "mcp_approval_response" as const, approval_request_id: request.id, approve: true }]
    }
    const waits = await failure(client.responses.create({ model, input: "and?", previous_response_id: asked.id }))
    assert.strictEqual(waits["status"], 409)
    const approved = await client.responses.create(answer)
    assert.strictEqual(approved.output_text, "Result: deleted")
    assert.deepStrictEqual(server.log, ["delete_file"])
    assert.strictEqual((await failure(client.responses.create(answer)))["status"], 400)
    assert.deepStrictEqual(server.log, ["delete_file"])
  })

  it("returns calls of the client's tools, and continues with their results", async () => {
    await using server = await served(OpenAiResponses.handler)
    const client = clientOf(server.url)
    const tools = [{
      type: "function" as const,
      name: "here",
      description: "",
      parameters: { type: "object" },
      strict: false
    }]
    const stream = client.responses.stream({ model, input: "call here", tools })
    const asked = await stream.finalResponse()
    const call = asked.output.find((item) => item.type === "function_call")!
    assert.deepInclude(call, { name: "here", arguments: "{\"city\":\"Bern\"}" })
    const output = { type: "function_call_output" as const, call_id: call.call_id, output: "at home" }
    const next = { model, previous_response_id: asked.id, tools }
    const message = { role: "user" as const, content: "and then?" }
    const both = await client.responses.create({ ...next, input: [output, message] }).then(() => "an answer", String)
    assert.match(both, /400 .*send the message after the response/)
    const done = await client.responses.create({ ...next, input: [output] })
    assert.strictEqual(done.output_text, "Result: at home")
  })

  it("runs in the background, is read again from any event on, and is cancelled", async () => {
    let go = (): void => {}
    const gate = new Promise<void>((resolve) => go = resolve)
    await using server = await served(OpenAiResponses.handler, {}, { provider: talker({ before: () => gate }) })
    const client = clientOf(server.url)
    const started = await client.responses.create({ model, input: "slow", background: true })
    assert.strictEqual(started.status, "in_progress")
    assert.strictEqual((await client.responses.retrieve(started.id)).status, "in_progress")
    const other = await client.responses.create({ model, input: "never", background: true })
    assert.strictEqual((await client.responses.cancel(other.id)).status, "cancelled")
    assert.strictEqual((await failure(client.get(`/responses/${other.id}/cancel`)))["status"], 405)
    go()
    const all = []
    for await (const event of await client.responses.retrieve(started.id, { stream: true })) all.push(event)
    const middle = all[4]!.sequence_number
    const rest = []
    for await (const event of await client.responses.retrieve(started.id, { stream: true, starting_after: middle })) {
      rest.push(event)
    }
    assert.deepStrictEqual(
      rest.map((event) => event.sequence_number),
      all.slice(5).map((event) => event.sequence_number)
    )
    assert.deepStrictEqual(server.errors, [])
  })

  it("leaves out the text of an attempt that failed", async () => {
    let words = 0
    const lost = new Connection({ provider: "demo", message: "lost" })
    const provider = talker({ each: () => ++words === 3 ? Promise.reject(lost) : Promise.resolve() })
    const again = { name: "again", onLlmError: () => HookAction.replace({ type: "retry" as const, delayMs: 0 }) }
    await using server = await served(OpenAiResponses.handler, {}, { provider, hooks: [again] })
    const client = clientOf(server.url)
    const plain = await client.responses.create({ model, input: "a" })
    assert.strictEqual(plain.output_text, "You said: a (1)")
    words = 0
    const stream = client.responses.stream({ model, input: "a" })
    assert.strictEqual((await stream.finalResponse()).output_text, "You said: a (1)")
  })

  it("has the answer as hooks left it after the turn, and none that they rejected, if nobody streams", async () => {
    const postTurn: NonNullable<AgentHook["postTurn"]> = ({ output }) =>
      output.text.includes("two") ? HookAction.reject("no") : HookAction.transform({ ...output, text: "signed" })
    await using server = await served(OpenAiResponses.handler, {}, { hooks: [{ name: "after", postTurn }] })
    const client = clientOf(server.url)
    assert.strictEqual((await client.responses.create({ model, input: "one" })).output_text, "signed")
    const { id, output, status } = await client.responses.create({ model, input: "two" })
    assert.deepStrictEqual([status, output], ["failed", []])
    assert.deepStrictEqual((await client.responses.retrieve(id)).output, [])
  })

  it("does not know the responses of another principal", async () => {
    await using server = await served(OpenAiResponses.handler)
    const asked = await clientOf(server.url).responses.create({ model, input: "call delete_file" })
    const request = asked.output.find((item) => item.type === "mcp_approval_request")!
    const eve = clientOf(server.url, "eve")
    const input = [{ type: "mcp_approval_response" as const, approval_request_id: request.id, approve: true }]
    const attempts = [
      eve.responses.retrieve(asked.id),
      eve.responses.cancel(asked.id),
      eve.responses.create({ model, input, previous_response_id: asked.id }),
      eve.responses.create({ model, input: "hi", previous_response_id: asked.id })
    ]
    for (const attempt of attempts) assert.strictEqual((await failure(attempt))["status"], 404)
    assert.deepStrictEqual(server.log, [])
  })
})

describe("a stream that is read again", () => {
  it("has the rest after any event, and nothing twice, although the log has joined its deltas", async () => {
    const provider = talker({ each: () => new Promise((resolve) => setTimeout(resolve, 5)) })
    const serve = Serve.make({ agent: { provider, tools: tools(), log: false }, authorize })
    const handler = OpenAiResponses.handler(serve)
    const read = async (response: Response): Promise<ReadonlyArray<Readonly<Record<string, unknown>>>> =>
      [...(await response.text()).matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!))
    const textOf = (events: ReadonlyArray<Readonly<Record<string, unknown>>>) =>
      events.flatMap(({ delta, type }) => type === "response.output_text.delta" ? [String(delta)] : []).join("")
    const body = { input: "call weather", stream: true }
    const live = await read(await handler(request("/v1/responses", body, ada)))
    assert.isAbove(live.filter(({ type }) => type === "response.output_text.delta").length, 4)
    const { id } = live[0]!["response"] as { readonly id: string }
    for (const [index, { sequence_number: after }] of live.entries()) {
      const url = `http://127.0.0.1/v1/responses/${id}?stream=true&starting_after=${String(after)}`
      const rest = await read(await handler(new Request(url, { headers: ada })))
      assert.strictEqual(textOf([...live.slice(0, index + 1), ...rest]), textOf(live), `after ${String(after)}`)
      const added = [...live.slice(0, index + 1), ...rest].filter(({ type }) => type === "response.output_item.added")
      assert.lengthOf(
        added,
        live.filter(({ type }) => type === "response.output_item.added").length,
        `after ${String(after)}`
      )
    }
    const wrong = new Request(`http://127.0.0.1/v1/responses/${id}?stream=true&starting_after=x`, { headers: ada })
    assert.strictEqual((await handler(wrong)).status, 400)
    await serve.close()
  })
})
