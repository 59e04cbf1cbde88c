/** What one principal may ask of a server, in every protocol. */
import { createAgent } from "@belay/core/createAgent"
import * as SqliteStore from "@belay/providers/SqliteStore"
import { assert, describe, it } from "vitest"
import * as Host from "../../../src/host/Host.ts"
import * as AgUi from "../../../src/serve/AgUi.ts"
import { PrincipalLimits } from "../../../src/serve/internal/principalLimits.ts"
import * as Mcp from "../../../src/serve/Mcp.ts"
import * as OpenAiChat from "../../../src/serve/OpenAiChat.ts"
import * as OpenAiResponses from "../../../src/serve/OpenAiResponses.ts"
import * as Serve from "../../../src/serve/Serve.ts"
import * as UiStream from "../../../src/serve/UiStream.ts"
import { bodyOf, request } from "../support/requests.ts"
import { authorize, talker } from "../support/served.ts"

const protocols = [
  { path: "/v1/chat/completions", handler: OpenAiChat.handler },
  { path: "/v1/responses", handler: OpenAiResponses.handler },
  { path: "/api/chat", handler: UiStream.handler },
  { path: "/ag-ui", handler: AgUi.handler }
]

const serveWith = (options: Partial<Serve.Options>) =>
  Serve.make({ agent: { provider: talker(), log: false }, authorize, onError: () => {}, ...options })

const mcpHeaders = { accept: "application/json, text/event-stream", "content-type": "application/json" }

const as = (user: string) => ({ authorization: `Bearer token-${user}` })

describe("limits of a principal", () => {
  it.each(protocols)(
    "refuse too many requests a minute with 429 and when to come back: $path",
    async ({ handler, path }) => {
      const serve = serveWith({ perPrincipal: { requestsPerMinute: 2 } })
      const ask = async (user: string) => {
        const response = await handler(serve)(request(path, bodyOf[path]!("hi"), as(user)))
        await response.text()
        return [response.status, response.headers.get("retry-after")]
      }
      assert.deepEqual(await ask("ada"), [200, null])
      assert.deepEqual(await ask("ada"), [200, null])
      const [status, after] = await ask("ada")
      assert.strictEqual(status, 429)
      assert.isAtLeast(Number(after), 20)
      assert.isAtMost(Number(after), 30)
      assert.deepEqual(await ask("eve"), [200, null])
      await serve.close()
    }
  )

  it("count a stream until it has ended or its reader has gone", async () => {
    const serve = serveWith({ perPrincipal: { openRequests: 1 } })
    const chat = OpenAiChat.handler(serve)
    const open = () => chat(request("/v1/chat/completions", { ...bodyOf["/v1/chat/completions"]!("hi"), stream: true }))
    const first = await open()
    const reader = first.body!.getReader()
    await reader.read()
    const second = await open()
    assert.deepEqual([second.status, second.headers.get("retry-after")], [429, "1"])
    await reader.cancel()
    const third = await open()
    assert.strictEqual(third.status, 200)
    await third.text()
    const fourth = await open()
    assert.strictEqual(fourth.status, 200)
    await fourth.text()
    await serve.close()
  })

  it("count a call of MCP until its answer was read or its reader has gone", async () => {
    const serve = serveWith({ perPrincipal: { openRequests: 1 } })
    const mcp = Mcp.handler(serve)
    const body = {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "ask_agent", arguments: { message: "hi" } }
    }
    const open = () => mcp(request("/mcp", body, { ...as("ada"), ...mcpHeaders }))
    const first = await open()
    assert.deepEqual([first.status, (await open()).status], [200, 429])
    await first.body!.cancel()
    const second = await open()
    assert.include(await second.text(), "\"structuredContent\"")
    const third = await open()
    assert.strictEqual(third.status, 200)
    await third.text()
    await serve.close()
  })

  it("do not count requests that were refused or have failed", async () => {
    const serve = serveWith({ perPrincipal: { openRequests: 1 } })
    const chat = OpenAiChat.handler(serve)
    for (let n = 0; n < 3; n++) {
      assert.strictEqual((await chat(request("/v1/chat/completions", { messages: 1 }))).status, 400)
    }
    await serve.close()
  })

  it("say when to come back if too many messages wait", async () => {
    const store = SqliteStore.make({ path: ":memory:" })
    const agent = createAgent({ provider: talker(), store: store.sessions, log: false })
    const serve = Serve.make({
      host: Host.make({ agent, store, capacity: { perTenant: 1 } }),
      authorize,
      onError: () => {}
    })
    const ask = () => OpenAiResponses.handler(serve)(request("/v1/responses", { input: "hi", background: true }))
    assert.strictEqual((await ask()).status, 200)
    const full = await ask()
    assert.deepEqual([full.status, full.headers.get("retry-after")], [429, "5"])
    store.close()
  })

  it.each([[3.2, "4"], [-5, "1"], [0, "1"], [NaN, null], [Infinity, null]])(
    "say in whole seconds when to come back, whatever mayBegin has computed: %s",
    async (retryAfter, expected) => {
      const serve = serveWith({ perPrincipal: { mayBegin: () => ({ why: "no", retryAfter }) } })
      const { headers, status } = await OpenAiResponses.handler(serve)(request("/v1/responses", { input: "hi" }))
      assert.deepEqual([status, headers.get("retry-after")], [429, expected])
      await serve.close()
    }
  )

  it.each([[true, 200], [null, 200], [false, 429], ["soon", 429]])(
    "take %s of mayBegin, of a program without types, for what it says",
    async (answer, expected) => {
      const serve = serveWith({ perPrincipal: { mayBegin: () => answer as never } })
      const response = await OpenAiResponses.handler(serve)(request("/v1/responses", { input: "hi" }))
      assert.strictEqual(response.status, expected)
      if (expected === 429) assert.include(await response.text(), "this principal may not begin a turn now")
      await serve.close()
    }
  )

  it("are refused when they are below one, or unknown", () => {
    assert.throws(() => serveWith({ perPrincipal: { openRequests: 0 } }), /Serve\.perPrincipal\.openRequests/)
    assert.throws(() => serveWith({ perPrincipal: { request: 1 } as never }), /Serve\.perPrincipal/)
  })
})

