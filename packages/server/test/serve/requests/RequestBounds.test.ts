/** A body that would take long to read is refused while it arrives. */
import { assert, it as property } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { describe, it } from "vitest"
import * as AgUi from "../../../src/serve/AgUi.ts"
import { RequestBounds } from "../../../src/serve/internal/requestBounds.ts"
import * as Mcp from "../../../src/serve/Mcp.ts"
import * as OpenAiChat from "../../../src/serve/OpenAiChat.ts"
import * as OpenAiResponses from "../../../src/serve/OpenAiResponses.ts"
import * as Serve from "../../../src/serve/Serve.ts"
import * as UiStream from "../../../src/serve/UiStream.ts"
import { authorize, served, talker } from "../support/served.ts"

const serveWith = (options: Partial<Serve.Options> = {}) =>
  Serve.make({ agent: { provider: talker(), log: false }, authorize, onError: () => {}, ...options })

/** A request whose body is written piece by piece. `sent` tells how many pieces were taken. */
const inPieces = (pieces: Iterable<string>, path = "/v1/chat/completions") => {
  const all = pieces[Symbol.iterator]()
  const encoder = new TextEncoder()
  const state = { sent: 0 }
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      const next = all.next()
      if (next.done === true) return controller.close()
      state.sent++
      controller.enqueue(encoder.encode(next.value))
    }
  }, { highWaterMark: 0 })
  const headers = { authorization: "Bearer token-ada" }
  // The types of `fetch` do not know `duplex`.
  const request = new Request(
    `http://127.0.0.1${path}`,
    { method: "POST", headers, body, duplex: "half" } as RequestInit
  )
  return { request, state }
}

const handlers = {
  "/v1/chat/completions": OpenAiChat.handler,
  "/v1/responses": OpenAiResponses.handler,
  "/api/chat": UiStream.handler,
  "/ag-ui": AgUi.handler
}

describe("a body with very many values", () => {
  for (const [path, handler] of Object.entries(handlers)) {
    it(`is refused before the rest of it is read: ${path}`, async () => {
      const serve = serveWith({ maxValues: 1_000 })
      const pieces = function*() {
        yield "{\"messages\":["
        for (let n = 0; n < 100_000; n++) yield "{\"role\":\"user\",\"content\":\"m\"},"
      }
      const { request, state } = inPieces(pieces(), path)
      const response = await handler(serve)(request)
      assert.strictEqual(response.status, 413)
      assert.include(await response.text(), "more than 1000 values")
      assert.isBelow(state.sent, 1_000)
      await serve.close()
    })
  }

  it("is refused for a tool of MCP, which takes two texts", async () => {
    const serve = serveWith()
    const call = async (more: number, where: "arguments" | "_meta") => {
      const wide = Object.fromEntries(Array.from({ length: more }, (_, n) => [`key ${n}`, n]))
      const params = { name: "ask_agent", arguments: { message: "hi" }, [where]: { message: "hi", ...wide } }
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params })
      const headers = {
        authorization: "Bearer token-ada",
        "content-type": "application/json",
        accept: "application/json, text/event-stream"
      }
      const response = await Mcp.handler(serve)(
        new Request("http://127.0.0.1/mcp", { method: "POST", headers, body })
      )
      return [response.status, await response.text()] as const
    }
    for (const where of ["arguments", "_meta"] as const) {
      const [status, why] = await call(6_000, where)
      assert.deepStrictEqual([status, why.includes("more than 5000 values")], [413, true], why)
      assert.strictEqual((await call(4_000, where))[0], 200)
    }
    await serve.close()
  })

  it("is refused by its depth, and a bracket in a text is none", async () => {
    const serve = serveWith()
    const answer = async (...pieces: ReadonlyArray<string>) => {
      const { request } = inPieces(pieces)
      const response = await OpenAiChat.handler(serve)(request)
      return [response.status, await response.text()] as const
    }
    const nested = `{"messages":[],"x":${"[".repeat(200)}${"]".repeat(200)}}`
    const [status, why] = await answer(nested)
    assert.strictEqual(status, 400)
    assert.include(why, "more than 100 lists and objects inside each other")
    const quoted = JSON.stringify({ messages: [{ role: "user", content: "[\"{\\".repeat(100_000) }] })
    assert.strictEqual((await answer(quoted))[0], 200)
    // A piece can end between a backslash and the quote that it escapes.
    const start = "{\"messages\":[{\"role\":\"user\",\"content\":\"\\"
    assert.strictEqual((await answer(start, `"${"[".repeat(200)}"}]}`))[0], 200)
    await serve.close()
  })

  it("is answered where the server allows it", async () => {
    const serve = serveWith({ maxValues: 10_000_000, maxBodyBytes: 50_000_000 })
    const messages = Array.from(
      { length: 200_001 },
      (_, n) => ({ role: n % 2 === 0 ? "user" : "assistant", content: "m" })
    )
    const { request } = inPieces([JSON.stringify({ messages })])
    assert.strictEqual((await OpenAiChat.handler(serve)(request)).status, 200)
    await serve.close()
  })

  it("is refused with 413 when one message is too long for the agent", async () => {
    const serve = Serve.make({
      agent: { provider: talker(), log: false, limits: { textLength: 1_000 } },
      authorize,
      onError: () => {}
    })
    const { request } = inPieces([JSON.stringify({ messages: [{ role: "user", content: "m".repeat(2_000) }] })])
    const response = await OpenAiChat.handler(serve)(request)
    assert.strictEqual(response.status, 413)
    assert.include(await response.text(), "the message is too long for this server")
    await serve.close()
  })
})

