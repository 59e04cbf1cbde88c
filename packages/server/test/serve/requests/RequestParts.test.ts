/** Parts of requests: pictures, fields that are not known, bytes in several pieces, and the texts of errors. */
import type { LlmRequest } from "@belay/core/LlmCall"
import * as OpenAiChat from "@belay/server/OpenAiChat"
import * as OpenAiResponses from "@belay/server/OpenAiResponses"
import * as Page from "@belay/server/Page"
import { assert, describe, it } from "vitest"
import { ada, request } from "../support/requests.ts"
import { served, talker } from "../support/served.ts"

const picture = "data:image/webp;base64,UklGRg=="

const server = async () => {
  const seen: Array<LlmRequest> = []
  const all = await served(OpenAiChat.handler, {}, { provider: talker({ before: async (asked) => seen.push(asked) }) })
  return Object.assign(all, {
    seen,
    chat: OpenAiChat.handler(all.serve),
    responses: OpenAiResponses.handler(all.serve)
  })
}

const filesOf = ({ messages }: LlmRequest) =>
  messages.flatMap(({ content }) => typeof content === "string" ? [] : Array.isArray(content) ? content : [])
    .filter((part) => Object(part).type === "file")

describe("a picture in a request", () => {
  it.each([["data URL", picture, "image/webp"], ["name", "https://example.com/a.png?x=1", "image/png"]])(
    "has the type that its %s says, in chat completions and in Responses",
    async (_what, url, mediaType) => {
      await using one = await server()
      const text = "look"
      await one.chat(request("/v1/chat/completions", {
        messages: [{ role: "user", content: [{ type: "text", text }, { type: "image_url", image_url: { url } }] }]
      }))
      await one.responses(request("/v1/responses", {
        input: [{ role: "user", content: [{ type: "input_text", text }, { type: "input_image", image_url: url }] }]
      }))
      assert.deepStrictEqual(one.seen.map(filesOf), [[{ type: "file", mediaType, url }], [{
        type: "file",
        mediaType,
        url
      }]])
    }
  )
})

describe("a field of chat completions", () => {
  it("that asks for plain text is accepted, and one that asks for JSON is refused by name", async () => {
    await using one = await server()
    const ask = (type: string) =>
      one.chat(
        request("/v1/chat/completions", { messages: [{ role: "user", content: "hi" }], response_format: { type } })
      )
    assert.strictEqual((await ask("text")).status, 200)
    const refused = await ask("json_object")
    assert.strictEqual(refused.status, 400)
    assert.include(await refused.text(), "response_format")
  })
})

describe("a body", () => {
  it("whose pieces cut a letter in two is read as one text", async () => {
    await using one = await server()
    const bytes = new TextEncoder().encode(JSON.stringify({ messages: [{ role: "user", content: "grüße 🪢" }] }))
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte))
        controller.close()
      }
    })
    // Node needs `duplex` for a stream, and the types of the web do not have it.
    const init: RequestInit = { method: "POST", headers: ada, body, ...{ duplex: "half" } }
    await one.chat(new Request("http://localhost/v1/chat/completions", init))
    assert.include(JSON.stringify(one.seen[0]?.messages), "grüße 🪢")
  })
})

describe("an answer", () => {
  it("that is a question ends its stream as others do", async () => {
    await using one = await server()
    const body = { messages: [{ role: "user", content: "call delete_file" }], stream: true }
    const headers = { ...ada, "x-session-id": "s" }
    await (await one.chat(request("/v1/chat/completions", body, headers))).text()
    const again = { ...body, messages: [{ role: "user", content: "what now?" }] }
    const repeated = await (await one.chat(request("/v1/chat/completions", again, headers))).text()
    assert.match(repeated, /data: \[DONE\]\s*$/)
  })

  it("to a page of a foreign site is an error of permission", async () => {
    await using one = await server()
    const headers = { ...ada, origin: "https://evil.example" }
    const refused = await one.chat(request("/v1/chat/completions", { messages: [] }, headers))
    assert.strictEqual(refused.status, 403)
    assert.strictEqual(Object(await refused.json()).error.type, "permission_error")
  })
})

describe("the page", () => {
  it("shows a title as text, whatever it is", async () => {
    const page = await Page.response({ title: "a > \"b\" & <i>" }).text()
    assert.include(page, "a &gt; &quot;b&quot; &amp; &lt;i&gt;")
  })
})
