/** What holds for every protocol: who is served, what is refused, and what clients never see. */
import { createAgent } from "@belay/core/createAgent"
import * as SqliteStore from "@belay/providers/SqliteStore"
import * as AgUi from "@belay/server/AgUi"
import * as Host from "@belay/server/Host"
import * as OpenAiChat from "@belay/server/OpenAiChat"
import * as OpenAiResponses from "@belay/server/OpenAiResponses"
import * as Serve from "@belay/server/Serve"
import * as UiStream from "@belay/server/UiStream"
import * as Effect from "effect/Effect"
import { Hono } from "hono"
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { ada, bodyOf, chatBody, request, uiBody } from "./support/requests.ts"
import { asking, authorize, served, talker, tools } from "./support/served.ts"

const protocols = [
  { name: "chat completions", handler: OpenAiChat.handler, path: "/v1/chat/completions" },
  { name: "responses", handler: OpenAiResponses.handler, path: "/v1/responses" },
  { name: "the UI stream", handler: (serve: Serve.Serve) => UiStream.handler(serve), path: "/api/chat" },
  { name: "AG-UI", handler: AgUi.handler, path: "/ag-ui" }
]
const each = it.for(protocols)

const until = async (is: () => boolean | Promise<boolean>) => {
  while (!await is()) await new Promise((resolve) => setTimeout(resolve, 5))
}

