/** MCP servers over HTTP that start again, break off, report progress or refuse. */
import { createAgent } from "@belay/core/createAgent"
import * as McpServers from "@belay/providers/McpServers"
import * as McpTools from "@belay/providers/McpTools"
import * as Scripted from "@belay/testing/Scripted"
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import * as Effect from "effect/Effect"
import { setImmediate as turn } from "node:timers/promises"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { type SessionServer, sessionServer } from "../support/sessionServer.ts"

let server: SessionServer
let mcp: McpServers.McpServers
beforeEach(async () => {
  server = await sessionServer()
  mcp = McpServers.make({ web: { url: server.url } })
})
afterEach(async () => {
  await mcp.close()
  await server.stop()
})

const call = async () => (await Effect.runPromise(mcp.callTool("web", "count", {}))).content[0]?.["text"]
const failing = () => Effect.runPromise(Effect.flip(mcp.callTool("web", "count", {}))) as Promise<McpServers.McpError>

describe("an MCP server that starts again", () => {
  for (const status of [400, 404] as const) {
    it(`gets the next call on a new connection if it answers ${status} to the old session`, async () => {
      server.unknownSession = status
      assert.strictEqual(await call(), "1")
      await server.stop()
      await server.start()
      assert.strictEqual(await call(), "2")
      assert.deepStrictEqual([server.ran(), server.sessions()], [2, 2])
    })
  }

  it("gets the calls that were made while it was away, once each", async () => {
    assert.strictEqual(await call(), "1")
    await server.stop()
    const calls = [call(), call(), Effect.runPromise(mcp.listTools("web"))]
    for (let turns = 0; turns < 50; turns++) await turn()
    await server.start()
    const [first, second, tools] = await Promise.all(calls)
    assert.sameMembers([first, second], ["2", "3"])
    assert.lengthOf(tools as ReadonlyArray<unknown>, 1)
    assert.deepStrictEqual([server.ran(), server.sessions()], [3, 2])
  })

  it("is not waited for if it has never answered", async () => {
    await server.stop()
    const error = await failing()
    assert.strictEqual(error.fate, "not-sent")
    assert.match(
      error.message,
      /cannot connect to the MCP server "web" at http:\/\/127\.0\.0\.1:\d+\/mcp: .*ECONNREFUSED/
    )
    await server.start()
    assert.strictEqual(await call(), "1")
  })
})

describe("a call whose connection breaks", () => {
  for (const mode of ["break", "break-stream"] as const) {
    it(`fails with an unknown outcome and is not repeated (${mode})`, async () => {
      assert.strictEqual(await call(), "1")
      server.mode = mode
      const error = await failing()
      assert.strictEqual(error.fate, "unknown")
      assert.match(error.message, /^web: count: .*it is unknown whether the call ran: check before you repeat it/)
      assert.strictEqual(server.ran(), 2)
      server.mode = "answer"
      assert.strictEqual(await call(), "3")
    })
  }
})

describe("an MCP server that refuses", () => {
  it("is an error that says what was tried and what to do", async () => {
    server.mode = "refuse"
    assert.match(
      (await failing()).message,
      /at http.*\/mcp: .*answered 401: it wants a key, so set headers: \{ authorization/
    )
    await using known = McpServers.make({ web: { url: server.url, headers: { Authorization: "Bearer fake-0000" } } })
    const error = await Effect.runPromise(Effect.flip(known.listTools("web")))
    assert.match(String(error), /answered 401: it refuses the header `authorization`.*expired/)
    assert.notInclude(String(error), "fake-0000")
  })

  it("says so too when the key expires later", async () => {
    assert.strictEqual(await call(), "1")
    server.mode = "refuse"
    assert.match((await failing()).message, /^web: count: .*answered 401: it wants a key/)
  })
})

describe("progress of an MCP server", () => {
  it("is progress of the tool", async () => {
    server.mode = "progress"
    const client = new Client({ name: "test", version: "1.0.0" })
    await client.connect(new StreamableHTTPClientTransport(new URL(server.url)))
    const tools = await McpTools.fromClient(client, { server: "web" })
    const provider = Scripted.make([Scripted.toolCalls({ name: "mcp__web__count", args: {} }), "done"])
    await using agent = createAgent({ provider, tools })
    const seen: Array<unknown> = []
    for await (const event of agent.stream("go")) if (event.type === "tool-progress") seen.push(event.value)
    assert.deepStrictEqual(seen, [{ progress: 1, total: 2, message: "half" }])
    await client.close()
  })
})
