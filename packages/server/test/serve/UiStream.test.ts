/** The UI message stream with the chat of the AI SDK. The one in a browser is `Browser.test.ts`. */
import { defineTool } from "@belay/core/defineTool"
import * as HookAction from "@belay/core/HookAction"
import { Connection } from "@belay/core/ProviderError"
import * as UiStream from "@belay/server/UiStream"
import {
  AbstractChat,
  type ChatState,
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  type UIMessage
} from "ai"
import { assert, describe, it } from "vitest"
import { served, talker } from "./support/served.ts"

/** The chat that `useChat` uses, with plain fields as its state. */
class PlainChat extends AbstractChat<UIMessage> {
  constructor(url: string, id: string, messages: Array<UIMessage> = [], user = "ada") {
    const state: ChatState<UIMessage> = {
      status: "ready",
      error: undefined,
      messages,
      pushMessage: (message) => void (state.messages = [...state.messages, message]),
      popMessage: () => void (state.messages = state.messages.slice(0, -1)),
      replaceMessage: (index, message) => void (state.messages = state.messages.with(index, message)),
      snapshot: (value) => structuredClone(value)
    }
    super({
      id,
      state,
      transport: new DefaultChatTransport({
        api: `${url}/api/chat`,
        headers: { authorization: `Bearer token-${user}` }
      }),
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses
    })
  }
  get parts(): ReadonlyArray<{ readonly type: string; readonly [field: string]: unknown }> {
    return this.lastMessage?.parts as never ?? []
  }
  /** The parts in short. */
  get outline(): string {
    return this.parts.map(({ state, text, toolName, type }) => [type, toolName, state, text].filter(Boolean).join(":"))
      .join(" | ")
  }
}

interface Asked {
  readonly approval: { readonly id: string }
}
interface Called {
  readonly toolCallId: string
  readonly state: string
}

const get = async (url: string, user = "ada") => fetch(url, { headers: { authorization: `Bearer token-${user}` } })
const until = async (is: () => boolean) => {
  while (!is()) await new Promise((resolve) => setTimeout(resolve, 5))
}

