/** What each protocol reads from a request, letter by letter, and what is shown of a stored conversation. */
import type { Message } from "@belay/core/Message"
import type { Conversation } from "@belay/server/Host"
import { describe, expect, it } from "vitest"
import { promptOf, replay } from "../../../src/serve/internal/acp/prompt.ts"
import { readAgUi } from "../../../src/serve/internal/agUi/readAgUi.ts"
import { readChat } from "../../../src/serve/internal/chat/readChat.ts"
import { isYes, markOf } from "../../../src/serve/internal/chat/writeChat.ts"
import { errorBody, modelOf, sessionNameOf } from "../../../src/serve/internal/openAi.ts"
import { decisionOf } from "../../../src/serve/internal/questions.ts"
import { Refusal, statusOf } from "../../../src/serve/internal/refusal.ts"
import { readResponses } from "../../../src/serve/internal/responses/readResponses.ts"
import { readUi } from "../../../src/serve/internal/ui/readUi.ts"
import { storedMessages } from "../../../src/serve/internal/ui/storedUi.ts"
import { token } from "../support/rareTurns.ts"

/** A value as a line. Maps are lists, and what is refused is the field and the text. */
const shown = (make: () => unknown): string => {
  try {
    return JSON.stringify(make(), (_, value: unknown) => value instanceof Map ? [...value] : value)
  } catch (error) {
    const { field, message } = error as Refusal
    return `refused: ${field ?? ""}: ${message}`
  }
}

const user = (content: unknown) => ({ role: "user", content })
const hi = user("hi")
const png = "data:image/png;base64,AA=="
const fn = (more: object) => ({ type: "function", ...more })

/** Contents of messages in chat completions and in Responses. */
const contents: ReadonlyArray<unknown> = [
  "text",
  "",
  null,
  undefined,
  5,
  [{ type: "text", text: "a" }, { type: "input_text", text: "b" }, { type: "output_text", text: "c" }],
  [{ type: "refusal", refusal: "no" }, { type: "text" }, "odd"],
  [{ type: "text", text: 5 }],
  ...["png", "gif", "webp", "pdf", "mp3", "wav", "PNG", "jpg", "png?x=1", "png#x", "other"].map((ending) => [
    { type: "image_url", image_url: { url: `https://example.com/a.${ending}` } }
  ]),
  [{ type: "image_url", image_url: { url: png } }, { type: "input_image", image_url: png }],
  [{ type: "image_url", image_url: { url: "http://example.com/a.png" } }],
  [{ type: "image_url" }],
  [{ type: "file", file: { file_data: png, filename: "a.png" } }, {
    type: "input_file",
    file_url: "https://a.b/c.pdf"
  }],
  [{ type: "file", file: {} }],
  [{ type: "input_audio", input_audio: { data: "AA==", format: "wav" } }]
]

const call = { id: "c1", function: { name: "look", arguments: "{\"a\":1}" } }
const chats: ReadonlyArray<unknown> = [
  ...contents.map((content) => ({ messages: [user(content)] })),
  null,
  [],
  {},
  { messages: [] },
  { messages: [{ role: "system", content: "only" }] },
  { messages: ["odd"] },
  { messages: [{ role: "boss", content: "x" }] },
  { messages: [{ role: "system", content: "s" }, { role: "developer", content: [{ type: "text", text: "d" }] }, hi] },
  {
    messages: [hi, { role: "assistant", content: null, tool_calls: [call] }, {
      role: "tool",
      tool_call_id: "c1",
      content: "r"
    }]
  },
  {
    messages: [hi, { role: "assistant", tool_calls: [{}, { function: { arguments: "{" } }] }, {
      role: "tool",
      content: "r"
    }, hi]
  },
  { messages: [hi, { role: "assistant", tool_calls: null }, { role: "tool", tool_call_id: "c9" }] },
  { messages: [hi, { role: "assistant", tool_calls: 5 }] },
  { messages: [hi, { role: "assistant", tool_calls: [{ id: 5 }] }] },
  { messages: [hi, { role: "tool", tool_call_id: 5 }] },
  { messages: [hi], stream: true, stream_options: { include_usage: true } },
  { messages: [hi], stream: 1, stream_options: { include_usage: 1 } },
  ...[{ n: 1 }, { n: 2 }, { functions: [] }, { response_format: { type: "text" } }, { response_format: { type: "x" } }]
    .map((more) => ({
      messages: [hi],
      ...more
    })),
  ...[{ modalities: ["text"] }, { modalities: ["audio"] }, { logprobs: false }, { logprobs: true }, { n: null }].map((
    more
  ) => ({
    messages: [hi],
    ...more
  })),
  ...["auto", "none", "required"].map((tool_choice) => ({ messages: [hi], tool_choice, tools: [fn({ name: "a" })] })),
  { messages: [hi], tools: 5 },
  { messages: [hi], tools: [{ type: "other" }] },
  {
    messages: [hi],
    tools: [fn({ function: { name: "a", description: "d", parameters: { type: "object", x: 1 } } }), fn({})]
  },
  { messages: [hi], tools: [fn({ function: { name: 5 } })] }
]

