import * as Cassette from "@belay/providers/Cassette"
import * as OpenAiCompatible from "@belay/providers/OpenAiCompatible"
import * as Endpoint from "@belay/testing/Endpoint"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { failure, readFile as readTool, request, stream, success } from "../support/support.ts"

const folder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "cassette-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

const secret = "test-secret-key"
const through = (cassette: Cassette.Cassette, url: string, model = "demo") =>
  OpenAiCompatible.make({ baseUrl: url, apiKey: secret, model, name: "vendor", fetch: cassette.fetch })

/** Records one streamed and one plain answer. */
const recorded = Effect.gen(function*() {
  const file = join(yield* folder, "sub", "talk.json")
  const endpoint = yield* Endpoint.scoped()
  const cassette = yield* Effect.promise(() => Cassette.open({ file, mode: "once", secrets: [secret] }))
  const provider = through(cassette, endpoint.url)
  const streamed = yield* stream(provider, request("Read the file notes.txt", { tools: [readTool] }))
  const plain = yield* provider.complete(request(`Hello, my key is ${secret}`))
  yield* Effect.promise(cassette.save)
  cassette.assertDone()
  return { file, streamed, plain, url: endpoint.url }
})

describe("a cassette", () => {
  it.live("replays what it recorded, without the network", () =>
    Effect.gen(function*() {
      const { file, plain, streamed } = yield* recorded
      const cassette = yield* Cassette.scoped({ file, secrets: [secret] })
      const provider = through(cassette, "http://127.0.0.1:9/v1")
      const again = yield* stream(provider, request("Read the file notes.txt", { tools: [readTool] }))
      assert.deepStrictEqual(success(again.result), success(streamed.result))
      assert.deepStrictEqual(again.deltas, streamed.deltas)
      assert.throws(cassette.assertDone, /1 of 2 recorded answers were not used/)
      const hello = yield* provider.complete(request(`Hello, my key is ${secret}`))
      assert.deepStrictEqual(hello.usage, plain.usage)
      cassette.assertDone()
    }))

  it.live("stores no secrets and no headers that could contain one", () =>
    Effect.gen(function*() {
      const { file } = yield* recorded
      const text = yield* Effect.promise(() => readFile(file, "utf8"))
      assert.notInclude(text, secret)
      assert.notMatch(text, /authorization|cookie|openai-organization/i)
      assert.include(text, "[redacted]")
      assert.include(text, "x-ratelimit-limit-requests")
    }))

  it.live("says where a request differs from the recording", () =>
    Effect.gen(function*() {
      const { file } = yield* recorded
      const cassette = yield* Cassette.scoped({ file, secrets: [secret] })
      const error = failure(
        (yield* stream(
          through(cassette, "http://127.0.0.1:9/v1", "other"),
          request("Read the file other.txt", { tools: [readTool] })
        ))
          .result
      )
      assert.strictEqual(error._tag, "InvalidRequest")
      assert.match(error.message, /model: recorded "demo", asked "other"/)
      assert.match(
        error.message,
        /messages\[0\]\.content: recorded "Read the file notes.txt", asked "Read the file other.txt"/
      )
      assert.throws(cassette.assertDone, /differs from the recording/)
    }))

  it.live("says when it has no more answers", () =>
    Effect.gen(function*() {
      const file = join(yield* folder, "empty.json")
      yield* Effect.promise(() => writeFile(file, `{"version":1,"interactions":[]}`))
      const cassette = yield* Cassette.scoped({ file })
      assert.match(
        failure(yield* Effect.result(through(cassette, "http://127.0.0.1:9/v1").complete(request()))).message,
        /has 0 answers, and all were used/
      )
    }))

  it.live("accepts other ids of tool calls", () =>
    Effect.gen(function*() {
      const file = join(yield* folder, "ids.json")
      const endpoint = yield* Endpoint.scoped()
      const talk = (id: string) =>
        request("", {
          tools: [readTool],
          messages: [
            { role: "user", content: "Read the file a.txt" },
            { role: "assistant", content: "", toolCalls: [{ id, name: "read_file", args: { path: "a.txt" } }] },
            { role: "tool", toolCallId: id, toolName: "read_file", content: "text" }
          ]
        })
      const recording = yield* Effect.promise(() => Cassette.open({ file, mode: "all" }))
      const said = yield* through(recording, endpoint.url).complete(talk("call_1"))
      yield* Effect.promise(recording.save)
      const cassette = yield* Cassette.scoped({ file })
      assert.strictEqual((yield* through(cassette, endpoint.url).complete(talk("call_2"))).text, said.text)
    }))

  it.live("records only new requests in the mode new, and all in the mode all", () =>
    Effect.gen(function*() {
      const { file, url } = yield* recorded
      const endpoint = yield* Endpoint.scoped()
      for (const [mode, asked] of [["new", 1], ["new", 1], ["all", 3]] as const) {
        const cassette = yield* Effect.promise(() => Cassette.open({ file, mode, secrets: [secret] }))
        const provider = through(cassette, endpoint.url)
        yield* provider.complete(request("Hello again"))
        yield* provider.complete(request(`Hello, my key is ${secret}`))
        yield* Effect.promise(cassette.save)
        assert.lengthOf(endpoint.requests, asked)
      }
      assert.notStrictEqual(url, endpoint.url)
    }))

  it.live("stores bytes that are not text", () =>
    Effect.gen(function*() {
      const file = join(yield* folder, "bytes.json")
      const whole = Buffer.from(`data: ${JSON.stringify(Endpoint.delta({ content: "Grüße" }, "stop"))}\n\n`)
      const at = whole.indexOf("ü") + 1
      const endpoint = yield* Endpoint.scoped({ script: [{ chunks: [whole.subarray(0, at), 20, whole.subarray(at)] }] })
      const recording = yield* Effect.promise(() => Cassette.open({ file, mode: "once" }))
      assert.strictEqual(success((yield* stream(through(recording, endpoint.url))).result).text, "Grüße")
      yield* Effect.promise(recording.save)
      assert.include(yield* Effect.promise(() => readFile(file, "utf8")), "base64")
      assert.strictEqual(
        success((yield* stream(through(yield* Cassette.scoped({ file }), endpoint.url))).result).text,
        "Grüße"
      )
    }))

  it.live("refuses a file that is missing or is not a cassette", () =>
    Effect.gen(function*() {
      const file = join(yield* folder, "none.json")
      const open = Effect.promise(() => Cassette.open({ file }).catch((error: unknown) => error))
      assert.match(String(yield* open), /there is no recording/)
      yield* Effect.promise(() => writeFile(file, "{}"))
      assert.match(String(yield* open), /is not a cassette/)
    }))
})
