/** What the readers of requests make of every part of a request. */
import { assert, describe, it } from "vitest"
import { readAgUi } from "../../../src/serve/internal/agUi/readAgUi.ts"
import { readResponses } from "../../../src/serve/internal/responses/readResponses.ts"
import { readUi } from "../../../src/serve/internal/ui/readUi.ts"

describe("a request of the Responses API", () => {
  it("is read item by item: texts as texts, files as parts, calls with their results", () => {
    const image = { type: "input_image", image_url: "data:image/png;base64,AAAA" }
    const { answers, approvals, history, instructions, message } = readResponses({
      instructions: "be kind",
      input: [
        { role: "developer", content: "be short" },
        { role: "user", content: [{ type: "input_text", text: "a" }, { type: "input_text", text: "b" }] },
        { role: "user", content: [{ type: "input_text", text: "see" }, image] },
        { type: "function_call", call_id: "c1", name: "look", arguments: `{"at":1}` },
        { type: "function_call_output", call_id: "c1", output: "seen" },
        { type: "function_call_output", call_id: "c2", output: "of the session" },
        { type: "mcp_approval_response", approval_request_id: "q1", approve: true },
        { type: "reasoning", summary: [] },
        { role: "assistant", content: "fine" },
        { role: "user", content: "next" }
      ]
    })
    assert.deepEqual(instructions, ["be kind", "be short"])
    assert.deepEqual(history.map(({ role }) => role), ["user", "user", "assistant", "tool", "assistant"])
    assert.strictEqual(history[0]?.content, "ab")
    const [text, file] = history[1]!.content as ReadonlyArray<{ readonly type: string }>
    assert.deepEqual([text?.type, file?.type], ["text", "file"])
    assert.deepInclude(history[2], { content: "", toolCalls: [{ id: "c1", name: "look", args: { at: 1 } }] })
    assert.deepInclude(history[3], { toolCallId: "c1", toolName: "look", content: "seen" })
    assert.deepEqual(answers.map(({ id }) => id), ["c1", "c2"])
    assert.deepEqual(approvals.map(({ id, isApproved }) => [id, isApproved]), [["q1", true]])
    assert.deepEqual(message, { text: "next", files: [] })
  })

  it.for<readonly [string, object, string]>([
    ["another role", { input: [{ role: "boss", content: "x" }] }, "input[0].role"],
    ["an unknown item", { input: [{ type: "dream" }] }, "input[0]"],
    ["an input of another type", { input: 5 }, "input"]
  ])("with %s is refused by the name of the field", ([, body, field]) => {
    assert.throws(() => readResponses(body as { readonly [field: string]: unknown }), field)
  })
})

describe("a request of useChat", () => {
  const schema = { type: "object", properties: { city: { type: "string" } } }
  const request = (parts: ReadonlyArray<object>, role = "assistant", more: object = {}) =>
    readUi({ id: "chat", messages: [{ id: "m1", role, parts }], ...more })

  it("has the tools of the client with their schemas, and any object where there is none", () => {
    const { tools } = request([{ type: "text", text: "hi" }], "user", {
      tools: [{ name: "weather", description: "Tells", inputSchema: schema }, { name: "plain" }]
    })
    assert.deepEqual(tools, [
      { name: "weather", description: "Tells", inputSchema: schema },
      { name: "plain", description: "", inputSchema: { type: "object" } }
    ])
  })

  it("has a message only of the user, with its texts in order and its files", () => {
    const parts = [
      { type: "text", text: "a" },
      { type: "file", url: "data:image/png;base64,AAAA", mediaType: "image/png" },
      { type: "text", text: "b" }
    ]
    const { assistantId, message } = request(parts, "user")
    assert.deepEqual([message?.id, message?.text, message?.files.length, assistantId], ["m1", "ab", 1, undefined])
    const ofAssistant = request(parts)
    assert.deepEqual([ofAssistant.message, ofAssistant.assistantId], [undefined, "m1"])
  })

  it("has answers and results only where the client gave them", () => {
    const { answers, outputs } = request([
      { state: "approval-responded", approval: { id: "q1", approved: true, reason: "fine" } },
      { state: "approval-responded", approval: { id: "q2", approved: "yes" } },
      { state: "approval-responded", approval: { approved: true } },
      { state: "approval-requested", approval: { id: "q3", approved: true } },
      { state: "output-available", toolCallId: "c1", output: "text" },
      { state: "output-available", toolCallId: "c2", output: { a: 1 } },
      { state: "output-available", toolCallId: "c3" },
      { state: "output-error", toolCallId: "c4", errorText: "broke" },
      { state: "input-available", toolCallId: "c5", output: "x" },
      { state: "output-available", output: "x" }
    ])
    assert.deepEqual(answers, [
      { id: "q1", isApproved: true, reason: "fine" },
      { id: "q2", isApproved: false, reason: undefined }
    ])
    assert.deepEqual([...outputs], [["c1", "text"], ["c2", `{"a":1}`], ["c3", "null"], ["c4", "error: broke"]])
  })

  it.for([{}, { id: "" }, { id: "x".repeat(1_001) }, { id: "x", messages: [] }])(
    "without a chat %o is refused",
    (body) => {
      assert.throws(() => readUi(body), /expected the id|last message/)
    }
  )

  it("may have an id of up to 1,000 characters", () => {
    const messages = [{ role: "user", parts: [] }]
    assert.lengthOf(readUi({ id: "x".repeat(1_000), messages }).id, 1_000)
    assert.isTrue(readUi({ id: "x", messages, trigger: "regenerate-message" }).isAgain)
    assert.isFalse(readUi({ id: "x", messages, trigger: "submit-message" }).isAgain)
  })
})