describe("the UI message stream", () => {
  it("has text, tools and their results as the parts of one message", async () => {
    await using server = await served(UiStream.handler)
    const chat = new PlainChat(server.url, "c1")
    await chat.sendMessage({ text: "call weather" })
    assert.isUndefined(chat.error)
    assert.strictEqual(
      chat.outline,
      "step-start | text:done:Let me look. | dynamic-tool:weather:output-available | " +
        "step-start | text:done:Result: {\"degrees\":21}"
    )
    await chat.sendMessage({
      text: "and now?",
      files: [{ type: "file", mediaType: "image/png", url: "data:image/png;base64,AA==" }]
    })
    assert.include(chat.outline, "You said: and now? (5)")
    const { messages } = await (await get(`${server.url}/api/chat/c1`)).json() as { messages: Array<UIMessage> }
    assert.deepStrictEqual(messages.map(({ role }) => role), ["user", "assistant", "user", "assistant"])
    assert.strictEqual(messages[1]!.id, chat.messages[1]!.id)
  })

  it("asks for approvals; an answer continues the same message", async () => {
    await using server = await served(UiStream.handler)
    const chat = new PlainChat(server.url, "c1")
    const answer = async (approved: boolean) => {
      await chat.sendMessage({ text: "call delete_file" })
      const part = chat.parts.find(({ state }) => state === "approval-requested") as unknown as Asked
      await chat.addToolApprovalResponse({ id: part.approval.id, approved, ...(approved ? {} : { reason: "keep it" }) })
      await until(() => chat.status === "ready" && chat.parts.at(-1)!.type === "text")
    }
    await answer(true)
    assert.include(chat.outline, "dynamic-tool:delete_file:output-available | step-start | text:done:Result: deleted")
    assert.deepStrictEqual(server.log, ["delete_file"])
    await answer(false)
    assert.include(chat.outline, "dynamic-tool:delete_file:output-denied")
    assert.include(chat.outline, "keep it")
    assert.deepStrictEqual(server.log, ["delete_file"])
    assert.lengthOf(chat.messages, 4)
  })

  it("shows open questions after a reload, and a new message takes their place", async () => {
    await using server = await served(UiStream.handler)
    const chat = new PlainChat(server.url, "c1")
    await chat.sendMessage({ text: "call delete_file" })
    const { messages } = await (await get(`${server.url}/api/chat/c1`)).json() as { messages: Array<UIMessage> }
    const reloaded = new PlainChat(server.url, "c1", messages)
    assert.strictEqual((await get(`${server.url}/api/chat/c1/stream`)).status, 204)
    const part = reloaded.parts.find(({ state }) => state === "approval-requested") as unknown as Asked
    await reloaded.addToolApprovalResponse({ id: part.approval.id, approved: true })
    await until(() => reloaded.status === "ready" && reloaded.parts.at(-1)!.type === "text")
    assert.deepStrictEqual(server.log, ["delete_file"])
    await chat.sendMessage({ text: "call delete_file" })
    await chat.sendMessage({ text: "something else" })
    assert.include(chat.outline, "You said: something else")
    assert.deepStrictEqual(server.log, ["delete_file"])
  })

  it("resumes a stream from its beginning after a reload, or after the last known event", async () => {
    let words = 0
    let go = (): void => {}
    const gate = new Promise<void>((resolve) => go = resolve)
    const provider = talker({ each: async () => ++words === 3 ? gate : undefined })
    await using server = await served(UiStream.handler, {}, { provider })
    const first = new PlainChat(server.url, "c1")
    const sent = first.sendMessage({ text: "hello" })
    await until(() => first.outline.includes("You said:"))
    await first.stop()
    await sent
    const second = new PlainChat(server.url, "c1", first.messages.slice(0, 1))
    const resumed = second.resumeStream()
    await until(() => second.outline.includes("You said:"))
    const headers = { authorization: "Bearer token-ada" }
    const stream = await fetch(`${server.url}/api/chat/c1/stream`, { headers })
    const known = /id: (\d+)\ndata: {"type":"text-delta"/.exec(
      new TextDecoder().decode((await readSome(stream, "text-delta")) as never)
    )?.[1]
    const rest = await fetch(`${server.url}/api/chat/c1/stream`, { headers: { ...headers, "last-event-id": known! } })
    go()
    await resumed
    assert.strictEqual(second.outline, "step-start | text:done:You said: hello (1)")
    const text = [...(await rest.text()).matchAll(/"delta":"([^"]*)"/g)].map(([, delta]) => delta).join("")
    assert.strictEqual(text, "hello (1)")
    const late = await fetch(`${server.url}/api/chat/c1/stream`, { headers: { ...headers, "last-event-id": known! } })
    assert.include(await late.text(), "(1)")
    assert.strictEqual((await get(`${server.url}/api/chat/c1/stream`)).status, 204)
  })

  it("sends a message that is sent again only once", async () => {
    await using server = await served(UiStream.handler)
    const message = { id: "m1", role: "user" as const, parts: [{ type: "text" as const, text: "hello" }] }
    const post = async () =>
      (await fetch(`${server.url}/api/chat`, {
        method: "POST",
        headers: { authorization: "Bearer token-ada" },
        body: JSON.stringify({ id: "c1", messages: [message] })
      })).text()
    assert.strictEqual(await post(), await post())
  })

  it("shows the progress of tools and cancels a turn", async () => {
    let go = (): void => {}
    const gate = new Promise<void>((resolve) => go = resolve)
    const weather = defineTool({
      name: "weather",
      description: "",
      input: { type: "object" },
      execute: async function*() {
        yield "looking"
        await gate
        return "done"
      }
    })
    await using server = await served(UiStream.handler, {}, { tools: [weather] })
    const chat = new PlainChat(server.url, "c1")
    const sent = chat.sendMessage({ text: "call weather" })
    await until(() => chat.parts.some(({ output, preliminary }) => preliminary === true && output === "looking"))
    const headers = { authorization: "Bearer token-ada" }
    await fetch(`${server.url}/api/chat/c1/cancel`, { method: "POST", headers })
    await sent
    assert.strictEqual((await get(`${server.url}/api/chat/c1/stream`)).status, 204)
    go()
  })

  it("takes back the text of an attempt that failed", async () => {
    let attempts = 0
    const provider = talker({
      each: () =>
        ++attempts === 3 ? Promise.reject(new Connection({ provider: "demo", message: "lost" })) : Promise.resolve()
    })
    const again = { name: "again", onLlmError: () => HookAction.replace({ type: "retry" as const, delayMs: 0 }) }
    await using server = await served((serve) => UiStream.handler(serve), {}, { provider, hooks: [again] })
    const chat = new PlainChat(server.url, "c1")
    await chat.sendMessage({ text: "hello" })
    assert.isUndefined(chat.error)
    assert.strictEqual(chat.outline, "step-start | text:done:You said: hello (1)")
    assert.isAbove(attempts, 3)
  })

  it("lets clients run their own tools", async () => {
    await using server = await served(UiStream.handler)
    const chat = new PlainChat(server.url, "c1")
    const tools = [{ name: "place", description: "", inputSchema: { type: "object" } }]
    await chat.sendMessage({ text: "call place" }, { body: { tools } })
    const call = chat.parts.find(({ toolName }) => toolName === "place") as unknown as Called
    assert.strictEqual(call.state, "input-available")
    await chat.addToolOutput({ tool: "place", toolCallId: call.toolCallId, output: "Bern" })
    await chat.sendMessage()
    assert.include(chat.outline, "Result: Bern")
  })
})

/** Reads a stream until it contains a text, and leaves it. */
const readSome = async (response: Response, text: string): Promise<Uint8Array> => {
  const chunks: Array<Uint8Array> = []
  for await (const chunk of response.body!) {
    chunks.push(chunk)
    if (Buffer.concat(chunks).toString().includes(text)) break
  }
  return Buffer.concat(chunks)
}
