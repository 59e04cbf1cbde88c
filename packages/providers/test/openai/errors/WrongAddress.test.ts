/** What errors say if the address of an endpoint or of its proxy is wrong. */
import * as OpenAiCompatible from "@belay/providers/OpenAiCompatible"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { createServer } from "node:net"
import { rawServer } from "../../support/rawServer.ts"
import { failure, request, scripted } from "../../support/support.ts"

const errorAt = (baseUrl: string, more: OpenAiCompatible.Options = {}) =>
  Effect.map(
    Effect.result(
      OpenAiCompatible.make({ baseUrl, model: "m", name: "vendor", apiKey: "test-key", ...more }).complete(request())
    ),
    failure
  )

/** A port that nobody listens to. */
const closedPort = Effect.promise(() =>
  new Promise<number>((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0))
    })
  })
)

describe("an error about a wrong address says what was tried and what to do", () => {
  it.live("if /v1 is missing (vLLM, LM Studio, a page)", () =>
    Effect.gen(function*() {
      const { endpoint } = yield* scripted([
        { status: 404, body: { detail: "Not Found" } },
        { status: 200, body: { error: "Unexpected endpoint or method. (POST /chat/completions)" } },
        { status: 200, body: "<!doctype html><html></html>", headers: { "content-type": "text/html" } }
      ])
      const { origin } = new URL(endpoint.url)
      const advice =
        `the request went to ${origin}/chat/completions; check the base URL: most servers need /v1 at its end`
      for (const tag of ["NotFound", "NotFound", "Malformed"]) {
        const error = yield* errorAt(origin)
        assert.strictEqual(error._tag, tag)
        assert.include(error.message, advice)
      }
    }))

  it.live("and not if it is the model that is missing", () =>
    Effect.gen(function*() {
      const body = { error: { message: "The model `m` does not exist", code: "model_not_found" } }
      const { endpoint } = yield* scripted([{ status: 404, body }])
      assert.notInclude((yield* errorAt(new URL(endpoint.url).origin)).message, "base URL")
    }))

  it.live("if the port does not use TLS", () =>
    Effect.gen(function*() {
      const { port } = yield* rawServer((socket) => socket.end(), (onSocket) =>
        createServer((socket) => {
          onSocket(socket)
          socket.once("data", () => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"))
        }))
      const error = yield* errorAt(`https://127.0.0.1:${port}/v1`)
      assert.strictEqual(error._tag, "Connection")
      assert.include(error.message, `the server at 127.0.0.1:${port} does not use TLS: begin the base URL with http://`)
    }))

  it.live("if the port uses TLS (Go)", () =>
    Effect.gen(function*() {
      const { provider } = yield* scripted([{ status: 400, body: "Client sent an HTTP request to an HTTPS server.\n" }])
      const error = failure(yield* Effect.result(provider.complete(request())))
      assert.match(error.message, /begin the base URL with https:\/\//)
    }))

  it.live("if the proxy is dead", () =>
    Effect.gen(function*() {
      const port = yield* closedPort
      for (const baseUrl of ["https://api.example.com/v1", "http://api.example.com/v1"]) {
        const error = yield* errorAt(baseUrl, { proxy: `http://me:secret-word@127.0.0.1:${port}` })
        assert.strictEqual(error._tag, "Connection")
        assert.include(error.message, `the proxy 127.0.0.1:${port} cannot be reached`)
        assert.include(error.message, "set `proxy: false` to connect directly")
        assert.notInclude(error.message, "secret-word")
      }
    }))

  it.live("if no server listens", () =>
    Effect.gen(function*() {
      const port = yield* closedPort
      assert.match((yield* errorAt(`http://localhost:${port}/v1`)).message, new RegExp(`ECONNREFUSED.*:${port}`))
    }))
})