describe("an input of AG-UI", () => {
  const user = (content: unknown) => ({ role: "user", content })
  const read = (more: object = {}, content: unknown = "hi") =>
    readAgUi({ threadId: "t", runId: "r", messages: [user(content)], ...more })

  it("has a message only of the user, with its texts in order and its files", () => {
    const png = { type: "image", source: { type: "data", value: "AAAA", mimeType: "image/png" } }
    const plain = { type: "binary", source: { type: "data", value: "AAAA" } }
    const { message } = read({}, [{ type: "text", text: "a" }, png, { type: "text", text: "b" }, plain])
    assert.strictEqual(message?.text, "ab")
    assert.deepEqual(message?.files.map(({ mediaType, url }) => [mediaType, url]), [
      ["image/png", "data:image/png;base64,AAAA"],
      ["application/octet-stream", "data:application/octet-stream;base64,AAAA"]
    ])
    assert.deepEqual(read().message, { text: "hi", files: [] })
    assert.isUndefined(read({ messages: [user("hi"), { role: "assistant", content: "last" }] }).message)
  })

  it("has answers that say yes only if they do, and results of the client's tools", () => {
    const { answers, outputs } = read({
      resume: [
        { interruptId: "a", status: "resolved", payload: { approved: true, reason: "fine", always: true } },
        { interruptId: "b", status: "resolved", payload: { approved: "yes", args: { x: 1 }, field: true } },
        { interruptId: "c", status: "cancelled", payload: { approved: true } },
        { interruptId: "d", status: "resolved" }
      ],
      messages: [
        { role: "tool", toolCallId: "c0", content: "of an earlier turn" },
        { role: "user", toolCallId: "c4", content: "x" },
        { role: "tool", toolCallId: "c1", content: "text" },
        { role: "tool", toolCallId: "c2", content: { a: 1 } },
        { role: "tool", toolCallId: "c3" },
        { role: "tool", content: "x" }
      ]
    })
    const none = { isApproved: false, reason: undefined, args: undefined, always: false, field: false }
    assert.deepEqual([...answers], [
      ["a", { ...none, isApproved: true, reason: "fine", always: true }],
      ["b", { ...none, args: { x: 1 }, field: true }],
      ["c", { isApproved: false, reason: "cancelled by the user" }],
      ["d", none]
    ])
    assert.deepEqual([...outputs], [["c1", "text"], ["c2", `{"a":1}`], ["c3", "null"]])
  })

  it("has the context and the state as text, and nothing where there are none", () => {
    for (const state of [undefined, null, {}]) assert.strictEqual(read({ state }).context, "")
    const context = [{ description: "page", value: "home" }, { description: "cart", value: [1] }]
    assert.strictEqual(
      read({ context, state: { step: 2 } }).context,
      `page: home\ncart: [1]\nThe state of the application: {"step":2}`
    )
  })

  it("has the tools of the client and its instructions", () => {
    const parameters = { type: "object", properties: {} }
    const { instructions, tools } = read({
      tools: [{ name: "x", description: "Does", parameters }, { name: "y" }],
      messages: [{ role: "system", content: "be kind" }, { role: "developer", content: "be short" }, user("hi")]
    })
    assert.deepEqual(instructions, ["be kind", "be short"])
    assert.deepEqual(tools, [
      { name: "x", description: "Does", inputSchema: parameters },
      { name: "y", description: "", inputSchema: { type: "object" } }
    ])
  })

  it.for<readonly [object, RegExp]>([
    [{ threadId: "" }, /threadId: expected an id/],
    [{ threadId: undefined }, /threadId: expected an id/],
    [{ runId: "x".repeat(1_001) }, /runId: expected an id/],
    [{ messages: [user(7)] }, /expected a text or a list of parts/],
    [{ messages: [user([{ type: "image" }])] }, /this kind of part is not supported/]
  ])("with %o is refused", ([more, expected]) => {
    assert.throws(() => read(more), expected)
  })

  it("may have ids of up to 1,000 characters", () => {
    assert.lengthOf(read({ threadId: "x".repeat(1_000) }).threadId, 1_000)
  })
})
