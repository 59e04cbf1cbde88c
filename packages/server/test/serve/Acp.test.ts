/** The agent in an editor, with the client of the SDK. */
import * as acp from "@agentclientprotocol/sdk"
import { defineTool } from "@belay/core/defineTool"
import * as Acp from "@belay/server/Acp"
import * as OpenAiChat from "@belay/server/OpenAiChat"
import type { Serve } from "@belay/server/Serve"
import { assert, describe, it } from "vitest"
import { served, talker } from "./support/served.ts"

/** An editor that answers permission requests like this. */
const editor = async (serve: Serve, principal = "ada") => {
  const [toAgent, toClient] = [new TransformStream<Uint8Array>(), new TransformStream<Uint8Array>()]
  const closed = Acp.serveStream(serve, acp.ndJsonStream(toClient.writable, toAgent.readable), { principal })
  const state = { answer: "allow", asked: [] as Array<string>, updates: [] as Array<acp.SessionUpdate> }
  const connection = acp.client({ name: "test" })
    .onNotification("session/update", ({ params }) => void state.updates.push(params.update))
    .onRequest("session/request_permission", ({ params }) => {
      state.asked.push(params.toolCall.title ?? "")
      if (state.answer === "never") return new Promise<never>(() => {})
      return state.answer === "cancel"
        ? { outcome: { outcome: "cancelled" as const } }
        : { outcome: { outcome: "selected" as const, optionId: state.answer } }
    })
    .connect(acp.ndJsonStream(toAgent.writable, toClient.readable))
  const { agent } = connection
  const start = await agent.request("initialize", { protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities: {} })
  const open = () => agent.request("session/new", { cwd: "/", mcpServers: [] })
  const say = async (sessionId: string, text: string) => {
    state.updates.length = 0
    return (await agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] })).stopReason
  }
  const text = () =>
    state.updates.map((update) =>
      update.sessionUpdate === "agent_message_chunk" && update.content.type === "text" ? update.content.text : ""
    ).join("")
  const leave = async () => {
    connection.close()
    // A pipe ends with its process.
    await toAgent.writable.close()
    await closed
  }
  return { agent, start, state, open, say, text, leave }
}
const failure = async (promise: PromiseLike<unknown>): Promise<{ readonly [field: string]: unknown }> =>
  Object(await promise.then(() => ({ message: "it did not fail" }), (error: unknown) => error))
const until = async (is: () => boolean) => {
  while (!is()) await new Promise((resolve) => setTimeout(resolve, 5))
}

