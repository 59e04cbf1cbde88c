import * as OpenAiCompatible from "@belay/providers/OpenAiCompatible"
import * as Endpoint from "@belay/testing/Endpoint"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { createServer, type Socket } from "node:net"
import { failure, request, scripted, stream, success, textOf } from "../support/support.ts"

/** A raw TCP server that tells when a client connects and when it leaves. */
const listener = (answer: string) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly url: string; readonly connected: Promise<Socket>; readonly close: () => void }>(
      (resume) => {
        const connected = Promise.withResolvers<Socket>()
        const sockets = new Set<Socket>()
        const server = createServer((socket) => {
          sockets.add(socket)
          socket.on("error", () => {})
          socket.once("data", () => {
            if (answer !== "") socket.write(answer)
            connected.resolve(socket)
          })
        })
        server.listen(0, "127.0.0.1", () => {
          const address = server.address()
          const port = typeof address === "object" && address !== null ? address.port : 0
          resume(Effect.succeed({
            url: `http://127.0.0.1:${port}/v1`,
            connected: connected.promise,
            close: () => (sockets.forEach((socket) => socket.destroy()), server.close())
          }))
        })
      }
    ),
    ({ close }) => Effect.sync(close)
  )

const closed = (socket: Socket) =>
  Effect.callback<void>((resume) => {
    if (socket.closed) resume(Effect.void)
    else socket.once("close", () => resume(Effect.void))
  })

const head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
const event = `data: ${JSON.stringify(Endpoint.delta({ content: "Hel" }))}\n\n`
const chunk = `${Buffer.byteLength(event).toString(16)}\r\n${event}\r\n`

describe("an interruption closes the connection", () => {
  it.live("while the headers are awaited", () =>
    Effect.gen(function*() {
      const server = yield* listener("")
      const provider = OpenAiCompatible.make({ baseUrl: server.url, apiKey: "test-key", model: "m" })
      const fiber = yield* Effect.forkChild(provider.complete(request()))
      const socket = yield* Effect.promise(() => server.connected)
      yield* Fiber.interrupt(fiber)
      yield* closed(socket)
      assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(fiber)))
    }))

  it.live("in the middle of the stream", () =>
    Effect.gen(function*() {
      const server = yield* listener(head + chunk)
      const provider = OpenAiCompatible.make({ baseUrl: server.url, apiKey: "test-key", model: "m" })
      const first = yield* Deferred.make<string>()
      const answer = provider.stream?.(request(), (delta) =>
        void Deferred.doneUnsafe(first, Effect.succeed(delta.type === "text" ? delta.text : ""))) ?? Effect.never
      const fiber = yield* Effect.forkChild(answer)
      assert.strictEqual(yield* Deferred.await(first), "Hel")
      const socket = yield* Effect.promise(() =>
        server.connected
      )
      yield* Fiber.interrupt(fiber)
      yield* closed(socket)
      assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(fiber)))
    }))

  it.live("while a delta is being consumed", () =>
    Effect.gen(function*() {
      const server = yield* listener(head + chunk)
      const provider = OpenAiCompatible.make({ baseUrl: server.url, apiKey: "test-key", model: "m" })
      const entered = yield* Deferred.make<void>()
      const fiber = yield* Effect.forkChild(
        provider.stream?.(request(), () => {
          Deferred.doneUnsafe(entered, Effect.void)
          return new Promise<void>(() => {})
        }) ?? Effect.never
      )
      yield* Deferred.await(entered)
      yield* Fiber.interrupt(fiber)
      yield* closed(yield* Effect.promise(() => server.connected))
    }))

  it.live("before anything was sent", () =>
    Effect.gen(function*() {
      const { endpoint, provider } = yield* scripted([])
      const fiber = yield* Effect.forkChild(provider.complete(request()))
      yield* Fiber.interrupt(fiber)
      assert.lengthOf(endpoint.requests, 0)
    }))
})

