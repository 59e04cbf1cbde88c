import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import {
  brotliCompressSync,
  constants,
  createGzip,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync
} from "node:zlib"
import { failure, request, scripted, stream, success, textOf } from "../support/support.ts"
import { chunk, completion, finish, sse } from "../support/wire.ts"

const compressors = {
  gzip: gzipSync,
  "x-gzip": gzipSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
  deflate: deflateSync
} satisfies Record<string, (data: Buffer) => Buffer>
const events = sse([chunk({ content: "Grü" }), chunk({ content: "ße" }), finish("stop")])
const plain = JSON.stringify(completion({ content: "Grüße" }))
const json = { "content-type": "application/json" }

const cases: ReadonlyArray<readonly [string, string, (data: Buffer) => Buffer]> = [
  ...Object.entries(compressors).map(([name, compress]) => [name, name, compress] as const),
  ["deflate without its header", "deflate", deflateRawSync]
]

describe("an answer that is compressed although nobody asked", () => {
  for (const [title, encoding, compress] of cases) {
    it.live(`is read (${title})`, () =>
      Effect.gen(function*() {
        const headers = { "content-encoding": encoding }
        const body = compress(Buffer.from(events))
        const { provider } = yield* scripted([
          { status: 200, headers: { ...json, ...headers }, body: compress(Buffer.from(plain)) },
          { chunks: Array.from(body, (byte) => Uint8Array.of(byte)), headers },
          {
            status: 400,
            headers,
            body: compress(
              Buffer.from(JSON.stringify({ error: { code: "context_length_exceeded", message: "too long" } }))
            )
          }
        ])
        assert.strictEqual((yield* provider.complete(request())).text, "Grüße")
        const { deltas, result } = yield* stream(provider)
        assert.strictEqual(success(result).text, "Grüße")
        assert.strictEqual(textOf(deltas), "Grüße")
        assert.strictEqual((yield* Effect.flip(provider.complete(request())))._tag, "ContextOverflow")
      }))
  }

  it.live("arrives piece by piece", () =>
    Effect.gen(function*() {
      const gzip = createGzip({ flush: constants.Z_SYNC_FLUSH })
      const pieces: Array<Buffer> = []
      gzip.on("data", (piece: Buffer) => pieces.push(piece))
      const write = (text: string) =>
        Effect.promise(() => new Promise<void>((done) => void gzip.write(text, () => done())))
      yield* write(sse([chunk({ content: "first" })], false))
      const { provider } = yield* scripted([
        { chunks: [Buffer.concat(pieces)], end: "open", headers: { "content-encoding": "gzip" } }
      ])
      const first = yield* Effect.callback<string>((resume) => {
        const answer = provider.stream!(request(), (delta) =>
          resume(Effect.succeed(delta.type === "text" ? delta.text : "")))
        const fiber = Effect.runFork(answer)
        return Effect.sync(() =>
          fiber.interruptUnsafe()
        )
      })
      assert.strictEqual(first, "first")
    }))

  it.live("is an error when it is cut or broken", () =>
    Effect.gen(function*() {
      const headers = { "content-encoding": "gzip" }
      const { provider } = yield* scripted([
        { chunks: [gzipSync(events).subarray(0, 60)], headers },
        { chunks: ["this is not gzip"], headers },
        { chunks: [gzipSync(sse([chunk({ content: "Grü" })], false))], headers }
      ])
      assert.strictEqual(failure((yield* stream(provider)).result)._tag, "Connection")
      assert.strictEqual(failure((yield* stream(provider)).result)._tag, "Connection")
      assert.strictEqual(failure((yield* stream(provider)).result)._tag, "Malformed")
    }))

  it.live("is an error when it is larger than an answer can be", () =>
    Effect.gen(function*() {
      const headers = { "content-encoding": "gzip" }
      const large = (letter: string, head: string, megabytes: number) =>
        gzipSync(Buffer.concat([Buffer.from(head), Buffer.alloc(megabytes * 1024 * 1024, letter)]), { level: 1 })
      const { provider } = yield* scripted([
        { status: 200, headers: { ...json, ...headers }, body: large("a", "{", 65) },
        { status: 200, headers: { ...json, ...headers }, body: large(" ", "", 1) },
        { chunks: [large("a", "data: ", 9)], headers },
        { status: 400, headers, body: large("a", "{", 1) }
      ])
      for (const tag of ["Malformed", "Malformed", "Malformed", "InvalidRequest"]) {
        assert.strictEqual(failure((yield* stream(provider)).result)._tag, tag)
      }
    }))

  it.live("was not asked for", () =>
    Effect.gen(function*() {
      const { endpoint, provider } = yield* scripted([{ text: "hi" }])
      yield* provider.complete(request())
      assert.isUndefined(endpoint.requests[0]?.headers["accept-encoding"])
    }))
})
