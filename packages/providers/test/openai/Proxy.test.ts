import * as OpenAiCompatible from "@belay/providers/OpenAiCompatible"
import { afterEach, assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { createServer, request as httpRequest } from "node:http"
import { createServer as createSecureServer } from "node:https"
import { connect } from "node:net"
import { selfSigned } from "../../../../test/support/certificate.ts"
import { request } from "../support/support.ts"
import { completion } from "../support/wire.ts"

const names = ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "NODE_USE_ENV_PROXY"]
const before = names.map((name) => [name, process.env[name]] as const)
afterEach(() => {
  for (const [name, value] of [...before, ["NODE_TLS_REJECT_UNAUTHORIZED", undefined] as const]) {
    if (value === undefined) delete process.env[name]
    else process.env[name] = value
  }
})

const listening = <Server extends { readonly close: () => unknown; readonly closeAllConnections: () => void }>(
  server: Server & Pick<ReturnType<typeof createServer>, "listen" | "address">
) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(() => new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve))),
      () =>
        Effect.sync(() => {
          server.close()
          server.closeAllConnections()
        })
    ),
    () => {
      const address = server.address()
      return typeof address === "object" && address !== null ? address.port : 0
    }
  )

const answer = JSON.stringify(completion({ content: "hi" }))

/** A proxy that forwards requests and connections to 127.0.0.1, whatever host they name. */
const proxy = Effect.gen(function*() {
  const seen: Array<string> = []
  const server = createServer((incoming, response) => {
    seen.push(`${incoming.method} ${incoming.url} ${incoming.headers.authorization ?? ""}`)
    const url = new URL(incoming.url ?? "")
    const options = { port: url.port, path: url.pathname, method: incoming.method ?? "GET", headers: incoming.headers }
    const onward = httpRequest({ host: "127.0.0.1", ...options }, (answered) => {
      response.writeHead(answered.statusCode ?? 0, answered.headers)
      answered.pipe(response)
    })
    incoming.pipe(onward)
  })
  server.on("connect", (incoming, socket, head) => {
    seen.push(`CONNECT ${incoming.url} ${incoming.headers["proxy-authorization"] ?? ""}`)
    const onward = connect(Number(incoming.url?.split(":")[1]), "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection Established\r\n\r\n")
      onward.write(head)
      onward.pipe(socket).pipe(onward)
    })
    onward.on("error", () => socket.destroy())
    socket.on("error", () => onward.destroy())
  })
  const port = yield* listening(server)
  return { url: `http://127.0.0.1:${port}`, seen }
})

const target = Effect.gen(function*() {
  const port = yield* listening(createServer((incoming, response) => {
    incoming.resume().on("end", () => response.setHeader("content-type", "application/json").end(answer))
  }))
  return { port }
})

const secureTarget = Effect.gen(function*() {
  const port = yield* listening(createSecureServer(selfSigned(["models.example"]), (incoming, response) => {
    incoming.resume().on("end", () => response.setHeader("content-type", "application/json").end(answer))
  }))
  return { port }
})

const textOf = (baseUrl: string, options: OpenAiCompatible.Options = {}) =>
  Effect.map(
    OpenAiCompatible.make({ baseUrl, apiKey: "test-key", model: "m", ...options }).complete(request()),
    ({ text }) => text
  )

describe("a proxy", () => {
  it.live("that is an option is used for http, also on this machine", () =>
    Effect.gen(function*() {
      const { seen, url } = yield* proxy
      const { port } = yield* target
      assert.strictEqual(yield* textOf(`http://127.0.0.1:${port}/v1`, { proxy: url }), "hi")
      assert.deepStrictEqual(seen, [`POST http://127.0.0.1:${port}/v1/chat/completions Bearer test-key`])
    }))

  it.live("that is an option gets a tunnel for https, and never sees the key", () =>
    Effect.gen(function*() {
      process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0"
      const { seen, url } = yield* proxy
      const { port } = yield* secureTarget
      const given = url.replace("//", "//ada:secret@")
      assert.strictEqual(yield* textOf(`https://models.example:${port}/v1`, { proxy: given }), "hi")
      assert.deepStrictEqual(seen, [`CONNECT models.example:${port} Basic ${btoa("ada:secret")}`])
    }))

  it.live("in the environment is used, except for servers on this machine and names in NO_PROXY", () =>
    Effect.gen(function*() {
      const { seen, url } = yield* proxy
      const { port } = yield* target
      process.env.HTTP_PROXY = url
      process.env.NO_PROXY = "other.example"
      assert.strictEqual(yield* textOf(`http://models.example:${port}/v1`), "hi")
      assert.lengthOf(seen, 1)
      assert.strictEqual(yield* textOf(`http://127.0.0.1:${port}/v1`), "hi")
      assert.strictEqual(yield* textOf(`http://127.0.0.1:${port}/v1`, { proxy: false }), "hi")
      const direct = yield* Effect.flip(textOf(`http://other.example:${port}/v1`))
      assert.strictEqual(direct._tag, "Connection")
      assert.lengthOf(seen, 1)
    }))

  it.live("in the environment is used as Node does it with NODE_USE_ENV_PROXY", () =>
    Effect.gen(function*() {
      const { seen, url } = yield* proxy
      const { port } = yield* target
      process.env.http_proxy = url
      process.env.NODE_USE_ENV_PROXY = "1"
      assert.strictEqual(yield* textOf(`http://127.0.0.1:${port}/v1`), "hi")
      assert.lengthOf(seen, 1)
    }))

  it.live("can be a host and a port", () =>
    Effect.gen(function*() {
      const { seen, url } = yield* proxy
      const { port } = yield* target
      process.env.http_proxy = url.replace("http://", "")
      assert.strictEqual(yield* textOf(`http://models.example:${port}/v1`), "hi")
      assert.strictEqual(yield* textOf(`http://models.example:${port}/v1`, { proxy: process.env.http_proxy }), "hi")
      assert.lengthOf(seen, 2)
    }))

  it.live("that cannot be used is an error, and no request goes around it", () =>
    Effect.gen(function*() {
      const { port } = yield* target
      const problem = "must be the address of an HTTP proxy, such as http://host:8080"
      const messageOf = (options?: OpenAiCompatible.Options) =>
        Effect.map(Effect.flip(textOf(`http://127.0.0.1:${port}/v1`, options)), (error) => {
          assert.strictEqual(error._tag, "InvalidRequest")
          return error.message
        })
      for (const proxy of ["socks5://ada:secret@127.0.0.1:1080", "ftp://host", "http://", "a b", ""]) {
        const message = yield* messageOf({ proxy })
        assert.include(message, `OpenAiCompatible.proxy: ${problem}`)
        assert.notInclude(message, "secret")
      }
      process.env.NODE_USE_ENV_PROXY = "1"
      process.env.HTTP_PROXY = "socks5://127.0.0.1:1080"
      assert.include(yield* messageOf(), `HTTP_PROXY: ${problem}`)
      assert.strictEqual(yield* textOf(`http://127.0.0.1:${port}/v1`, { proxy: false }), "hi")
      assert.strictEqual(yield* textOf(`http://127.0.0.1:${port}/v1`, { fetch }), "hi")
      process.env.HTTPS_PROXY = process.env.HTTP_PROXY
      delete process.env.HTTP_PROXY
      assert.strictEqual(yield* textOf(`http://127.0.0.1:${port}/v1`), "hi")
    }))

  it.live("that does not answer is an error of the connection", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(textOf("http://models.example/v1", { proxy: "http://127.0.0.1:1" }))
      assert.strictEqual(error._tag, "Connection")
    }))
})