describe("a time limit", () => {
  it.live("of the whole call ends a stream that never ends", () =>
    Effect.gen(function*() {
      const { provider } = yield* scripted([{ chunks: Array.from({ length: 1000 }, () => [event, 20]).flat() }], {
        timeouts: { totalMs: 200 }
      })
      const error = failure((yield* stream(provider)).result)
      assert.strictEqual(error._tag, "Timeout")
      if (error._tag === "Timeout") assert.strictEqual(error.phase, "total")
    }))

  it.live("of a plain answer has its own default", () =>
    Effect.gen(function*() {
      const { provider } = yield* scripted([{ connection: "open" }], { timeouts: { answerMs: 100 } })
      const error = failure(yield* Effect.result(provider.complete(request())))
      assert.strictEqual(error._tag, "Timeout")
      if (error._tag === "Timeout") assert.strictEqual(error.phase, "headers")
    }))

  it.live("does not run while a delta is being consumed", () =>
    Effect.gen(function*() {
      const { provider } = yield* scripted([{ text: "one two" }], { timeouts: { idleMs: 50 } })
      const seen: Array<string> = []
      const response = yield* (provider.stream?.(request(), (delta) => {
        if (delta.type === "text") seen.push(delta.text)
        return new Promise<void>((resolve) => setTimeout(resolve, 120))
      }) ?? Effect.never)
      assert.strictEqual(response.text, "one two")
      assert.deepStrictEqual(seen, ["one", " two"])
    }))
})

describe("deltas", () => {
  it.live("are consumed one after another", () =>
    Effect.gen(function*() {
      const { provider } = yield* scripted([{ text: "a b c d e f g h", reasoning: "x y z" }])
      let inside = 0
      const seen: Array<string> = []
      const response = yield* (provider.stream?.(request(), (delta) => {
        assert.strictEqual(inside++, 0)
        if (delta.type === "text") seen.push(delta.text)
        return new Promise<void>((resolve) => setImmediate(resolve)).then(() => void inside--)
      }) ?? Effect.never)
      assert.strictEqual(seen.join(""), response.text)
    }))

  it.live("that the consumer fails on are a defect", () =>
    Effect.gen(function*() {
      const { provider } = yield* scripted([{ text: "a b c" }, { text: "a b c" }])
      const thrown = yield* Effect.exit(
        provider.stream?.(request(), () => {
          throw new Error("no room")
        }) ?? Effect.never
      )
      const rejected = yield* Effect.exit(
        provider.stream?.(request(), () => Promise.reject(new Error("no room"))) ?? Effect.never
      )
      assert.isTrue(Exit.hasDies(thrown))
      assert.isTrue(Exit.hasDies(rejected))
    }))
})

describe("no connection is a typed error when", () => {
  it.live("nobody listens", () =>
    Effect.gen(function*() {
      const gone = yield* Effect.promise(() => Endpoint.start())
      yield* Effect.promise(gone.close)
      const provider = OpenAiCompatible.make({ baseUrl: gone.url, apiKey: "test-key", model: "m" })
      const error = failure((yield* stream(provider)).result)
      assert.strictEqual(error._tag, "Connection")
      assert.match(error.message, /ECONNREFUSED/)
    }))

  it.live("the server does not use TLS", () =>
    Effect.gen(function*() {
      const { endpoint } = yield* scripted([])
      const provider = OpenAiCompatible.make({
        baseUrl: endpoint.url.replace("http:", "https:"),
        apiKey: "test-key",
        model: "m"
      })
      assert.strictEqual(failure((yield* stream(provider)).result)._tag, "Connection")
    }))

  it.live("the server does not use HTTP", () =>
    Effect.gen(function*() {
      const server = yield* listener("SSH-2.0-OpenSSH_9.9\r\n")
      const provider = OpenAiCompatible.make({ baseUrl: server.url, apiKey: "test-key", model: "m" })
      assert.strictEqual(failure((yield* stream(provider)).result)._tag, "Connection")
    }))
})

describe("connections", () => {
  it.live("are reused", () =>
    Effect.gen(function*() {
      const ports = new Set<string>()
      const { endpoint, provider } = yield* scripted(Array.from({ length: 5 }, () => ({ text: "hello there" })))
      for (let n = 0; n < 5; n++) {
        const { deltas, result } = yield* stream(provider)
        assert.strictEqual(textOf(deltas), success(result).text)
      }
      for (const { headers } of endpoint.requests) ports.add(headers.connection ?? "")
      assert.deepStrictEqual([...ports], ["keep-alive"])
    }))

  it.live("go through a given fetch function", () =>
    Effect.gen(function*() {
      const urls: Array<string> = []
      const { provider } = yield* scripted([{ text: "hello there" }, { connection: "reset" }, {
        chunks: [event],
        end: "open"
      }], {
        timeouts: { idleMs: 100 },
        fetch: (url, init) => {
          urls.push(url)
          return fetch(url, init)
        }
      })
      assert.strictEqual(success((yield* stream(provider)).result).text, "hello there")
      assert.strictEqual(failure((yield* stream(provider)).result)._tag, "Connection")
      assert.strictEqual(failure((yield* stream(provider)).result)._tag, "Timeout")
      assert.lengthOf(urls, 3)
    }))
})
