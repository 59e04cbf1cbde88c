import type { LlmProvider } from "@belay/core/LlmProvider"
import * as OpenAiCompatible from "@belay/providers/OpenAiCompatible"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Agent } from "node:https"
import { createServer } from "node:tls"
import { selfSigned } from "../../../../test/support/certificate.ts"
import { httpAnswer, rawServer } from "../support/rawServer.ts"
import { request } from "../support/support.ts"

const providerOf = (port: number): LlmProvider =>
  OpenAiCompatible.make({ baseUrl: `http://127.0.0.1:${port}/v1`, apiKey: "test-key", model: "m" })

const calls = (provider: LlmProvider, count: number) =>
  Effect.forEach(
    Array.from({ length: count }, (_, n) => n),
    () => Effect.tap(Effect.result(provider.complete(request())), Effect.promise(() => pooled()))
  )

/** A connection is free for the next request a moment after its answer. */
const pooled = () => new Promise<void>((resolve) => setImmediate(resolve))

const tagsOf = (results: Effect.Success<ReturnType<typeof calls>>) =>
  results.map((result) => result._tag === "Success" ? result.success.text : result.failure._tag)

describe("a server that promises to keep a connection", () => {
  for (const how of ["end", "destroy", "resetAndDestroy"] as const) {
    it.live(`and closes it after each answer (${how}) answers 280 calls in a row`, () =>
      Effect.gen(function*() {
        const server = yield* rawServer((socket) => {
          socket.write(httpAnswer("hi"), () => socket[how]())
        })
        const results = yield* calls(providerOf(server.port), how === "resetAndDestroy" ? 20 : 280)
        // A reset can also destroy the answer before the client has read it. No client can do anything about it.
        const failed = tagsOf(results).filter((tag) => tag !== "hi")
        if (how !== "resetAndDestroy") assert.deepStrictEqual(failed, [])
      }))
  }

  it.live("and closes it when the next request has arrived gets the request once more, on a fresh connection", () =>
    Effect.gen(function*() {
      const server = yield* rawServer((socket, { nth }) =>
        nth === 1 ? socket.write(httpAnswer("hi")) : socket.destroy()
      )
      assert.deepStrictEqual(tagsOf(yield* calls(providerOf(server.port), 4)), ["hi", "hi", "hi", "hi"])
      for (const { nth, socket } of server.requests) assert.isTrue(nth === 1 || socket === 1 || nth === 2)
    }))

  it.live("gets nothing twice when a part of an answer came back", () =>
    Effect.gen(function*() {
      const server = yield* rawServer((socket, { nth }) =>
        nth === 1
          ? socket.write(httpAnswer("hi"))
          : socket.write("HTTP/1.1 2", () => setTimeout(() => socket.destroy(), 20))
      )
      assert.deepStrictEqual(tagsOf(yield* calls(providerOf(server.port), 2)), ["hi", "Connection"])
      assert.lengthOf(server.requests, 2)
    }))

  it.live("gets nothing twice when the headers of an answer came back", () =>
    Effect.gen(function*() {
      const server = yield* rawServer((socket, { nth }) =>
        nth === 1
          ? socket.write(httpAnswer("hi"))
          : socket.write(httpAnswer("hi").slice(0, 130), () => setTimeout(() => socket.destroy(), 20))
      )
      assert.deepStrictEqual(tagsOf(yield* calls(providerOf(server.port), 2)), ["hi", "Connection"])
      assert.lengthOf(server.requests, 2)
    }))
})

describe("a connection with TLS", () => {
  it.live("that the server closed is replaced, also with an agent of the user", () =>
    Effect.gen(function*() {
      const certificate = selfSigned(["127.0.0.1"])
      const server = yield* rawServer(
        (socket, { nth }) => nth === 1 ? socket.write(httpAnswer("hi")) : socket.destroy(),
        (onSocket) => createServer(certificate, onSocket)
      )
      const provider = OpenAiCompatible.make({
        baseUrl: `https://127.0.0.1:${server.port}/v1`,
        apiKey: "test-key",
        model: "m",
        proxy: new Agent({ ca: certificate.cert, keepAlive: true })
      })
      assert.deepStrictEqual(tagsOf(yield* calls(provider, 4)), ["hi", "hi", "hi", "hi"])
      assert.isAbove(server.requests.length, 4)
    }))
})

describe("a fresh connection", () => {
  it.live("that closes without an answer is an error at once", () =>
    Effect.gen(function*() {
      const server = yield* rawServer((socket) => void socket.destroy())
      assert.deepStrictEqual(tagsOf(yield* calls(providerOf(server.port), 1)), ["Connection"])
      assert.lengthOf(server.requests, 1)
    }))

  it.live("that is used for the second attempt is not tried again", () =>
    Effect.gen(function*() {
      const server = yield* rawServer((socket, { nth, socket: number }) =>
        nth === 1 && number === 1 ? socket.write(httpAnswer("hi")) : socket.destroy()
      )
      assert.deepStrictEqual(tagsOf(yield* calls(providerOf(server.port), 2)), ["hi", "Connection"])
      assert.lengthOf(server.requests, 3)
    }))
})
