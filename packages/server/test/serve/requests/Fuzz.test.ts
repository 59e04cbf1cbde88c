/** Bodies that clients of JavaScript, scanners and broken programs send. */
import { ndJsonStream } from "@agentclientprotocol/sdk"
import { JsonValue } from "@belay/core/Message"
import * as Acp from "@belay/server/Acp"
import * as AgUi from "@belay/server/AgUi"
import * as Mcp from "@belay/server/Mcp"
import * as OpenAiChat from "@belay/server/OpenAiChat"
import * as OpenAiResponses from "@belay/server/OpenAiResponses"
import type { Handler, Serve } from "@belay/server/Serve"
import * as UiStream from "@belay/server/UiStream"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { served } from "../support/served.ts"

const tool = { name: "mine", description: "", parameters: { type: "object" } }
const call = { id: "c", type: "function", function: { name: "mine", arguments: "{}" } }

/** For each protocol, a request that uses much of it. */
const bases: ReadonlyArray<
  { readonly name: string; readonly path: string; readonly handler: (serve: Serve) => Handler; readonly body: unknown }
> = [
  {
    name: "chat completions",
    path: "/v1/chat/completions",
    handler: OpenAiChat.handler,
    body: {
      stream: true,
      stream_options: { include_usage: true },
      tools: [{ type: "function", function: tool }],
      metadata: { session_id: "s" },
      messages: [
        { role: "system", content: "be brief" },
        {
          role: "user",
          content: [{ type: "text", text: "a" }, { type: "image_url", image_url: { url: "https://a.example/b.png" } }]
        },
        { role: "assistant", content: null, tool_calls: [call] },
        { role: "tool", tool_call_id: "c", content: "d" },
        { role: "user", content: "call mine" }
      ]
    }
  },
  {
    name: "responses",
    path: "/v1/responses",
    handler: OpenAiResponses.handler,
    body: {
      stream: true,
      instructions: "be brief",
      conversation: { id: "s" },
      tools: [{ type: "function", ...tool }],
      input: [
        { type: "function_call", call_id: "c", name: "mine", arguments: "{}" },
        { type: "function_call_output", call_id: "c", output: "d" },
        { type: "mcp_approval_response", approval_request_id: "ask_1", approve: true },
        { role: "user", content: [{ type: "input_text", text: "call mine" }] }
      ]
    }
  },
  {
    name: "the UI stream",
    path: "/api/chat",
    handler: (serve) => UiStream.handler(serve),
    body: {
      id: "s",
      trigger: "submit-message",
      tools: [{ name: "mine", description: "", inputSchema: { type: "object" } }],
      messages: [{
        id: "m",
        role: "user",
        parts: [{ type: "text", text: "call mine" }, {
          type: "file",
          mediaType: "image/png",
          url: "data:image/png;base64,AA=="
        }]
      }]
    }
  },
  {
    name: "AG-UI",
    path: "/ag-ui",
    handler: AgUi.handler,
    body: {
      threadId: "s",
      runId: "r",
      tools: [{ name: "mine", description: "", parameters: { type: "object" } }],
      resume: [{ interruptId: "i", status: "resolved", payload: { approved: true, args: {} } }],
      messages: [
        { id: "t", role: "tool", toolCallId: "c", content: "d" },
        {
          id: "m",
          role: "user",
          content: [{ type: "text", text: "call mine" }, {
            type: "image",
            source: { type: "data", value: "AA==", mimeType: "image/png" }
          }]
        }
      ]
    }
  },
  {
    name: "MCP",
    path: "/mcp",
    handler: Mcp.handler,
    body: {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: {
        name: "ask_agent",
        arguments: { message: "call mine", session: "s" },
        requestState: "s",
        inputResponses: { ask_1: { action: "accept", content: { approve: true } } },
        _meta: {
          progressToken: 1,
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
          "io.modelcontextprotocol/clientInfo": { name: "fuzz", version: "1" }
        }
      }
    }
  }
]

/** Replaces the value at a place, which is counted through the whole body. `undefined` removes it. */
const mutate = (body: unknown, at: number, value: unknown): unknown => {
  let count = 0
  const walk = (one: unknown): unknown => {
    if (count++ === at) return value
    if (Array.isArray(one)) return one.map(walk)
    return typeof one === "object" && one !== null
      ? Object.fromEntries(Object.entries(one).map(([key, item]) => [key, walk(item)]))
      : one
  }
  return walk(body)
}

const Change = Schema.Struct({
  at: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 45 })),
  value: Schema.Union([JsonValue, Schema.Undefined])
})