/** Sends a request that ends at once. */
const isTaken = (limits: PrincipalLimits, principal: string): boolean => {
  const counted = limits.open(principal)
  if ("why" in counted) return false
  counted.end()
  return true
}

describe("the count of one principal", () => {
  it("fills again as time goes by, and never beyond a minute", () => {
    let now = 0
    const limits = new PrincipalLimits({ requestsPerMinute: 60 }, () => now)
    const sent = () => {
      for (let count = 0;; count++) if (!isTaken(limits, "ada")) return count
    }
    assert.strictEqual(sent(), 60)
    now += 500
    assert.strictEqual(sent(), 0)
    now += 9_500
    assert.strictEqual(sent(), 10)
    now += 3_600_000
    assert.strictEqual(sent(), 60)
  })

  it("counts the end of a request once, also if that is said twice", () => {
    const limits = new PrincipalLimits({ openRequests: 1 }, () => 0)
    const first = limits.open("ada")
    if ("why" in first) return assert.fail(first.why)
    first.end()
    first.end()
    assert.notProperty(limits.open("ada"), "why")
    assert.property(limits.open("ada"), "why")
  })

  it("is remembered while a request is open, however many others there are", () => {
    const limits = new PrincipalLimits({ openRequests: 1 }, () => 0)
    limits.open("ada")
    for (let n = 0; n < 10_001; n++) isTaken(limits, `p${n}`)
    assert.property(limits.open("ada"), "why")
  })

  it("is forgotten when it says nothing any more", () => {
    let now = 0
    const limits = new PrincipalLimits({ requestsPerMinute: 1 }, () => now)
    for (let n = 0; n < 10_000; n++) assert.isTrue(isTaken(limits, `p${n}`))
    assert.isFalse(isTaken(limits, "p1"))
    assert.isTrue(isTaken(limits, "next"))
    // Those that have just sent are remembered, although there are many.
    assert.isFalse(isTaken(limits, "p2"))
    now += 60_000
    assert.isTrue(isTaken(limits, "another"))
    assert.isTrue(isTaken(limits, "p3"))
  })
})