const item = (type: string, more: object) => ({ type, ...more })
const responses: ReadonlyArray<{ readonly [field: string]: unknown }> = [
  ...contents.map((content) => ({ input: [user(content)] })),
  {},
  { input: "hi", instructions: "be kind", previous_response_id: "resp_1", conversation: "name", stream: true },
  { input: "hi", instructions: "", conversation: { id: "conv" }, background: true },
  { input: "hi", instructions: 5 },
  { input: [] },
  { input: [hi, { role: "assistant", content: "ok" }] },
  { input: [hi, { role: "developer", content: "d" }] },
  { input: [{ content: "no role" }] },
  { input: [{ role: "boss", content: "x" }] },
  { input: [item("dream", {})] },
  {
    input: [
      item("function_call", { call_id: "c1", name: "look", arguments: "{\"a\":1}" }),
      item("function_call_output", { call_id: "c1", output: "r" })
    ]
  },
  { input: [item("function_call", {}), item("function_call_output", { output: [{ type: "input_text", text: "r" }] })] },
  { input: [item("function_call_output", { call_id: "c9", output: "r" })] },
  { input: [item("function_call_output", { call_id: 5 })] },
  { input: [item("function_call", { name: 5 })] },
  { input: [item("mcp_approval_response", { approval_request_id: "q", approve: true, reason: "r" })] },
  {
    input: [
      item("mcp_approval_response", { approve: "yes" }),
      item("mcp_approval_request", {}),
      item("mcp_call", {}),
      item("reasoning", {})
    ]
  },
  ...[{ text: { format: { type: "text" } } }, { text: { format: { type: "json_object" } } }, { text: {} }, {
    prompt: {}
  }].map((more) => ({
    input: "hi",
    ...more
  })),
  ...["auto", "none", "required"].map((tool_choice) => ({ input: "hi", tool_choice, tools: [fn({ name: "a" })] }))
]

const part = (type: string, more: object = {}) => ({ type, ...more })
const chat = (parts: unknown, role = "user", more: object = {}) => ({
  id: "c",
  messages: [{ id: "m1", role, parts }],
  ...more
})
const uis: ReadonlyArray<unknown> = [
  null,
  { id: 5 },
  { id: "c" },
  chat([
    part("text", { text: "a" }),
    part("file", { url: png, mediaType: "image/png", filename: "a.png" }),
    part("text")
  ]),
  chat([part("file", { url: "https://a.b/c.wav" }), part("step-start"), "odd"]),
  chat([part("file", {})]),
  chat([part("text", { text: 5 })]),
  chat(5),
  chat([], "tool"),
  chat([], "user", { messages: [{ role: "user", parts: [] }] }),
  chat([], "assistant", { messages: [{ role: "assistant", parts: [] }] }),
  chat([], "assistant", { messages: [{ id: "x".repeat(201), role: "assistant", parts: [] }] }),
  chat([part("tool", { state: "approval-responded", approval: { id: "q", approved: true, reason: 5 } })]),
  chat([part("tool", { state: "approval-responded", approval: { id: "q", approved: true, reason: 5 } })], "assistant"),
  chat([part("tool", { state: "output-available", toolCallId: "c1", output: { a: 1 } })], "assistant"),
  chat([], "user", {
    messages: [{ role: "system", parts: [part("text", { text: "s" })] }, { role: "user", parts: [] }]
  }),
  chat([], "user", {
    tools: [{ name: "a", description: "d", inputSchema: { x: 1 } }, {}],
    trigger: "regenerate-message"
  }),
  chat([], "user", { tools: 5 })
]

const agUi = (more: object) => ({ threadId: "t", runId: "r", messages: [hi], ...more })
const source = (more: object) => ({ messages: [user([part("image", { source: more })])] })
const agUis: ReadonlyArray<unknown> = [
  null,
  agUi({}),
  agUi({ runId: 5 }),
  agUi({ messages: 5 }),
  agUi({ messages: [] }),
  agUi({ messages: [user([part("text"), part("text", { text: "b" })])] }),
  agUi(source({ type: "data", value: "AA==", mimeType: "image/png" })),
  agUi(source({ type: "data", value: "AA==", mimeType: 5 })),
  agUi(source({ type: "url", value: "https://a.b/c.pdf" })),
  agUi(source({ type: "url", value: "ftp://a.b/c.pdf" })),
  agUi(source({})),
  agUi({ messages: [{ role: "system" }, { role: "developer", content: "d" }, hi] }),
  agUi({ messages: [{ role: "tool", toolCallId: "c1", content: "r" }, { role: "tool", toolCallId: 5 }] }),
  agUi({
    resume: [{ interruptId: "q", status: "resolved", payload: { approved: true, args: { a: 1 }, reason: "r" } }, {}]
  }),
  agUi({ resume: 5 }),
  agUi({
    tools: [{ name: "a", description: "d", parameters: { x: 1 } }, {}],
    context: [{ description: "d", value: 5 }, {}]
  }),
  agUi({ context: [{ description: 5 }] }),
  agUi({ state: { a: 1 } }),
  agUi({ state: [] })
]