const Changes = Schema.Array(Change).check(Schema.isMaxLength(3))

const where = { cwd: "/", mcpServers: [] }

/** Whether a message must be answered. */
const isRequest = (sent: unknown): sent is { readonly id: string; readonly [field: string]: unknown } => {
  const { id, jsonrpc, method } = Object(sent) as { readonly [field: string]: unknown }
  return id === "request" && jsonrpc === "2.0" && typeof method === "string"
}

/** An editor that writes any lines. */
const rawEditor = async (serve: Serve) => {
  const [toAgent, toClient] = [new TransformStream<Uint8Array>(), new TransformStream<Uint8Array>()]
  const closed = Acp.serveStream(serve, ndJsonStream(toClient.writable, toAgent.readable), { principal: "ada" })
  const writer = toAgent.writable.getWriter()
  let received = ""
  const waiting = new Map<string, (answer: { readonly result: { readonly sessionId: string } }) => void>()
  const read = async () => {
    for await (const piece of toClient.readable.pipeThrough(new TextDecoderStream())) {
      received += piece
      for (const line of received.split("\n").slice(0, -1)) {
        const { id, ...answer } = JSON.parse(line)
        waiting.get(id)?.(answer)
      }
    }
  }
  void read()
  const write = (line: string) => writer.write(new TextEncoder().encode(`${line}\n`))
  const ask = async (request: { readonly id: string; readonly [field: string]: unknown }) => {
    const answered = new Promise<{ readonly result: { readonly sessionId: string } }>((resolve) =>
      waiting.set(request.id, resolve)
    )
    await write(JSON.stringify(request))
    return await answered
  }
  const leave = async () => {
    await writer.close()
    await closed
  }
  await ask({ jsonrpc: "2.0", id: "initialize", method: "initialize", params: { protocolVersion: 1 } })
  return { ask, write, leave, received: () => received }
}

describe("a request with any content", () => {
  let server: Awaited<ReturnType<typeof served>>
  beforeAll(async () => void (server = await served(OpenAiChat.handler)))
  afterAll(() => server.close())

  for (const { body, handler, name, path } of bases) {
    it.effect.prop(
      `of ${name} gets an answer without a stack, and never hangs`,
      [Changes],
      ([changes]) =>
        Effect.promise(async () => {
          const sent = changes.reduce((before, { at, value }) => mutate(before, at, value), body)
          const answer = await handler(server.serve)(
            new Request(`http://localhost${path}`, {
              method: "POST",
              headers: {
                authorization: "Bearer token-ada",
                "x-session-id": crypto.randomUUID(),
                "content-type": "application/json",
                accept: "application/json, text/event-stream"
              },
              body: JSON.stringify(sent) ?? ""
            })
          )
          const text = await answer.text()
          assert.include([200, 202, 400, 404, 409, 413], answer.status, text)
          assert.notMatch(text, /\.ts:\d+|node_modules| at .*\(/)
        }),
      { arbitrary: { runs: 150 } }
    )
  }

  it.effect.prop(
    "of ACP gets an answer without a stack, and the editor can continue",
    [Schema.Literals(["session/new", "session/load", "session/set_mode", "session/prompt", "session/cancel"]), Changes],
    ([method, changes]) =>
      Effect.promise(async () => {
        const editor = await rawEditor(server.serve)
        const { result } = await editor.ask({ jsonrpc: "2.0", id: "new", method: "session/new", params: where })
        const params = {
          sessionId: result.sessionId,
          modeId: "allow",
          ...where,
          prompt: [
            { type: "text", text: "call mine" },
            { type: "image", data: "AA==", mimeType: "image/png" },
            { type: "resource", resource: { uri: "file:///a.ts", text: "a" } },
            { type: "resource_link", uri: "file:///b.ts", name: "b" }
          ]
        }
        const sent = changes.reduce((before, { at, value }) => mutate(before, at, value), {
          jsonrpc: "2.0",
          id: "request",
          method,
          params
        } as unknown)
        const answers = method === "session/cancel" || !isRequest(sent) ? [] : [await editor.ask(sent)]
        if (answers.length === 0) await editor.write(JSON.stringify(sent) ?? "")
        await editor.write("{ not JSON")
        answers.push(await editor.ask({ jsonrpc: "2.0", id: "last", method: "session/new", params: where }))
        assert.isString(answers.at(-1)!.result.sessionId)
        assert.notMatch(editor.received(), /\.ts:\d+|node_modules| at .*\(/)
        await editor.leave()
      }),
    { arbitrary: { runs: 150 } }
  )

  it("has shown no error of the server", () => assert.deepStrictEqual(server.errors, []))
})
