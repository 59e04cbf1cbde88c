/**
 * What clients receive that do not read a stream, letter by letter: whole answers, other methods and paths, and what is
 * refused before a protocol reads the request. Ids and times are replaced, in the order in which they come.
 */
import * as AgUi from "@belay/server/AgUi"
import * as OpenAiChat from "@belay/server/OpenAiChat"
import * as OpenAiResponses from "@belay/server/OpenAiResponses"
import * as Serve from "@belay/server/Serve"
import * as UiStream from "@belay/server/UiStream"
import { describe, expect, it } from "vitest"
import { plain } from "./support/plain.ts"
import { ada, bodyOf } from "./support/requests.ts"
import { asking, authorize, talker, tools } from "./support/served.ts"

interface Asked {
  readonly status: number
  readonly text: string
  readonly json: { readonly [field: string]: unknown }
}

/** A client that writes down everything it sends and receives. */
const client = (options: Partial<Serve.Options> = {}) => {
  const serve = Serve.make({
    agent: { provider: { name: "demo", complete: talker().complete }, tools: tools(), hooks: [asking], log: false },
    authorize,
    clientTools: true,
    onError: () => {},
    ...options
  })
  const handle = Serve.route({
    "/v1/responses": OpenAiResponses.handler(serve),
    "/v1": OpenAiChat.handler(serve),
    "/api/chat": UiStream.handler(serve),
    "/ag-ui": AgUi.handler(serve)
  })
  const log: Array<string> = []
  const ask = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = ada
  ): Promise<Asked> => {
    const sent = typeof body === "string" ? body : JSON.stringify(body)
    const answer = await handle(
      new Request(`http://localhost${path}`, { method, headers, ...(body === undefined ? {} : { body: sent }) })
    )
    const text = await answer.text()
    const more = [...answer.headers].map(([name, value]) => `${name}: ${value}`)
    const about = Object.keys(headers).filter((name) => name !== "authorization").map((name) =>
      `${name}: ${headers[name]}`
    )
    const given = sent === undefined || sent.length > 150 && !sent.startsWith("{") ? [] : [sent.slice(0, 400)]
    log.push([`# ${method} ${path.slice(0, 100)}`, ...about, ...given, `> ${answer.status}`, ...more, text].join("\n"))
    return { status: answer.status, text, json: text.startsWith("{") ? JSON.parse(text) : {} }
  }
  return { serve, ask, written: () => `${plain(log.join("\n\n"))}\n`, [Symbol.asyncDispose]: serve.close }
}

const user = (content: string) => ({ role: "user", content })
const named = { ...ada, "x-session-id": "name" }
const place = { type: "function", name: "place", parameters: { type: "object" } }

const same = (name: string, text: string) => expect(text).toMatchFileSnapshot(`./support/whole/${name}.txt`)

