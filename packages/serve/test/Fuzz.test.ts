/** Bodies that clients of JavaScript, scanners and broken programs send. */
import { JsonValue } from "@belay/core/Message"
import * as AgUi from "@belay/serve/AgUi"
import * as Mcp from "@belay/serve/Mcp"
import * as OpenAiChat from "@belay/serve/OpenAiChat"
import * as OpenAiResponses from "@belay/serve/OpenAiResponses"
import type { Handler, Serve } from "@belay/serve/Serve"
import * as UiStream from "@belay/serve/UiStream"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { served } from "./support/served.ts"

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

describe("a request with any content", () => {
  let server: Awaited<ReturnType<typeof served>>
  beforeAll(async () => void (server = await served(OpenAiChat.handler)))
  afterAll(() => server.close())

  for (const { body, handler, name, path } of bases) {
    it.effect.prop(
      `of ${name} gets an answer without a stack, and never hangs`,
      [Schema.Array(Change).check(Schema.isMaxLength(3))],
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

  it("has shown no error of the server", () => assert.deepStrictEqual(server.errors, []))
})
