/** Pages of other sites cannot use the server with what a browser knows of a user, on plain HTTP as well. */
import * as AgUi from "@belay/server/AgUi"
import * as Mcp from "@belay/server/Mcp"
import * as NodeHttp from "@belay/server/NodeHttp"
import * as OpenAiChat from "@belay/server/OpenAiChat"
import * as OpenAiResponses from "@belay/server/OpenAiResponses"
import * as Serve from "@belay/server/Serve"
import * as UiStream from "@belay/server/UiStream"
import { createServer, request as send } from "node:http"
import { type AddressInfo, connect } from "node:net"
import { assert, describe, it } from "vitest"
import { bodyOf } from "../support/requests.ts"
import { served } from "../support/served.ts"

const ping = () => ({ jsonrpc: "2.0", id: 1, method: "ping" })
const protocols: ReadonlyArray<readonly [path: string, body: (words: string) => object]> = [
  ...Object.entries(bodyOf),
  ["/mcp", ping]
]
const each = it.for(protocols)

/** A server of all protocols. Its principals are in cookies or in bearer tokens. */
const site = async (options: Partial<Serve.Options> = {}) => {
  const all = (serve: Serve.Serve) =>
    Serve.route({
      "/v1/responses": OpenAiResponses.handler(serve),
      "/v1": OpenAiChat.handler(serve),
      "/api/chat": UiStream.handler(serve),
      "/ag-ui": AgUi.handler(serve),
      "/mcp": Mcp.handler(serve)
    })
  const authorize = ({ headers }: Request) =>
    /user=(\w+)/.exec(headers.get("cookie") ?? "")?.[1] ?? headers.get("authorization")?.replace("Bearer ", "")
  const server = await served(all, { authorize, ...options })
  const { host, port } = new URL(server.url)
  /** Sends headers that `fetch` does not let a program choose. */
  const post = (path: string, body: object, headers: Readonly<Record<string, string>>, method = "POST") =>
    new Promise<{ readonly status: number; readonly text: string }>((resolve, reject) => {
      const content = { "content-type": "application/json", accept: "application/json, text/event-stream" }
      const outgoing = send(
        { host: "127.0.0.1", port, path, method, headers: { ...content, ...headers } },
        (answer) => {
          let text = ""
          answer.on("data", (data) => text += String(data)).on(
            "end",
            () => resolve({ status: answer.statusCode ?? 0, text })
          )
        }
      )
      outgoing.on("error", reject).end(method === "POST" ? JSON.stringify(body) : undefined)
    })
  return { ...server, host, port, post, [Symbol.asyncDispose]: server.close }
}

const cookie = "user=ada"
const foreign = "http://evil.example"

describe("a foreign page", () => {
  each("cannot post to %s with the cookie of a user, without Sec-Fetch-Site as on plain HTTP", async ([path, body]) => {
    await using server = await site()
    for (const origin of [foreign, "null", `http://localhost:${server.port}`, `${foreign}:${server.port}`]) {
      const { status, text } = await server.post(path, body("hi"), { cookie, origin })
      assert.strictEqual(status, 403, origin)
      assert.include(text, "`origins`")
    }
    assert.lengthOf(await server.serve.host.list(), 0)
    assert.strictEqual((await server.post(path, body("hi"), { cookie, origin: `http://${server.host}` })).status, 200)
    assert.strictEqual((await server.post(path, body("hi"), { cookie })).status, 200)
  })

  each("that the owner allows cannot use %s with a cookie alone", async ([path, body]) => {
    for (const origins of [[foreign], ["*"]]) {
      await using server = await site({ origins })
      assert.strictEqual((await server.post(path, body("hi"), { cookie, origin: foreign })).status, 401)
      const own = { cookie, origin: foreign, authorization: "Bearer ada" }
      assert.strictEqual((await server.post(path, body("hi"), own)).status, 200)
      assert.strictEqual((await server.post(path, body("hi"), { cookie, origin: `http://${server.host}` })).status, 200)
    }
  })

  it("is not allowed because its origin begins like an allowed one, or because another port or scheme is", async () => {
    await using server = await site({ origins: ["https://app.example", "http://app.example:8080"] })
    const status = async (origin: string) => {
      const headers = { authorization: "Bearer ada", origin }
      return (await server.post("/api/chat", bodyOf["/api/chat"]!("hi"), headers)).status
    }
    for (const origin of ["https://app.example.evil.example", "http://app.example", "https://app.example:8080"]) {
      assert.strictEqual(await status(origin), 403, origin)
    }
    assert.strictEqual(await status("https://app.example"), 200)
  })

  it("of the same domain reads and sends nothing with a cookie", async () => {
    await using server = await site()
    const headers = { cookie, "sec-fetch-site": "same-site" }
    assert.strictEqual((await server.post("/api/chat", bodyOf["/api/chat"]!("hi"), headers)).status, 403)
    assert.strictEqual((await server.post("/api/chat/c1", {}, headers, "GET")).status, 401)
  })

  it("reads nothing with a cookie, and opens no stream of MCP", async () => {
    await using server = await site()
    await server.post("/api/chat", bodyOf["/api/chat"]!("secret"), { cookie })
    const read = async (headers: Readonly<Record<string, string>>) =>
      (await server.post("/api/chat/c1", {}, headers, "GET")).text
    assert.include(await read({ cookie }), "secret")
    assert.notInclude(await read({ cookie, origin: foreign }), "secret")
    assert.notInclude(await read({ cookie, "sec-fetch-site": "cross-site" }), "secret")
    const own = { authorization: "Bearer ada", origin: foreign }
    assert.strictEqual((await server.post("/mcp", {}, own, "GET")).status, 403)
  })
})