describe("a client that does not read a stream", () => {
  it("receives exactly this from chat completions", async () => {
    await using one = client({ model: "my-agent" })
    const { ask, written } = one
    const chat = (messages: ReadonlyArray<object>, more: object = {}, headers = ada) =>
      ask("POST", "/v1/chat/completions", { messages, ...more }, headers)
    await ask("GET", "/v1/models")
    await ask("GET", "/v1/chat/completions")
    await ask("POST", "/v1/nothing", {})
    await chat([user("hello")], { model: "other" })
    const asked = await chat([user("call delete_file")])
    const question = { role: "assistant", content: Object(asked.json["choices"])[0].message.content }
    await chat([user("call delete_file"), question, user("yes")])
    await chat([user("call delete_file"), question, user("yes")])
    await chat([user("call delete_file")], {}, named)
    await chat([user("what now?")], {}, named)
    await chat([user("what now?")], { stream: true, stream_options: { include_usage: true } }, named)
    const called = await chat([user("call place")], { tools: [place] })
    const [call] = Object(called.json["choices"])[0].message.tool_calls
    const history = [user("call place"), { role: "assistant", tool_calls: [call] }]
    await chat([...history, { role: "tool", tool_call_id: call.id, content: "Bern" }], { tools: [place] })
    await chat([...history, { role: "tool", tool_call_id: call.id, content: "Bern" }])
    await chat([{ role: "assistant", content: "no message" }])
    await chat([{ role: "system", content: "be kind" }, user("hello")])
    await chat([user("hello")], { tools: [{ ...place, name: "a b" }] })
    await chat([user("hello")], { tools: [place, place] })
    await chat([user("hello")], { tools: [{ ...place, description: "x".repeat(60_000) }] })
    await same("chat", written())
  })

  it("receives exactly this from Responses", async () => {
    await using one = client()
    const { ask, written } = one
    const respond = (body: object, headers: Readonly<Record<string, string>> = ada) =>
      ask("POST", "/v1/responses", body, headers)
    const hello = await respond({ input: "hello" })
    const id = String(hello.json["id"])
    await ask("GET", `/v1/responses/${id}`)
    await ask("GET", `/v1/responses/${id}?stream=true&starting_after=65`)
    await respond({ input: "again", previous_response_id: id })
    await ask("GET", "/v1/responses/resp_1")
    await ask("GET", `/v1/responses/${id.slice(0, -1)}_`)
    await ask("POST", `/v1/responses/${id.slice(0, -1)}_/cancel`)
    await ask("DELETE", `/v1/responses/${id}`)
    await ask("GET", "/v1/responses")
    await ask("GET", `/v1/responses/${id}/nothing`)
    const asked = await respond({ input: "call delete_file", conversation: "name" })
    const previous_response_id = String(asked.json["id"])
    await respond({ input: "hello", previous_response_id })
    const question = Object(asked.json["output"]).at(-1)
    const answer = { type: "mcp_approval_response", approval_request_id: question.id, approve: true }
    const decided = await respond({ input: [answer], previous_response_id })
    await ask("GET", `/v1/responses/${String(decided.json["id"])}`)
    await respond({ input: [answer], previous_response_id })
    await respond({ input: [], previous_response_id })
    await respond({ input: "hello", previous_response_id: "resp_1" })
    const called = await respond({ input: "call place", tools: [place] })
    const call = Object(called.json["output"]).at(-1)
    const output = { type: "function_call_output", call_id: call.call_id, output: "Bern" }
    await respond({ input: [output], previous_response_id: called.json["id"], tools: [place] })
    await respond({ input: [output], previous_response_id: called.json["id"] })
    await respond({ input: "call place", conversation: "left", tools: [place] })
    await respond({ input: "hello", conversation: "left" })
    const kept = { ...ada, "idempotency-key": "once" }
    const first = await respond({ input: "hello" }, kept)
    const second = await respond({ input: "hello" }, kept)
    expect(second.json["id"]).toBe(first.json["id"])
    await respond({ input: "hello", instructions: "be kind" })
    await same("responses", written())
  })

  it("receives exactly this of a response that is read later", async () => {
    let go = () => {}
    const slow = talker({ before: () => new Promise<void>((resolve) => void (go = resolve)) })
    await using one = client({ agent: { provider: { name: "demo", complete: slow.complete }, log: false } })
    const { ask, written } = one
    const begun = await ask("POST", "/v1/responses", { input: "hello", background: true })
    const id = String(begun.json["id"])
    await ask("GET", `/v1/responses/${id}`)
    await ask("POST", `/v1/responses/${id}/cancel`, {})
    await ask("GET", `/v1/responses/${id}`)
    go()
    await same("later", written())
  })

  it("receives exactly this from useChat and AG-UI", async () => {
    await using one = client()
    const { ask, written } = one
    const body = (words: string, id = "c1") => ({
      id,
      messages: [{ id: `m-${words}`, role: "user", parts: [{ type: "text", text: words }] }]
    })
    await ask("GET", "/api/chat")
    await ask("GET", "/api/chat/")
    await ask("POST", "/api/chat/c1/more/and/more", {})
    await ask("GET", "/api/chat/c1")
    await ask("GET", "/api/chat/c1/stream")
    await ask("POST", "/api/chat/c1", {})
    await ask("GET", "/api/chat/c1/nothing")
    await ask("GET", "/api/chat/%ff")
    await ask("POST", "/api/chat", body("hello"))
    await ask("POST", "/api/chat", body("hello"))
    await ask("GET", "/api/chat/c1")
    await ask("GET", "/api/chat/c1/stream")
    await ask("GET", "/api/chat/c1/stream", undefined, { ...ada, "last-event-id": "" })
    await ask("POST", "/api/chat", body("call delete_file", "c 2"))
    await ask("GET", "/api/chat/c%202")
    await ask("GET", "/api/chat/c%202/stream")
    await ask("POST", "/api/chat/c%202/cancel", {})
    await ask("GET", "/api/chat/c%202")
    await ask("POST", "/api/chat", { id: "c3", messages: [{ id: "m", role: "assistant", parts: [] }] })
    await ask("GET", "/ag-ui")
    await ask("POST", "/ag-ui", { threadId: "t", runId: "r", messages: [{ role: "assistant", content: "x" }] })
    await same("ui", written())
  })

  it("is refused exactly like this", async () => {
    const mine = { authorization: ada.authorization, origin: "https://app.example.com" }
    const foreign = { ...ada, origin: "https://evil.example" }
    const paths = Object.keys(bodyOf)
    await using one = client({
      origins: ["https://app.example.com"],
      allowedHosts: ["agent.example.com", "localhost:1"],
      maxBodyBytes: 200,
      maxHeaderBytes: 300,
      authorize: (request) =>
        request.headers.get("authorization") === "teapot" ? new Response("short", { status: 418 }) : authorize(request)
    })
    const { ask, written } = one
    for (const path of paths) {
      await ask("POST", path, "{", ada)
      await ask("POST", path, {}, {})
      await ask("POST", path, "x".repeat(201))
    }
    await ask("POST", paths[0]!, "x".repeat(200))
    await ask("POST", paths[0]!, { a: "x" }, { ...ada, "content-length": "201" })
    await ask("POST", paths[0]!, "{\"__proto__\":1}")
    await ask("GET", "/v1/models", undefined, { ...ada, "x-long": "x".repeat(300) })
    await ask("GET", `/v1/models?${"x".repeat(300)}`)
    await ask("GET", "/v1/models", undefined, { authorization: "teapot" })
    for (
      const host of [
        "agent.example.com",
        "Agent.Example.com:8080",
        "agent.example.com.",
        "localhost:1",
        "localhost:2",
        "other"
      ]
    ) {
      await ask("GET", "/v1/models", undefined, { ...ada, host })
    }
    await ask("OPTIONS", "/v1/models", undefined, mine)
    await ask("OPTIONS", "/v1/models", undefined, { ...mine, "access-control-request-headers": "x-mine" })
    await ask("OPTIONS", "/v1/models", undefined, foreign)
    await ask("GET", "/v1/models", undefined, { ...mine, cookie: "a=b" })
    await ask("GET", "/v1/models", undefined, foreign)
    for (
      const headers of [mine, foreign, { ...ada, "sec-fetch-site": "cross-site" }, {
        ...ada,
        "sec-fetch-site": "same-site"
      }]
    ) {
      await ask("POST", paths[0]!, {}, headers)
    }
    await ask("POST", paths[0]!, {}, { ...ada, "sec-fetch-site": "same-origin" })
    await ask("POST", paths[0]!, {}, { ...ada, origin: "http://localhost" })
    await ask("GET", "/nothing")
    await same("refused", written())
  })
})