const complete = async (serve: Serve.Serve, messages: ReadonlyArray<unknown>): Promise<readonly [number, string]> => {
  const { request } = inPieces([JSON.stringify({ messages })])
  const response = await OpenAiChat.handler(serve)(request)
  return [response.status, await response.text()]
}

describe("a text that is longer than the server allows", () => {
  const long = "m".repeat(700)
  const user = (content: unknown) => ({ role: "user", content })
  const call = (args: string) => [
    user("hi"),
    { role: "assistant", content: "", tool_calls: [{ id: "c", function: { name: "f", arguments: args } }] },
    { role: "tool", tool_call_id: "c", content: "done" },
    user("go on")
  ]

  it.each<readonly [string, ReadonlyArray<unknown>]>([
    ["one message", [user(long + long)]],
    ["parts", [user([{ type: "text", text: long }, { type: "text", text: long }])]],
    ["the history", [user(long), { role: "assistant", content: "yes" }, user(long)]],
    ["instructions", [{ role: "system", content: long + long }, user("hi")]],
    ["arguments", call(JSON.stringify([long, long]))],
    ["the address of a file", [user([{ type: "image_url", image_url: { url: `https://example.com/${long}${long}` } }])]]
  ])("is refused before it is stored: %s", async (_, messages) => {
    const serve = serveWith({ maxTextLength: 1_000, clientInstructions: true })
    const [status, why] = await complete(serve, messages)
    assert.deepStrictEqual([status, (await serve.host.list()).length], [413, 0], why)
    assert.include(why, "the texts of the request have more than 1000 characters")
    await serve.close()
  })

  it("is none where a file is long, and is taken by default up to a million characters", async () => {
    const small = serveWith({ maxTextLength: 1_000 })
    const url = `data:image/png;base64,${"QUJD".repeat(1_000)}`
    assert.strictEqual((await complete(small, [user([{ type: "image_url", image_url: { url } }])]))[0], 200)
    await small.close()
    const serve = serveWith()
    assert.strictEqual((await complete(serve, [user("m".repeat(1_000_000))]))[0], 200)
    assert.strictEqual((await complete(serve, [user("m".repeat(1_000_001))]))[0], 413)
    await serve.close()
  })

  it("is refused with tools of a client by default, however short it is", async () => {
    const serve = serveWith()
    const tools = [{ type: "function", function: { name: "f", parameters: { type: "object" } } }]
    const { request } = inPieces([JSON.stringify({ messages: [user("hi")], tools })])
    const response = await OpenAiChat.handler(serve)(request)
    assert.strictEqual(response.status, 400)
    assert.include(await response.text(), "this server takes no tools of clients")
    await serve.close()
  })

  it("is refused as the answer to a question too", async () => {
    const serve = serveWith({ maxTextLength: 1_000, clientTools: true })
    const tools = [{ type: "function", function: { name: "f", parameters: { type: "object" } } }]
    const send = async (messages: ReadonlyArray<unknown>) => {
      const { request } = inPieces([JSON.stringify({ messages, tools })])
      const response = await OpenAiChat.handler(serve)(request)
      // The client knows the form of its answer.
      return [response.status, Object(await response.json())] as const
    }
    const [, asked] = await send([user("call f")])
    const { tool_calls } = asked.choices[0].message
    const answered = [user("call f"), { role: "assistant", content: null, tool_calls }]
    const result = { role: "tool", tool_call_id: tool_calls[0].id }
    assert.strictEqual((await send([...answered, { ...result, content: long + long }]))[0], 413)
    assert.strictEqual((await send([...answered, { ...result, content: long }]))[0], 200)
    await serve.close()
  })

  it.each<readonly [number, string, string]>([
    [400, "[".repeat(500_000), "the arguments of tool calls have more than 50 lists and objects inside each other"],
    [413, `[${"1,".repeat(60_000)}1]`, "the arguments of tool calls have more than 50000 values"]
  ])("is refused with %i when the arguments of a call would take long to read", async (status, args, why) => {
    const serve = serveWith()
    const answer = await complete(serve, call(args))
    assert.deepStrictEqual([answer[0], answer[1].includes(why)], [status, true], answer[1])
    const items = [{ type: "function_call", call_id: "c", name: "f", arguments: args }, user("hi")]
    const { request } = inPieces([JSON.stringify({ input: items })], "/v1/responses")
    assert.strictEqual((await OpenAiResponses.handler(serve)(request)).status, status)
    await serve.close()
  })

  it("does not count the arguments of a history that the server has already", async () => {
    const serve = serveWith({ maxTextLength: 1_000 })
    const send = async (messages: ReadonlyArray<unknown>) => {
      const { request } = inPieces([JSON.stringify({ messages, metadata: { session_id: "s" } })])
      const response = await OpenAiChat.handler(serve)(request)
      await response.text()
      return response.status
    }
    assert.strictEqual(await send([user("hi")]), 200)
    assert.strictEqual(await send(call(JSON.stringify([long, long]))), 200)
    await serve.close()
  })

  it("does not refuse short arguments that are malformed or nested", async () => {
    const serve = serveWith()
    for (const args of ["\"[[[[", "]]]]", `{"a":${"[".repeat(40)}${"]".repeat(40)}}`]) {
      assert.strictEqual((await complete(serve, call(args)))[0], 200, args)
    }
    await serve.close()
  })
})

