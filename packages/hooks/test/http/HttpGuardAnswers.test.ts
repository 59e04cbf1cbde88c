/** Servers with invalid answers, and requests that are cancelled. */
import * as HttpGuard from "@belay/hooks/HttpGuard"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import * as TestClock from "effect/testing/TestClock"
import type { Duplex } from "node:stream"
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib"
import {
  answer,
  facing,
  type Handler,
  head,
  home,
  loopback,
  network,
  outcome,
  says
} from "../../../../test/support/http.ts"

/** Writes until the connection is closed. */
const endless = (first: string, piece: string | Uint8Array): Handler => (_head, socket) => {
  socket.write(first)
  const more = (): void => {
    while (!socket.destroyed && socket.write(piece)) continue
    socket.once("drain", more)
  }
  more()
}

const zeros = Buffer.alloc(50_000_000)
const big = "x".repeat(70_000)

const faults: ReadonlyArray<readonly [what: string, handler: Handler]> = [
  ["closes at once", (_head, socket) => void socket.destroy()],
  ["ends without a word", (_head, socket) => void socket.end()],
  ["is no HTTP", says("SSH-2.0-OpenSSH_9.6\r\n")],
  ["informs without an end", endless("", "HTTP/1.1 103 Early Hints\r\n\r\n")],
  ["continues without an end", endless("", "HTTP/1.1 100 Continue\r\n\r\n")],
  ["has two lengths", says(head("content-length: 5", "content-length: 6"), "hello!")],
  ["has a length and chunks", says(head("content-length: 5", "transfer-encoding: chunked"), "5\r\nhello\r\n0\r\n\r\n")],
  ["is cut off in its head", says("HTTP/1.1 200 OK\r\ncontent-le")],
  ["is cut off in its body", says(head("content-length: 100"), "part")],
  ["is cut off in its chunks", says(head("transfer-encoding: chunked"), "5\r\nhello\r\n")],
  ["has chunks that are none", says(head("transfer-encoding: chunked"), "zz\r\nhello\r\n")],
  [
    "speaks another protocol",
    says("HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n")
  ],
  ["has a body that is too large", answer(200, {}, "x".repeat(1_048_577))],
  ["has a length that is too large", says(head(`content-length: ${2 ** 40}`), big)],
  ["has a body without an end", endless(head(), big)],
  [
    "has chunks without an end",
    endless(head("transfer-encoding: chunked"), `${big.length.toString(16)}\r\n${big}\r\n`)
  ],
  ["has headers without an end", endless("HTTP/1.1 200 OK\r\n", `a: ${"x".repeat(1_000)}\r\n`)],
  ["has a header without an end", endless("HTTP/1.1 200 OK\r\na: ", big)],
  ["has a name without an end", endless("HTTP/1.1 200 OK\r\n", big)],
  ["has a status line without an end", endless("HTTP/1.1 200 ", big)],
  ["has headers that are too large", answer(200, { a: "x".repeat(65_536) })],
  ["has an extension of a chunk without an end", endless(`${head("transfer-encoding: chunked")}5;a=`, big)],
  ["has trailers without an end", endless(`${head("transfer-encoding: chunked")}0\r\n`, `a: ${"x".repeat(1_000)}\r\n`)],
  ["is a bomb of gzip", answer(200, { "content-encoding": "gzip" }, gzipSync(zeros))],
  ["is a bomb of deflate", answer(200, { "content-encoding": "deflate" }, deflateSync(zeros))],
  ["is a bomb of brotli", answer(200, { "content-encoding": "br" }, brotliCompressSync(zeros))],
  ["is gzip that decodes to nothing, without an end", endless(head("content-encoding: gzip"), gzipSync(""))],
  ["is gzip that is none", answer(200, { "content-encoding": "gzip" }, "no gzip")],
  [
    "is gzip that is cut off",
    answer(200, { "content-encoding": "gzip" }, gzipSync("hello".repeat(100)).subarray(0, 20))
  ],
  ["is encoded twice", answer(200, { "content-encoding": "gzip, gzip" }, gzipSync(gzipSync("x")))],
  ["is encoded in two headers", says(head("content-encoding: gzip", "content-encoding: gzip", "content-length: 0"))],
  ["is encoded in a way that nobody knows", answer(200, { "content-encoding": "constructor" }, "x")],
  ["is deflate without its frame", answer(200, { "content-encoding": "deflate" }, deflateRawSync("x"))]
]