describe("the options", () => {
  it("require a function that says who is served, and exactly one of host and agent", () => {
    const agent = { provider: talker() }
    const wrong = (options: object) => {
      try {
        // What a program in JavaScript may pass.
        Serve.make(options as Serve.Options)
        return "nothing"
      } catch (error) {
        return `${Object(error)._tag} ${Object(error).message}`
      }
    }
    assert.match(wrong({ agent }), /^ConfigError Serve\.authorize: is missing/)
    assert.match(wrong({ authorize }), /^ConfigError Serve\.host: give either `host` or `agent`/)
    assert.match(wrong({ agent: createAgent(agent), authorize }), /^ConfigError Serve\.agent: expected the options/)
    assert.match(wrong({ agent, authorise: authorize, authorize }), /did you mean "authorize"/)
    assert.match(wrong({ agent, authorize, maxBodyBytes: 0 }), /Serve\.maxBodyBytes/)
    assert.match(wrong({ host: {}, authorize }), /^ConfigError Serve\.host: expected .*Host\.make/)
    const origin = "https://app.example.com/"
    assert.match(wrong({ agent, authorize, origins: [origin] }), /Serve\.origins: .*such as https:.*, found "https:/)
    assert.strictEqual(wrong({ agent, authorize, origins: ["*", "http://localhost:3000"] }), "nothing")
  })
})

describe("authorization", () => {
  each("of $name takes what make returns, and nothing else", async ({ handler }) => {
    for (const wrong of [undefined, {}, { send: () => {} }]) {
      assert.throws(() => handler(wrong as never), /^handler\.serve: expected what Serve\.make returns, found/)
    }
  })

  each("of $name refuses who is not known, in the form of the protocol", async ({ handler, path }) => {
    await using server = await served(handler)
    const handle = handler(server.serve)
    for (const headers of [{}, { authorization: "Bearer wrong" }]) {
      const answer = await handle(request(path, bodyOf[path]!("hi"), headers))
      assert.strictEqual(answer.status, 401)
      assert.isString(Object(Object(await answer.json()).error).message ?? "text")
    }
    assert.lengthOf(await server.serve.host.list(), 0)
  })

  it("may answer with its own response, and an error in it is not shown", async () => {
    const own = new Response("pay first", { status: 402 })
    await using server = await served(OpenAiChat.handler, { authorize: () => own })
    assert.strictEqual((await fetch(server.url)).status, 402)
    await using broken = await served(OpenAiChat.handler, {
      authorize: () => {
        throw new Error("the database /var/keys is away")
      }
    })
    const answer = await fetch(broken.url)
    assert.strictEqual(answer.status, 500)
    assert.notInclude(await answer.text(), "keys")
    assert.lengthOf(broken.errors, 1)
  })
})

describe("a store that cannot be used", () => {
  each("makes $name answer with status 503, without the reason", async ({ handler, path }) => {
    const { inbox, sessions } = SqliteStore.make({ path: ":memory:" })
    const add = () => Effect.fail("keys")
    const agent = createAgent({ provider: talker(), store: sessions, log: false })
    const host = Host.make({ agent, store: { sessions, inbox: { ...inbox, add } } })
    await using server = await served(handler, { host })
    const answer = await handler(server.serve)(request(path, bodyOf[path]!("hi")))
    assert.strictEqual(answer.status, 503)
    assert.notInclude(await answer.text(), "keys")
    assert.lengthOf(server.errors, 1)
  })
})

describe("limits", () => {
  it("of the host are those of a principal, and the client may try again later", async () => {
    const store = SqliteStore.make({ path: ":memory:" })
    const agent = createAgent({ provider: talker(), store: store.sessions, log: false })
    const host = Host.make({ agent, store, capacity: { perTenant: 1 } })
    await using server = await served(OpenAiResponses.handler, { host })
    const send = async (user: string) => {
      const headers = { authorization: `Bearer token-${user}` }
      return (await OpenAiResponses.handler(server.serve)(
        request("/v1/responses", { input: "hi", background: true }, headers)
      )).status
    }
    // Nobody runs the sessions of this host.
    assert.deepStrictEqual([await send("ada"), await send("ada"), await send("eve")], [200, 429, 200])
    assert.deepStrictEqual(server.errors, [])
  })

  each("of $name: a body or headers that are too large, and what is not JSON", async ({ handler, path }) => {
    await using server = await served(handler, { maxBodyBytes: 2_000, maxHeaderBytes: 1_000 })
    const post = (body: string, headers: Readonly<Record<string, string>> = {}) =>
      fetch(`${server.url}${path}`, { method: "POST", headers: { ...ada, ...headers }, body })
    assert.strictEqual((await post("x".repeat(2_001))).status, 413)
    assert.strictEqual((await post("{}", { "x-filler": "x".repeat(1_000) })).status, 413)
    for (const body of ["", "{", "[".repeat(1_900), "null", "[]", "1"]) {
      assert.strictEqual((await post(body)).status, 400, body.slice(0, 10))
    }
    const chunked = new ReadableStream({
      start: (controller) => {
        for (let n = 0; n < 3; n++) controller.enqueue(new Uint8Array(1_000))
        controller.close()
      }
    })
    const init = { method: "POST", headers: ada, body: chunked, duplex: "half" }
    assert.strictEqual((await fetch(`${server.url}${path}`, init as RequestInit)).status, 413)
    assert.deepStrictEqual(server.errors, [])
  })

  it("are of exactly the size in the options, and the reason why a body is not valid is named", async () => {
    const hi = JSON.stringify({ messages: "hi" })
    await using server = await served(OpenAiChat.handler, { maxBodyBytes: hi.length })
    const post = async (body: string | Uint8Array | ReadableStream): Promise<string> => {
      const init = { method: "POST", headers: ada, body, duplex: "half" }
      const answer = await fetch(`${server.url}/v1/chat/completions`, init as RequestInit)
      return `${answer.status} ${Object(await answer.json()).error.message}`
    }
    const inParts = (text: string) =>
      new ReadableStream({
        start: (controller) => {
          for (const part of [text.slice(0, 9), text.slice(9)]) controller.enqueue(new TextEncoder().encode(part))
          controller.close()
        }
      })
    const large = `413 the body is larger than ${hi.length} bytes`
    assert.match(await post(hi), /^400 .*messages/)
    assert.match(await post(inParts(hi)), /^400 .*messages/)
    assert.strictEqual(await post(`${hi} `), large)
    assert.strictEqual(await post(inParts(`${hi} `)), large)
    assert.match(await post("{\"a\": 1e999}"), /^400 the body is not valid: \S/)
    const cut = new Uint8Array([...new TextEncoder().encode("{}"), 0xc3])
    assert.strictEqual(await post(cut), "400 the body is not JSON")
  })

  it("cut the results of tools that are too long", async () => {
    const [weather] = tools()
    const long = { ...weather!, execute: () => "x".repeat(50_000) }
    await using server = await served(OpenAiResponses.handler, { maxEventLength: 1_000 }, { tools: [long] })
    const answer = await OpenAiResponses.handler(server.serve)(request("/v1/responses", { input: "call weather" }))
    const { output } = Object(await answer.json())
    assert.isBelow(output[1].output.length, 1_100)
  })
})

describe("a path", () => {
  it("that is not valid is the client's mistake", async () => {
    await using server = await served((serve) => UiStream.handler(serve))
    for (
      const [path, status] of [["/api/chat/%", 400], ["/api/chat/a/b/c", 404], ["/api/chatter", 404], [
        "/",
        404
      ]] as const
    ) {
      assert.strictEqual((await fetch(`${server.url}${path}`, { headers: ada })).status, status, path)
    }
    assert.deepStrictEqual(server.errors, [])
  })
})

describe("errors of the agent", () => {
  each("of $name are shown without what is inside, and reported to the program", async ({ handler, path }) => {
    const secret = "sk-live-12345 at /srv/agent/provider.ts:12"
    const provider = talker({ before: () => Promise.reject(new Error(secret)) })
    await using server = await served(handler, {}, { provider })
    for (const stream of [false, true]) {
      const answer = await handler(server.serve)(request(path, { ...bodyOf[path]!("hi"), stream }))
      const text = await answer.text()
      assert.match(text, /the agent failed: the log of the server says why/)
      assert.notInclude(text, "sk-live")
    }
    assert.include(JSON.stringify(server.errors), "sk-live")
  })

  it("that a hook wrote for the user are shown", async () => {
    const rejects = { _tag: "Reject", reason: "rule 7 of the list", userMessage: "please be polite" } as const
    const hook = { name: "polite", preTurn: () => rejects }
    await using server = await served(OpenAiChat.handler, {}, { hooks: [hook] })
    const answer = await OpenAiChat.handler(server.serve)(request("/v1/chat/completions", chatBody("hi")))
    assert.strictEqual(answer.status, 400)
    assert.deepInclude(Object(await answer.json()).error, { code: "content_filter", message: "please be polite" })
  })
})

describe("a client that goes away", () => {
  const leave = async (cancelOnDisconnect: boolean) => {
    let calls = 0
    let go = (): void => {}
    const gate = new Promise<void>((resolve) => go = resolve)
    const provider = talker({ each: async () => ++calls === 2 ? gate : undefined })
    await using server = await served(OpenAiChat.handler, { cancelOnDisconnect }, { provider })
    const abort = new AbortController()
    const response = await fetch(`${server.url}/v1/chat/completions`, {
      method: "POST",
      headers: ada,
      body: JSON.stringify({ ...chatBody("hello"), stream: true }),
      signal: abort.signal
    })
    await response.body!.getReader().read()
    await until(() => calls === 2)
    abort.abort()
    const { host } = server.serve
    const { id } = (await host.list())[0]!
    if (cancelOnDisconnect) await until(async () => (await host.conversation(id))!.open.length === 0)
    go()
    await until(async () => (await host.conversation(id))!.open.length === 0)
    return (await host.conversation(id))!.messages.at(-1)!.content
  }

  it("does not stop the turn", async () => assert.strictEqual(await leave(false), "You said: hello (1)"))

  it("stops it if that is asked for", async () => assert.notStrictEqual(await leave(true), "You said: hello (1)"))
})

describe("pages of other origins", () => {
  it("read nothing, unless their origin is named", async () => {
    const call = async (origin: string, method: string, origins?: ReadonlyArray<string>) => {
      await using server = await served(OpenAiChat.handler, origins === undefined ? {} : { origins })
      const answer = await fetch(`${server.url}/v1/models`, { method, headers: { ...ada, origin } })
      return { status: answer.status, allowed: answer.headers.get("access-control-allow-origin") }
    }
    const [own, other] = ["https://app.example", "https://evil.example"]
    assert.deepStrictEqual(await call(own, "GET"), { status: 200, allowed: null })
    assert.deepStrictEqual(await call(own, "GET", [own]), { status: 200, allowed: own })
    assert.deepStrictEqual(await call(own, "OPTIONS", [own]), { status: 204, allowed: own })
    assert.deepStrictEqual(await call(other, "OPTIONS", [own]), { status: 204, allowed: null })
    assert.strictEqual((await call(other, "OPTIONS")).allowed, null)
  })

  it("learn what they may send from the answer to a preflight request, and only there", async () => {
    const origin = "https://app.example"
    await using server = await served(OpenAiChat.handler, { origins: [origin] })
    const allowed = async (method: string, more: Readonly<Record<string, string>> = {}) => {
      const { headers } = await fetch(`${server.url}/v1/models`, { method, headers: { ...ada, origin, ...more } })
      return ["methods", "headers"].map((what) => headers.get(`access-control-allow-${what}`))
    }
    const methods = "GET, POST, DELETE, OPTIONS"
    assert.deepStrictEqual(await allowed("OPTIONS"), [methods, "authorization, content-type"])
    assert.deepStrictEqual(await allowed("OPTIONS", { "access-control-request-headers": "x-a" }), [methods, "x-a"])
    assert.deepStrictEqual(await allowed("GET"), [null, null])
  })
})

describe("a page of another site", () => {
  it("cannot send anything with the cookies of a user, unless its origin is named", async () => {
    const own = "https://app.example"
    await using server = await served(OpenAiChat.handler, { origins: [own], authorize: () => "ada" })
    const status = async (headers: Readonly<Record<string, string>>) =>
      (await OpenAiChat.handler(server.serve)(request("/v1/chat/completions", chatBody("hi"), headers))).status
    assert.strictEqual(await status({ "sec-fetch-site": "cross-site", origin: "https://evil.example" }), 403)
    assert.strictEqual(await status({ "sec-fetch-site": "same-site", origin: "https://other.app.example" }), 403)
    assert.strictEqual(await status({ "sec-fetch-site": "cross-site", origin: own }), 200)
    assert.strictEqual(await status({ "sec-fetch-site": "same-origin", origin: "http://localhost" }), 200)
    assert.strictEqual(await status({}), 200)
  })
})

describe("a framework", () => {
  it("such as Hono mounts a handler as it is", async () => {
    await using server = await served(OpenAiChat.handler)
    const app = new Hono().mount("/ai", Serve.route({ "/v1": OpenAiChat.handler(server.serve) }))
    const answer = await app.request("/ai/v1/models", { headers: ada })
    assert.strictEqual(Object(await answer.json()).object, "list")
    assert.strictEqual((await app.request("/ai/other", { headers: ada })).status, 404)
  })
})

describe("several processes", () => {
  it("one that serves reads the turns that another one runs, and takes answers to its questions", async () => {
    const path = join(mkdtempSync(join(tmpdir(), "belay-serve-")), "store.db")
    const log: Array<string> = []
    const open = () => {
      const store = SqliteStore.make({ path })
      const agent = createAgent({
        provider: talker(),
        tools: tools(log),
        hooks: [asking],
        store: store.sessions,
        log: false
      })
      return { store, agent, host: Host.make({ agent, store, pollMs: 20 }) }
    }
    const [runner, front] = [open(), open()]
    await using _running = await runner.host.start()
    await using server = await served((serve) => UiStream.handler(serve), { host: front.host })
    const handle = UiStream.handler(server.serve)
    const first = await (await handle(request("/api/chat", uiBody("c1", "call delete_file")))).text()
    assert.include(first, "tool-approval-request")
    const approvalId = /"approvalId":"([^"]+)"/.exec(first)![1]
    const approval = { id: approvalId, approved: true }
    const part = {
      type: "dynamic-tool",
      toolName: "delete_file",
      toolCallId: "c1_0",
      state: "approval-responded",
      approval
    }
    const second = await handle(
      request("/api/chat", { id: "c1", messages: [{ id: "a", role: "assistant", parts: [part] }] })
    )
    const text = await second.text()
    assert.include(text, "tool-output-available")
    assert.notInclude(text, "Let me look")
    assert.include([...text.matchAll(/"delta":"([^"]*)"/g)].map(([, delta]) => delta).join(""), "Result: deleted")
    assert.deepStrictEqual(log, ["delete_file"])
    await front.agent.close()
  })

  it("a reader sees all steps of a turn that another process continues after a drain", async () => {
    const path = join(mkdtempSync(join(tmpdir(), "belay-serve-")), "store.db")
    let release = (): void => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    let asked = (): void => {}
    const isAsked = new Promise<void>((resolve) => (asked = resolve))
    const open = (before: () => Promise<unknown>) => {
      const store = SqliteStore.make({ path })
      const agent = createAgent({ provider: talker({ before }), tools: tools(), store: store.sessions, log: false })
      return { agent, host: Host.make({ agent, store, pollMs: 20 }) }
    }
    const first = open(() => (asked(), held))
    const next = open(async () => {})
    const running = await first.host.start()
    await using server = await served((serve) => UiStream.handler(serve), { host: next.host })
    const handle = UiStream.handler(server.serve)
    const answer = await handle(request("/api/chat", uiBody("c1", "call weather")))
    const read = answer.text()
    await isAsked
    const drained = running.drain({ withinMs: 5_000 })
    release()
    await drained
    await using _running = await next.host.start()
    const text = await read
    assert.include(text, "tool-output-available")
    // One step for the call, in the first process, and one for the answer, in the next.
    assert.lengthOf([...text.matchAll(/"start-step"/g)], 2)
    await first.agent.close()
    await next.agent.close()
  })
})
