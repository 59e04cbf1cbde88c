/** The agent as an MCP server, with the client of the SDK. */
import * as Mcp from "@belay/server/Mcp"
import { Client, InMemoryTransport, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { assert, describe, it } from "vitest"
import { served, talker } from "./support/served.ts"

type Answer = { readonly action: "accept" | "decline" | "cancel"; readonly content?: Record<string, string | boolean> }

/** A client that answers questions like this, and counts them. */
const clientThat = (answer: Answer) => {
  const asked: Array<string> = []
  const client = new Client({ name: "test", version: "1.0.0" }, {
    capabilities: { elicitation: { form: {} } },
    versionNegotiation: { mode: "auto" }
  })
  client.setRequestHandler("elicitation/create", async ({ params }) => {
    asked.push(params.message)
    // The content fits the schema of the question.
    return answer as never
  })
  const ask = async (message: string, session?: string) => {
    const result = await client.callTool({
      name: "ask_agent",
      arguments: { message, ...(session === undefined ? {} : { session }) }
    })
    const { content, isError, structuredContent } = Object(result)
    return { text: content[0]?.text, isError: isError === true, session: structuredContent?.session as string }
  }
  return { client, asked, ask }
}

const overHttp = async (url: string, answer: Answer, user = "ada") => {
  const made = clientThat(answer)
  const requestInit = { headers: { authorization: `Bearer token-${user}` } }
  await made.client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }))
  return made
}

describe("an MCP server", () => {
  it("ends the turn of a call that the client cancels, because nobody can read its answer", async () => {
    let said = 0
    // The first answer ends only if it is cancelled.
    const provider = talker({ each: () => ++said === 1 ? new Promise(() => {}) : Promise.resolve() })
    await using server = await served(Mcp.handler, {}, { provider })
    const { client } = clientThat({ action: "cancel" })
    const [near, far] = InMemoryTransport.createLinkedPair()
    await (await Mcp.server(server.serve, "ada")).connect(far)
    await client.connect(near)
    const ask = (signal?: AbortSignal) =>
      client.callTool({ name: "ask_agent", arguments: { message: "hello", session: "mine" } }, signal && { signal })
    const abort = new AbortController()
    const first = ask(abort.signal)
    while (said === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    abort.abort()
    await first.then(() => assert.fail("it was answered"), () => {})
    assert.include(JSON.stringify((await ask()).content), "You said: hello")
    await client.close()
  })

  it("has one tool, whose sessions can be continued by their principal only", async () => {
    await using server = await served(Mcp.handler)
    const { ask, client } = await overHttp(server.url, { action: "cancel" })
    assert.deepStrictEqual((await client.listTools()).tools, [{
      name: "ask_agent",
      description: "Sends a message to the agent and returns its answer.",
      inputSchema: {
        type: "object",
        properties: {
          message: { type: "string", description: "The message" },
          session: {
            type: "string",
            description: "The session of an earlier answer, to continue it. Default: a new one"
          }
        },
        required: ["message"]
      },
      outputSchema: {
        type: "object",
        properties: { text: { type: "string" }, session: { type: "string" } },
        required: ["text", "session"]
      }
    }])
    const first = await ask("hello")
    assert.strictEqual(first.text, "You said: hello (1)")
    assert.strictEqual((await ask("again", first.session)).text, "You said: again (3)")
    const eve = await overHttp(server.url, { action: "cancel" }, "eve")
    assert.strictEqual((await eve.ask("hello", first.session)).text, "You said: hello (1)")
    assert.isTrue((await ask("")).isError)
    await client.close()
    await eve.client.close()
  })

  it("asks the client, over HTTP without a connection that waits", async () => {
    await using server = await served(Mcp.handler)
    const yes = await overHttp(server.url, { action: "accept", content: { approve: true } })
    assert.strictEqual((await yes.ask("call delete_file")).text, "Result: deleted")
    assert.match(yes.asked.join(), /delete_file .*really\?/)
    const no = await overHttp(server.url, { action: "accept", content: { approve: false, reason: "keep it" } })
    assert.match((await no.ask("call delete_file")).text, /keep it/)
    const away = await overHttp(server.url, { action: "decline" })
    assert.match((await away.ask("call delete_file")).text, /denied/)
    assert.deepStrictEqual(server.log, ["delete_file"])
    for (const { client } of [yes, no, away]) await client.close()
  })

  it("asks a client of an older revision, over a connection", async () => {
    await using server = await served(Mcp.handler)
    const [near, far] = InMemoryTransport.createLinkedPair()
    await (await Mcp.server(server.serve, "ada")).connect(far)
    const { ask, asked, client } = clientThat({ action: "accept", content: { approve: true } })
    await client.connect(near)
    assert.strictEqual((await ask("call delete_file")).text, "Result: deleted")
    assert.lengthOf(asked, 1)
    await client.close()
  })

  it("can have another name, and says what is wrong with its arguments", async () => {
    await using server = await served(Mcp.handler)
    const [near, far] = InMemoryTransport.createLinkedPair()
    await (await Mcp.server(server.serve, "ada", { tool: "helper", description: "helps" })).connect(far)
    const { ask, client } = clientThat({ action: "cancel" })
    await client.connect(near)
    assert.deepStrictEqual(client.getServerVersion(), { name: server.serve.model, version: "1.0.0" })
    assert.deepStrictEqual((await client.listTools()).tools.map(({ description, name }) => [name, description]), [
      ["helper", "helps"]
    ])
    assert.deepStrictEqual(await ask("hello"), {
      text: "there is no tool ask_agent",
      isError: true,
      session: undefined as never
    })
    await client.close()
    const wrong = (...args: ReadonlyArray<unknown>) =>
      (Mcp.server as (...all: ReadonlyArray<unknown>) => Promise<unknown>)(...args).catch((error: Error) =>
        error.message
      )
    const why = (serve: string, principal: string, options: string) =>
      "Mcp.server: it cannot use these values: " +
      `serve is ${serve}, principal is ${principal}, options is ${options}`
    const object = "a value of type object"
    assert.deepStrictEqual(
      await Promise.all([wrong({}, "ada"), wrong(server.serve, 1), wrong(server.serve, "a", null)]),
      [why(object, "\"ada\"", object), why(object, "1", object), why(object, "\"a\"", "nothing")]
    )
  })

  it("says nothing of what is inside when a turn fails, and refuses strangers", async () => {
    const hook = { name: "broken", kind: "policy", preTurn: () => Promise.reject(new Error("/srv/secret")) } as const
    await using server = await served(Mcp.handler, {}, { hooks: [hook] })
    const { ask, client } = await overHttp(server.url, { action: "cancel" })
    const answer = await ask("hi")
    assert.isTrue(answer.isError)
    assert.notInclude(answer.text, "secret")
    assert.strictEqual((await fetch(server.url, { method: "POST", body: "{}" })).status, 401)
    await client.close()
  })
})
