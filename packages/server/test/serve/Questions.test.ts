/** An answer counts for the question that was shown, in its thread and its turn, and says no more than it says. */
import type { LlmProvider } from "@belay/core/LlmProvider"
import { fromPromise } from "@belay/core/LlmProvider"
import * as AgUi from "@belay/server/AgUi"
import * as OpenAiChat from "@belay/server/OpenAiChat"
import * as OpenAiResponses from "@belay/server/OpenAiResponses"
import * as Serve from "@belay/server/Serve"
import * as UiStream from "@belay/server/UiStream"
import { assert, describe, it } from "vitest"
import { bodyOf, chatBody, request, uiBody } from "./support/requests.ts"
import { served, talker, tools } from "./support/served.ts"

/** A model that always makes the same call, with the same id. */
const repeating = (id: string): LlmProvider =>
  fromPromise({
    name: "repeating",
    complete: async ({ messages }) => {
      const isDone = messages.at(-1)?.role === "tool"
      return {
        model: "repeating",
        text: isDone ? "done" : "",
        toolCalls: isDone ? [] : [{ id, name: "delete_file", args: { path: "a" } }],
        finishReason: isDone ? "stop" : "tool-calls"
      }
    }
  })

const all = (serve: Serve.Serve) =>
  Serve.route({
    "/v1/responses": OpenAiResponses.handler(serve),
    "/v1": OpenAiChat.handler(serve),
    "/api/chat": UiStream.handler(serve),
    "/ag-ui": AgUi.handler(serve)
  })

describe("the id of a question", () => {
  it("is another one in another thread, so that one answer runs the tool of one thread", async () => {
    const log: Array<string> = []
    const server = await served(all, {}, { provider: repeating("same"), tools: tools(log) })
    const handle = all(server.serve)
    const run = async (threadId: string, rest: object = {}) => {
      const messages = [{ id: "m", role: "user", content: "delete it" }]
      const body = { threadId, runId: crypto.randomUUID(), messages, ...rest }
      const text = await (await handle(request("/ag-ui", body))).text()
      const frames = text.split("\n\n").filter((one) => one.startsWith("data: ")).map((one) => JSON.parse(one.slice(6)))
      return frames.at(-1)?.outcome?.interrupts?.[0]?.id as string | undefined
    }
    const [first, second] = [await run("one"), await run("two")]
    assert.isString(first)
    assert.notStrictEqual(first, second)
    const approved = { resume: [{ interruptId: first, status: "resolved", payload: { approved: true } }] }
    await run("one", approved)
    assert.deepStrictEqual(log, ["delete_file"])
    // The same answer, sent to the other thread and again to its own, where the same question is open again.
    await run("two", approved)
    const again = await run("one")
    assert.notStrictEqual(again, first)
    await run("one", approved)
    assert.deepStrictEqual(log, ["delete_file"])
    await server.close()
  })

  it.for(["__proto__", "constructor", "toString", "hasOwnProperty"])(
    "can be answered for a call that the model names %s",
    async (id) => {
      for (const path of ["/ag-ui", "/v1/chat/completions", "/v1/responses", "/api/chat"]) {
        const log: Array<string> = []
        await using server = await served(all, {}, { provider: repeating(id), tools: tools(log) })
        const handle = all(server.serve)
        const post = async (body: object) => await (await handle(request(path, body))).text()
        const asked = await post(bodyOf[path]!("delete it"))
        const ask = /ask_[\w-]{22}/.exec(asked)?.[0]
        if (path === "/ag-ui") {
          const resume = [{ interruptId: ask, status: "resolved", payload: { approved: true } }]
          await post({ ...bodyOf[path]!("x"), resume })
        } else if (path === "/v1/responses") {
          const input = [{ type: "mcp_approval_response", approval_request_id: ask, approve: true }]
          await post({ previous_response_id: JSON.parse(asked).id, input })
        } else if (path === "/api/chat") {
          const approval = { id: ask, approved: true }
          const parts = [{ type: "dynamic-tool", toolCallId: "x", state: "approval-responded", approval }]
          await post({ id: "c1", messages: [{ id: "a", role: "assistant", parts }] })
        } else {
          const { message } = JSON.parse(asked).choices[0]
          await post({ messages: [{ role: "user", content: "delete it" }, message, { role: "user", content: "yes" }] })
        }
        assert.deepStrictEqual(log, ["delete_file"], path)
      }
    }
  )

  it.for(["__proto__", "constructor", "toString"])("works in a thread and a session that is named %s", async (name) => {
    await using server = await served(all)
    const handle = all(server.serve)
    const say = async (path: string, body: object) => await (await handle(request(path, body))).text()
    // All protocols have the same sessions.
    assert.include(await say("/ag-ui", { ...bodyOf["/ag-ui"]!("hello"), threadId: name, runId: name }), "(1)")
    assert.include(await say("/api/chat", uiBody(name, "hello")), "hello")
    assert.include(await say("/v1/chat/completions", chatBody("hi", { metadata: { session_id: name } })), "(5)")
    assert.include(await say("/v1/chat/completions", chatBody("hi", { metadata: { session_id: name } })), "(7)")
    assert.include(await say("/v1/responses", { input: "hello", conversation: name }), "hello")
  })
})

describe("a denial", () => {
  it("does not run the tool, also if it carries arguments or asks to be remembered", async () => {
    for (const payload of [{ approved: false, args: { path: "b" } }, { approved: false, always: true }, { args: {} }]) {
      const log: Array<string> = []
      await using server = await served(all, {}, { provider: repeating("c"), tools: tools(log) })
      const handle = all(server.serve)
      const asked = await (await handle(request("/ag-ui", bodyOf["/ag-ui"]!("delete it")))).text()
      const interruptId = /ask_[\w-]{22}/.exec(asked)![0]
      const resume = [{ interruptId, status: "resolved", payload }]
      const answer = await (await handle(request("/ag-ui", { ...bodyOf["/ag-ui"]!("x"), resume }))).text()
      assert.include(answer, "done")
      assert.deepStrictEqual(log, [])
      assert.include(
        JSON.stringify(await server.serve.host.conversation((await server.serve.host.list())[0]!.id)),
        "denied"
      )
    }
  })
})

describe("tools of clients", () => {
  it("are refused in every protocol, unless the server takes them", async () => {
    const parameters = { type: "object" }
    const nested = [{ type: "function", function: { name: "look", description: "", parameters } }]
    const flat = [{ type: "function", name: "look", description: "", parameters, inputSchema: parameters }]
    for (const path of ["/ag-ui", "/v1/chat/completions", "/v1/responses", "/api/chat"]) {
      await using server = await served(all, { clientTools: false }, { provider: talker() })
      const sent = { ...bodyOf[path]!("call look"), tools: path === "/v1/chat/completions" ? nested : flat }
      const answer = await all(server.serve)(request(path, sent))
      assert.strictEqual(answer.status, 400, path)
      assert.include(await answer.text(), "no tools of clients")
    }
  })
})

describe("an empty principal", () => {
  it("is nobody", async () => {
    for (const path of Object.keys(bodyOf)) {
      await using server = await served(all, { authorize: () => "" })
      assert.strictEqual((await all(server.serve)(request(path, bodyOf[path]!("hi")))).status, 401)
      assert.lengthOf(await server.serve.host.list(), 0)
    }
  })
})