const messages: ReadonlyArray<Message> = [
  { role: "user", content: "before", key: "k0" },
  { role: "user", content: "of a hook", source: "hook" },
  {
    role: "assistant",
    content: "looks",
    reasoning: "hm",
    files: [{ type: "file", mediaType: "image/png", url: png }],
    toolCalls: [
      { id: "c1", name: "look", args: { a: 1 }, changed: { by: ["edits"] } },
      { id: "c2", name: "look", args: {} },
      { id: "c3", name: "look", args: {} }
    ]
  },
  { role: "tool", toolCallId: "c1", toolName: "look", content: "seen" },
  { role: "tool", toolCallId: "c2", toolName: "look", content: "no disk", isError: true },
  { role: "assistant", content: "" },
  { role: "user", content: [{ type: "text", text: "more" }, { type: "file", mediaType: "image/png", url: png }] }
] as never

const waiting = (more: object): Conversation =>
  ({ messages, turnNumber: 2, open: [], waiting: { type: "nothing" }, ...more }) as never
const ask = (callId: string, more: object = {}) => ({
  callId,
  tool: "send",
  args: { to: "ada" },
  by: "gate",
  reason: "right?",
  fingerprint: "f",
  ...more
})

const read = async (name: string, lines: ReadonlyArray<string>) =>
  await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot(`../support/read/${name}.txt`)
const both = (bodies: ReadonlyArray<unknown>, reader: (body: never) => unknown) =>
  bodies.map((body) => `${JSON.stringify(body)}\n  ${shown(() => reader(body as never))}`)

describe("what is read", () => {
  it("from chat completions is exactly this", () => read("chat", both(chats, readChat)))
  it("from Responses is exactly this", () => read("responses", both(responses, readResponses)))
  it("from useChat is exactly this", () => read("ui", both(uis, readUi)))
  it("from AG-UI is exactly this", () => read("ag-ui", both(agUis, readAgUi)))

  it("from an editor is exactly this", () => {
    const resource = (more: object) => part("resource", { resource: { uri: "file:///a", ...more } })
    const blocks = [
      part("text", { text: "a" }),
      part("resource_link", { name: "n", uri: "file:///b" }),
      resource({ text: "inside" }),
      resource({ blob: "AA==" }),
      part("image", { mimeType: "image/png", data: "AA==" }),
      part("audio", { mimeType: "audio/wav", data: "AA==" }),
      part("other")
    ]
    return read("acp", blocks.map((one) => `${JSON.stringify(one)}\n  ${shown(() => promptOf([one as never]))}`))
  })

  it("from answers in words and in data is exactly this", async () => {
    const mark = `[approval ${token}.${"B".repeat(22)}]`
    const decisions: ReadonlyArray<Parameters<typeof decisionOf>[0]> = [
      { isApproved: false },
      { isApproved: false, reason: "r" },
      { isApproved: true },
      { isApproved: true, args: null },
      { isApproved: true, always: true, field: true },
      { isApproved: true, always: false, field: true }
    ]
    await read("answers", [
      ...["yes", " Yes! ", "y", "ok", "okay.", "approve", "approved", "allow", "yes please", "no", "", "yess"].map((
        text
      ) => `${JSON.stringify(text)} ${isYes(text)}`),
      ...[`a ${mark}`, `${mark}\n`, `${mark} b`, "a"].map((text) =>
        `${JSON.stringify(text)} ${shown(() => markOf(text))}`
      ),
      ...decisions.map((one) => `${JSON.stringify(one)} ${JSON.stringify(decisionOf(one))}`)
    ])
  })

  it("from the head of a request of OpenAI is exactly this", () => {
    const request = (headers: Record<string, string>) => new Request("http://localhost", { headers })
    const serve = { model: "agent" } as never
    return read("openai", [
      shown(() => sessionNameOf(request({ "x-session-id": "s" }), { metadata: { session_id: "m" } })),
      shown(() => sessionNameOf(request({}), { metadata: { session_id: "m" } })),
      shown(() => sessionNameOf(request({}), { metadata: { session_id: 5 } })),
      String(sessionNameOf(request({}), {})),
      shown(() => modelOf(serve, { model: "m".repeat(201) }).length),
      shown(() => modelOf(serve, { model: 5 })),
      ...Object.keys(statusOf).map((kind) => JSON.stringify(errorBody(new Refusal(kind as never, "text", "field")))),
      JSON.stringify(errorBody(new Refusal("invalid", "text")))
    ])
  })
})

describe("what is shown of a stored conversation", () => {
  it("to a page and to an editor is exactly this", async () => {
    const pending = [ask("c8"), ask("c9", { client: true })]
    const conversations = [
      undefined,
      waiting({}),
      waiting({ messages: messages.slice(0, 5), waiting: { type: "people", pending } }),
      waiting({ messages: [], waiting: { type: "people", pending } })
    ]
    const lines = await Promise.all(conversations.map((one) => storedMessages(token, one)))
    await read("stored", [
      ...lines.map((one) => JSON.stringify(one)),
      ...replay(messages).map((one) => JSON.stringify(one))
    ])
  })
})
