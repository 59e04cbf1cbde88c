import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import type { JsonObject } from "@belay/core/Json"
import type { Message } from "@belay/core/Message"
import * as OpenAiCompatible from "@belay/providers/OpenAiCompatible"
import * as Endpoint from "@belay/testing/Endpoint"
import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { call, completed, events, message, response } from "../support/responsesWire.ts"

const tool = defineTool({
  name: "read_file",
  description: "Reads a file",
  input: Schema.Struct({ path: Schema.String }),
  execute: () => "text of the file"
})
const answer = (id: string, output: ReadonlyArray<JsonObject>): Endpoint.ScriptEntry => ({
  status: 200,
  body: response([...output], { id })
})
const forgotten: Endpoint.ScriptEntry = {
  status: 400,
  body: {
    error: {
      message: "Previous response with id 'resp_1' not found.",
      code: "previous_response_not_found",
      param: "previous_response_id"
    }
  }
}
const bodies = (endpoint: Endpoint.Endpoint) => endpoint.requests.map(({ body }) => body as JsonObject)
const inputs = (endpoint: Endpoint.Endpoint) =>
  bodies(endpoint).map(({ input }) => (input as ReadonlyArray<JsonObject>).map(({ content, type }) => type ?? content))

const start = async (script: ReadonlyArray<Endpoint.ScriptEntry>) => {
  const endpoint = await Endpoint.start({ script })
  const provider = OpenAiCompatible.make({
    baseUrl: endpoint.url,
    name: "vendor",
    model: "m",
    api: "responses",
    storeResponses: true
  })
  return { endpoint, provider }
}

describe("responses that the vendor stores", () => {
  it("are continued with what is new, through tools and turns", async () => {
    const { endpoint, provider } = await start([
      answer("resp_1", [call(`{"path":"a"}`)]),
      answer("resp_2", [message("it says text")]),
      answer("resp_3", [message("bye")])
    ])
    await using _ = endpoint
    await using agent = createAgent({ provider, tools: [tool], instructions: "Be brief" })
    await using session = await agent.session()
    await session.run("read a")
    await session.run("thanks")
    assert.deepStrictEqual(bodies(endpoint).map((body) => [body.store, body.previous_response_id, body.instructions]), [
      [true, undefined, "Be brief"],
      [true, "resp_1", "Be brief"],
      [true, "resp_2", "Be brief"]
    ])
    assert.deepStrictEqual(inputs(endpoint), [["read a"], ["function_call_output"], ["thanks"]])
  })

  it("are sent again when the vendor has forgotten them", async () => {
    const { endpoint, provider } = await start([
      answer("resp_1", [message("hi")]),
      forgotten,
      answer("resp_2", [message("yes")])
    ])
    await using _ = endpoint
    await using agent = createAgent({ provider })
    await using session = await agent.session()
    await session.run("hello")
    assert.strictEqual((await session.run("sure?")).text, "yes")
    assert.deepStrictEqual(inputs(endpoint), [["hello"], ["sure?"], ["hello", "hi", "sure?"]])
    assert.notProperty(bodies(endpoint)[2], "previous_response_id")
  })

  it("are not continued when the conversation was changed since", async () => {
    const { endpoint, provider } = await start([answer("resp_1", [message("hi")]), answer("resp_2", [message("yes")])])
    await using _ = endpoint
    const changed = (messages: ReadonlyArray<Message>): ReadonlyArray<Message> =>
      messages.map((one) => one.role === "user" && one.content === "secret" ? { ...one, content: "[removed]" } : one)
    let turns = 0
    await using agent = createAgent({
      provider,
      hooks: [{
        name: "redact",
        preLlmCall: (request) =>
          ++turns === 1
            ? undefined
            : { _tag: "Transform" as const, value: { ...request, messages: changed(request.messages) } }
      }]
    })
    await using session = await agent.session()
    await session.run("secret")
    await session.run("and now?")
    assert.deepStrictEqual(inputs(endpoint)[1], ["[removed]", "hi", "and now?"])
    assert.notInclude(JSON.stringify(bodies(endpoint)[1]), "resp_1")
  })

  it("are continued after a streamed answer too", async () => {
    const { endpoint, provider } = await start([
      events(
        { type: "response.created", response: response([], { id: "resp_1", status: "in_progress" }) },
        completed([message("hi")])
      ),
      events(completed([message("yes")], { id: "resp_2" }))
    ])
    await using _ = endpoint
    await using agent = createAgent({ provider })
    await using session = await agent.session()
    for (const text of ["hello", "sure?"]) {
      const run = session.stream(text)
      for await (const _event of run);
      await run.result
    }
    assert.strictEqual(bodies(endpoint)[1]?.previous_response_id, "resp_1")
    assert.deepStrictEqual(inputs(endpoint)[1], ["sure?"])
  })
})