describe("invalid answers of a server", () => {
  it.effect.each(faults)(
    "an answer that %s fails with the same error as any other",
    ([, handler]) =>
      Effect.gen(function*() {
        const { connected, guard, heads } = facing(handler)
        const error = yield* Effect.flip(guard.request("http://a.example.com/secret?x=y"))
        assert.instanceOf(error, HttpGuard.HttpFailed)
        assert.deepStrictEqual({ ...error, message: error.message, cause: error.cause }, {
          _tag: "HttpFailed",
          origin: "http://a.example.com",
          message: "the request to http://a.example.com failed",
          cause: undefined
        })
        assert.lengthOf(connected, 1)
        assert.lengthOf(heads, 1)
      })
  )

  it.effect("fail over real connections too, and the connections are closed", () =>
    Effect.gen(function*() {
      for (const [what, handler] of faults.filter(([what]) => /end$|large|bomb|cut off/.test(what))) {
        yield* Effect.scoped(Effect.gen(function*() {
          const closed = yield* Deferred.make<void>()
          const server = yield* loopback((head, socket) => {
            socket.on("close", () => Deferred.doneUnsafe(closed, Effect.void))
            handler(head, socket)
          })
          const guard = HttpGuard.make({ policy: { loopback: [server.host] } })
          assert.strictEqual(yield* outcome(guard, `http://${server.host}/`), "failed", what)
          yield* Deferred.await(closed)
        }))
      }
    }))

  it.effect("a closed port fails with the same error as a server that does not answer", () =>
    Effect.gen(function*() {
      const host = yield* Effect.scoped(Effect.map(loopback(says("")), (server) => server.host))
      const error = yield* Effect.flip(HttpGuard.make({ policy: { loopback: [host] } }).request(`http://${host}/`))
      assert.strictEqual(error.message, `the request to http://${host} failed`)
    }))

  it.effect("bodies and headers may be as large as the limits, but not larger", () =>
    Effect.gen(function*() {
      const options = { maxBodyBytes: 1_000, maxHeaderBytes: 2_000 }
      const cases: ReadonlyArray<readonly [Handler, number | undefined]> = [
        [answer(200, {}, "x".repeat(1_000)), 1_000],
        [answer(200, {}, "x".repeat(1_001)), undefined],
        [answer(200, { "content-encoding": "gzip" }, gzipSync("x".repeat(1_000))), 1_000],
        [answer(200, { "content-encoding": "gzip" }, gzipSync("x".repeat(1_001))), undefined],
        [answer(200, { a: "x".repeat(1_900) }), 0],
        [answer(200, { a: "x".repeat(2_000) }), undefined]
      ]
      for (const [handler, length] of cases) {
        const result = yield* Effect.result(facing(handler, options).guard.request("http://a.example.com/"))
        assert.strictEqual(Result.isSuccess(result) ? result.success.body.length : undefined, length)
      }
      const { guard } = facing(answer(200, {}, "x"), { maxBodyBytes: 0 })
      assert.strictEqual(yield* outcome(guard, "http://a.example.com/"), "failed")
    }))

  const slow: ReadonlyArray<readonly [what: string, first: string]> = [
    ["says nothing", ""],
    ["stops in its head", "HTTP/1.1 200 OK\r\na: "],
    ["stops before its body", head("content-length: 5")],
    ["stops in its body", `${head("content-length: 5")}h`],
    ["stops in a chunk", `${head("transfer-encoding: chunked")}5\r\nh`],
    ["stops in a redirect", "HTTP/1.1 302 F\r\nlocation: /\r\ncontent-length: 5\r\n\r\n"],
    ["has only informed", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n"]
  ]
  it.effect.each(slow)(
    "an answer that %s fails after the time limit, even if single bytes keep arriving",
    ([, first]) =>
      Effect.gen(function*() {
        const asked = yield* Deferred.make<Duplex>()
        const closed = yield* Deferred.make<void>()
        const server = yield* loopback((_head, socket) => {
          socket.on("close", () => Deferred.doneUnsafe(closed, Effect.void))
          socket.write(first)
          Deferred.doneUnsafe(asked, Effect.succeed(socket))
        })
        const guard = HttpGuard.make({ policy: { loopback: [server.host] }, timeoutMs: 3_000, maxRedirects: 3 })
        const fiber = yield* Effect.forkChild(outcome(guard, `http://${server.host}/`), { startImmediately: true })
        const socket = yield* Deferred.await(asked)
        for (let second = 0; second < 2; second++) {
          yield* TestClock.adjust("1 second")
          if (first.endsWith("a: ")) socket.write("x")
          assert.isUndefined(fiber.pollUnsafe())
        }
        yield* TestClock.adjust("1 second")
        assert.strictEqual(yield* Fiber.join(fiber), "failed")
        yield* Deferred.await(closed)
      })
  )

  it.effect("the time limit covers all redirects together", () =>
    Effect.gen(function*() {
      const asked = yield* Deferred.make<void>()
      const { guard } = facing((head, socket) => {
        if (head.startsWith("GET /last")) Deferred.doneUnsafe(asked, Effect.void)
        else answer(302, { location: "/last" })(head, socket)
      }, { timeoutMs: 1_000, maxRedirects: 1 })
      const fiber = yield* Effect.forkChild(outcome(guard, "http://a.example.com/"), { startImmediately: true })
      yield* Deferred.await(asked)
      yield* TestClock.adjust(1_000)
      assert.strictEqual(yield* Fiber.join(fiber), "failed")
    }))
})

describe("cancelled requests", () => {
  it.effect("close their connection, after an interruption and after an abort", () =>
    Effect.gen(function*() {
      for (const way of ["interrupt", "signal"]) {
        yield* Effect.scoped(Effect.gen(function*() {
          const asked = yield* Deferred.make<void>()
          const closed = yield* Deferred.make<void>()
          const server = yield* loopback((_head, socket) => {
            socket.on("close", () => Deferred.doneUnsafe(closed, Effect.void))
            Deferred.doneUnsafe(asked, Effect.void)
          })
          const controller = new AbortController()
          const guard = HttpGuard.make({ policy: { loopback: [server.host] } })
          const fiber = yield* Effect.forkChild(
            outcome(guard, `http://${server.host}/`, { signal: controller.signal }),
            {
              startImmediately: true
            }
          )
          yield* Deferred.await(asked)
          if (way === "signal") {
            controller.abort()
            assert.strictEqual(yield* Fiber.join(fiber), "failed")
          } else yield* Fiber.interrupt(fiber)
          yield* Deferred.await(closed)
        }))
      }
    }))

  it.effect("are not sent if the signal is aborted already", () =>
    Effect.gen(function*() {
      const { guard, heads } = facing(answer(200, {}))
      assert.strictEqual(yield* outcome(guard, "http://a.example.com/", { signal: AbortSignal.abort() }), "failed")
      assert.deepStrictEqual(heads, [])
    }))

  it.effect("close a connection that opens after the cancellation", () =>
    Effect.gen(function*() {
      const closed = yield* Deferred.make<void>()
      let open: ((socket: Duplex) => void) | undefined
      const { connect } = network({}, { [`${home}:80`]: answer(200, {}) })
      const signals: Array<AbortSignal> = []
      const guard = HttpGuard.make({
        policy: { allowHttp: true },
        connect: ({ signal }) => {
          signals.push(signal)
          return new Promise((resolve) => (open = resolve))
        }
      })
      const fiber = yield* Effect.forkChild(outcome(guard, `http://${home}/`), { startImmediately: true })
      yield* TestClock.adjust(10_000)
      assert.strictEqual(yield* Fiber.join(fiber), "failed")
      assert.deepStrictEqual(signals.map(({ aborted }) => aborted), [true])
      const late = yield* Effect.promise(() =>
        connect({ address: home, port: 80, signal: new AbortController().signal })
      )
      late.on("close", () => Deferred.doneUnsafe(closed, Effect.void))
      open?.(late)
      yield* Deferred.await(closed)
    }))
})