describe("the name of the server", () => {
  each("in a request to %s is one of this machine, unless the owner names another", async ([path, body]) => {
    const status = async (host: string, allowedHosts?: ReadonlyArray<string>) => {
      await using server = await site(allowedHosts === undefined ? {} : { allowedHosts })
      const given = host.replace("PORT", server.port)
      const answer = await server.post(path, body("hi"), { cookie, host: given, origin: `http://${given}` })
      if (answer.status === 403) assert.include(answer.text, "allowedHosts")
      return answer.status
    }
    for (const own of ["localhost:PORT", "127.0.0.1:PORT", "LOCALHOST", "localhost.:1"]) {
      assert.strictEqual(await status(own), 200, own)
    }
    for (const other of ["evil.example:PORT", "localhost.evil.example", "127.0.0.1.evil.example", "10.0.0.1"]) {
      assert.strictEqual(await status(other), 403, other)
    }
    assert.strictEqual(await status("agent.example.com", ["agent.example.com"]), 200)
    assert.strictEqual(await status("agent.example.com", ["Agent.Example.COM"]), 200)
    assert.strictEqual(await status("agent.example.com:8443", ["agent.example.com:8443"]), 200)
    assert.strictEqual(await status("agent.example.com:1", ["agent.example.com:8443"]), 403)
    assert.strictEqual(await status("anything", ["*"]), 200)
    // The address at which the request has arrived cannot be the name of somebody else.
    assert.strictEqual(await status("127.0.0.1:PORT", ["agent.example.com"]), 200)
  })

  it("is quoted in a refusal up to 200 characters", async () => {
    await using server = await site()
    const { text } = await server.post("/mcp", {}, { cookie, host: `${"a".repeat(199)}bc` })
    assert.include(text, `\\"${"a".repeat(199)}b\\": its owner`)
  })

  it("must be a name in the options", () => {
    const make = () => Serve.make({ agent: {} as never, authorize: () => "ada", allowedHosts: ["https://a.example"] })
    assert.throws(make, /Serve\.allowedHosts: expected .*such as agent\.example\.com, found "https:\/\/a\.example"/)
  })
})

describe("the target of a request", () => {
  it("that begins with two slashes, or names another server, is not found", async () => {
    const all = (serve: Serve.Serve) => OpenAiChat.handler(serve)
    await using server = await served(all, { authorize: () => "ada" })
    const raw = (target: string) =>
      new Promise<string>((resolve, reject) => {
        const { port } = new URL(server.url)
        const socket = connect(Number(port), "127.0.0.1", () =>
          socket.write(`GET ${target} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nconnection: close\r\n\r\n`))
        let text = ""
        socket.on("data", (data) =>
          text += String(data)).on("end", () =>
            resolve(text)).on("error", reject)
      })
    assert.match(await raw("/v1/models"), /^HTTP\/1\.1 200/)
    assert.match(await raw("//evil/v1/models"), /^HTTP\/1\.1 404/)
    assert.match(await raw("///evil/v1/models"), /^HTTP\/1\.1 404/)
    assert.match(await raw("http://evil.example/v1/models"), /^HTTP\/1\.1 400/)
    const routed = Serve.route({ "/v1": all(server.serve) })
    const bare = createServer(NodeHttp.toNode(routed))
    await new Promise<void>((resolve) => bare.listen(0, "127.0.0.1", resolve))
    const { port } = bare.address() as AddressInfo
    assert.strictEqual((await fetch(`http://127.0.0.1:${port}//evil/v1/models`)).status, 404)
    bare.close()
  })
})