/** What the class counts: one for every list, object and comma. */
const countOf = (value: unknown): number => {
  if (typeof value !== "object" || value === null) return 0
  const parts = Object.values(value)
  return 1 + Math.max(0, parts.length - 1) + parts.reduce((sum: number, part) => sum + countOf(part), 0)
}

describe("the count of values", () => {
  property.prop(
    "is the same however the bytes are cut",
    { value: Schema.MutableJson, cuts: Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 50 }))) },
    ({ cuts, value }) => {
      const bytes = new TextEncoder().encode(JSON.stringify(value))
      const count = countOf(value)
      const read = (max: number) => {
        const bounds = new RequestBounds(max)
        let at = 0
        for (const cut of [...cuts, bytes.length]) {
          bounds.add(bytes.subarray(at, at + cut))
          at += cut
        }
      }
      read(count)
      if (count > 0) assert.throws(() => read(count - 1), /values/)
    }
  )
})

describe("a large body that is refused", () => {
  it("does not end the connection before the client has read why", async () => {
    await using server = await served((serve) => OpenAiChat.handler(serve))
    const post = async (body: string, token = "token-ada"): Promise<number> => {
      const headers = { authorization: `Bearer ${token}` }
      const response = await fetch(`${server.url}/v1/chat/completions`, { method: "POST", headers, body })
      await response.text()
      return response.status
    }
    for (let round = 0; round < 3; round++) {
      assert.strictEqual(await post(`[${"1,".repeat(2_000_000)}1]`), 413)
      assert.strictEqual(await post("[".repeat(4_000_000)), 400)
      assert.strictEqual(await post("x".repeat(12_000_000)), 413)
      assert.strictEqual(await post("x".repeat(4_000_000), "nobody"), 401)
    }
  })
})