describe("ACP", () => {
  it("shows text and tool calls, and reads what a prompt links to", async () => {
    await using server = await served(OpenAiChat.handler)
    const { agent, leave, open, say, start, state, text } = await editor(server.serve)
    assert.deepStrictEqual(start.agentInfo, { name: server.serve.model, version: "0.1.0" })
    assert.deepStrictEqual(start.agentCapabilities, {
      loadSession: true,
      promptCapabilities: { image: true, audio: true, embeddedContext: true },
      mcpCapabilities: { http: false, sse: false }
    })
    const { sessionId } = await open()
    assert.strictEqual(await say(sessionId, "call weather"), "end_turn")
    assert.strictEqual(text(), "Let me look.Result: {\"degrees\":21}")
    const calls = state.updates.flatMap((update) =>
      update.sessionUpdate === "tool_call" || update.sessionUpdate === "tool_call_update" ? [update.status] : []
    )
    assert.deepStrictEqual(calls, ["in_progress", "completed"])
    state.updates.length = 0
    const resource = { uri: "file:///a.ts", text: "const a = 1" }
    const prompt = [{ type: "text" as const, text: "see" }, { type: "resource" as const, resource }]
    await agent.request("session/prompt", { sessionId, prompt })
    assert.include(text(), "file:///a.ts:\nconst a = 1")
    await leave()
  })

  it("shows that a tool has failed", async () => {
    const fails = defineTool({
      name: "fails",
      description: "Fails",
      input: { type: "object" },
      execute: () => Promise.reject(new Error("no paper"))
    })
    await using server = await served(OpenAiChat.handler, {}, { tools: [fails] })
    const { leave, open, say, state } = await editor(server.serve)
    await say((await open()).sessionId, "call fails")
    const last = state.updates.findLast(({ sessionUpdate }) => sessionUpdate === "tool_call_update")
    assert.deepInclude(last, { status: "failed", rawOutput: "no paper" })
    await leave()
  })

  it("reports no error of the server when the editor leaves during a question", async () => {
    await using server = await served(OpenAiChat.handler)
    const { leave, open, say, state } = await editor(server.serve)
    const { sessionId } = await open()
    state.answer = "never"
    const answer = failure(say(sessionId, "call delete_file"))
    await until(() => state.asked.length === 1)
    await leave()
    assert.match(String((await answer)["message"]), /closed/)
    for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve))
    assert.deepStrictEqual(server.errors, [])
  })

  it("asks for permission: allowed once, rejected, and allowed always", async () => {
    await using server = await served(OpenAiChat.handler)
    const { leave, open, say, state, text } = await editor(server.serve)
    const { sessionId } = await open()
    await say(sessionId, "call delete_file")
    assert.deepStrictEqual([state.asked.length, text()], [1, "Let me look.Result: deleted"])
    state.answer = "reject"
    assert.strictEqual(await say(sessionId, "call delete_file"), "end_turn")
    assert.match(text(), /rejected in the editor/)
    state.answer = "cancel"
    assert.strictEqual(await say(sessionId, "call delete_file"), "cancelled")
    state.answer = "always"
    await say(sessionId, "call delete_file")
    await say(sessionId, "call delete_file")
    assert.strictEqual(state.asked.length, 4)
    assert.lengthOf(server.log, 3)
    const other = await open()
    await say(other.sessionId, "call delete_file")
    assert.strictEqual(state.asked.length, 5)
    await leave()
  })

  it("has a mode that gives every permission in a session", async () => {
    await using server = await served(OpenAiChat.handler)
    const { agent, leave, open, say, state } = await editor(server.serve)
    const { modes, sessionId } = await open()
    assert.strictEqual(modes?.currentModeId, "ask")
    await agent.request("session/set_mode", { sessionId, modeId: "allow" })
    await say(sessionId, "call delete_file")
    assert.deepStrictEqual([state.asked, server.log], [[], ["delete_file"]])
    const modeNow = async () => (await agent.request("session/load", { sessionId, cwd: "/", mcpServers: [] })).modes
    assert.deepStrictEqual(await modeNow(), {
      currentModeId: "allow",
      availableModes: [
        { id: "ask", name: "Ask", description: "Asks for permission where the agent wants one" },
        { id: "allow", name: "Allow all", description: "Gives every permission in this session" }
      ]
    })
    await agent.request("session/set_mode", { sessionId, modeId: "ask" })
    assert.strictEqual((await modeNow())?.currentModeId, "ask")
    await say(sessionId, "call delete_file")
    assert.lengthOf(state.asked, 1)
    assert.match(
      String((await failure(agent.request("session/set_mode", { sessionId, modeId: "x" })))["message"]),
      /no mode x/
    )
    await leave()
  })

  it("loads a session in another editor of the same principal only", async () => {
    await using server = await served(OpenAiChat.handler)
    const first = await editor(server.serve)
    const { sessionId } = await first.open()
    await first.say(sessionId, "call weather")
    await first.leave()
    const second = await editor(server.serve)
    await second.agent.request("session/load", { sessionId, cwd: "/", mcpServers: [] })
    assert.deepStrictEqual(second.state.updates.map(({ sessionUpdate }) => sessionUpdate), [
      "user_message_chunk",
      "agent_message_chunk",
      "tool_call",
      "agent_message_chunk"
    ])
    assert.strictEqual(await second.say(sessionId, "again"), "end_turn")
    assert.include(second.text(), "You said: again (5)")
    const eve = await editor(server.serve, "eve")
    for (const id of [sessionId, "../x", ""]) {
      const error = await failure(eve.agent.request("session/load", { sessionId: id, cwd: "/", mcpServers: [] }))
      assert.match(String(error["message"]), /not found/i)
    }
    await second.leave()
    await eve.leave()
  })

  it("refuses MCP servers of the editor by name, and says that it has no use for them", async () => {
    await using server = await served(OpenAiChat.handler)
    const { agent, leave, open } = await editor(server.serve)
    const { sessionId } = await open()
    const mcpServers = [{ name: "files", command: "mcp-files", args: [], env: [] }]
    for (const [method, more] of [["session/new", {}], ["session/load", { sessionId }]] as const) {
      const error = await failure(agent.request(method, { ...more, cwd: "/", mcpServers } as never))
      assert.match(String(error["message"]), /does not start MCP servers of the editor \(files\)/)
    }
    await leave()
  })

  it("cancels a turn, also one that goes on after a question", async () => {
    let isSlow = false
    let words = 0
    // The second answer ends only if it is cancelled.
    const provider = talker({ each: () => isSlow && ++words > 1 ? new Promise(() => {}) : Promise.resolve() })
    await using server = await served(OpenAiChat.handler, {}, {
      provider: {
        ...provider,
        stream: (request, sink) => {
          isSlow = request.messages.at(-1)?.role === "tool"
          return provider.stream!(request, sink)
        }
      }
    })
    const { agent, leave, open, say, state, text } = await editor(server.serve)
    const { sessionId } = await open()
    const asked = say(sessionId, "call delete_file")
    await until(() => text().includes("Result:"))
    await agent.notify("session/cancel", { sessionId })
    assert.strictEqual(await asked, "cancelled")
    assert.lengthOf(state.asked, 1)
    assert.strictEqual(await say(sessionId, "hello"), "end_turn")
    assert.include(text(), "You said: hello")
    await leave()
  })

  it("cancels the turn that runs and those that wait for it", async () => {
    // No answer ends if it is not cancelled.
    await using server = await served(OpenAiChat.handler, {}, {
      provider: talker({ each: () => new Promise(() => {}) })
    })
    const { agent, leave, open, say } = await editor(server.serve)
    const { sessionId } = await open()
    const asked = [say(sessionId, "hello"), say(sessionId, "and you")]
    // The agent has read the prompts when it answers this.
    await open()
    await agent.notify("session/cancel", { sessionId })
    assert.deepStrictEqual(await Promise.all(asked), ["cancelled", "cancelled"])
    await leave()
  })

  it("cancels a turn whose question the editor does not answer any more", async () => {
    await using server = await served(OpenAiChat.handler)
    const { agent, leave, open, say, state } = await editor(server.serve)
    const { sessionId } = await open()
    state.answer = "never"
    const asked = say(sessionId, "call delete_file")
    await until(() => state.asked.length === 1)
    await agent.notify("session/cancel", { sessionId })
    assert.strictEqual(await asked, "cancelled")
    assert.strictEqual(await say(sessionId, "hello"), "end_turn")
    await leave()
  })

  it("cancels a turn that has not begun, because the store is slow", async () => {
    await using server = await served(OpenAiChat.handler)
    const { serve } = server
    let goOn = (): void => {}
    const isCancelled = new Promise<void>((resolve) => goOn = resolve)
    const conversation = async (id: string) => {
      await isCancelled
      return await serve.host.conversation(id)
    }
    // A promise is enough for what awaits it.
    const host = { ...serve.host, conversation: conversation as never }
    const { agent, leave, open, say, state } = await editor({ ...serve, host })
    const { sessionId } = await open()
    const asked = say(sessionId, "call delete_file")
    await agent.notify("session/cancel", { sessionId })
    // The agent has read the notification when it answers this.
    await open()
    goOn()
    assert.strictEqual(await asked, "cancelled")
    assert.lengthOf(state.asked, 0)
    await leave()
  })

  it("takes a new message in place of a question that an editor left open", async () => {
    await using server = await served(OpenAiChat.handler)
    const first = await editor(server.serve)
    const { sessionId } = await first.open()
    first.state.answer = "never"
    void first.say(sessionId, "call delete_file").catch(() => {})
    await until(() => first.state.asked.length === 1)
    const second = await editor(server.serve)
    assert.strictEqual(await second.say(sessionId, "hello"), "end_turn")
    assert.include(second.text(), "You said: hello")
    assert.deepStrictEqual([second.state.asked, server.log], [[], []])
    await second.leave()
    await first.leave()
  })

  it("says nothing of what is inside when a turn fails", async () => {
    const provider = talker({ before: () => Promise.reject(new Error("/srv/secret")) })
    await using server = await served(OpenAiChat.handler, {}, { provider })
    const { leave, open, say } = await editor(server.serve)
    const error = await failure(say((await open()).sessionId, "hi"))
    assert.notInclude(JSON.stringify(error), "secret")
    assert.match(String(error["message"]), /the agent failed/)
    await leave()
  })

  it("does not begin without the name of who uses the editor", async () => {
    await using server = await served(OpenAiChat.handler)
    const stream = acp.ndJsonStream(new WritableStream(), new ReadableStream())
    for (const options of [undefined, {}, { principal: "" }, { principal: 1 }]) {
      const { message } = await failure(Acp.serveStream(server.serve, stream, options as never))
      assert.match(String(message), /^Acp\.principal: expected the name of who uses the editor/)
    }
    const { message } = await failure(Acp.serveStream(server.serve.host as never, stream, { principal: "ada" }))
    assert.match(String(message), /^Acp\.serve: expected what Serve\.make returns/)
  })
})
