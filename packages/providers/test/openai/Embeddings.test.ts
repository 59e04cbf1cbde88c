import type { JsonObject } from "@belay/core/Json"
import * as Embeddings from "@belay/providers/Embeddings"
import * as OpenAiCompatible from "@belay/providers/OpenAiCompatible"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"

interface Asked {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly key: string | undefined
  readonly body: JsonObject
}

const serving = (answer: (asked: Asked, response: ServerResponse) => void) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const requests: Array<Asked> = []
      const server = createServer((incoming: IncomingMessage, response) => {
        let text = ""
        incoming.on("data", (part: Buffer) => text += part.toString()).on("end", () => {
          const body = JSON.parse(text === "" ? "{}" : text) as JsonObject
          const asked = { method: incoming.method, url: incoming.url, key: incoming.headers.authorization, body }
          requests.push(asked)
          answer(asked, response)
        })
      })
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
      const address = server.address()
      const baseUrl = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}/v1`
      return { baseUrl, requests, close: () => (server.close(), server.closeAllConnections()) }
    }),
    ({ close }) => Effect.sync(close)
  )

const json = (response: ServerResponse, value: unknown, status = 200) =>
  void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value))
const lengths = ({ body }: Asked) =>
  (body.input as ReadonlyArray<string>).map((text, index) => ({
    object: "embedding",
    index,
    embedding: [text.length, 0.5]
  }))
const usage = { prompt_tokens: 4, total_tokens: 4 }

describe("an embedding model", () => {
  it.live("returns a vector for each text, in order, in batches", () =>
    Effect.gen(function*() {
      const { baseUrl, requests } = yield* serving((asked, response) =>
        json(response, { data: lengths(asked).reverse(), usage })
      )
      const model = Embeddings.make({ baseUrl, apiKey: "test-key", model: "small", dimensions: 2, batchSize: 2 })
      const { usage: used, vectors } = yield* model.embed(["a", "bb", "ccc"])
      assert.deepStrictEqual(vectors, [[1, 0.5], [2, 0.5], [3, 0.5]])
      assert.strictEqual(used?.inputTokens, 8)
      assert.deepStrictEqual(requests.map(({ body }) => body.input), [["a", "bb"], ["ccc"]])
      assert.deepInclude(requests[0], { method: "POST", url: "/v1/embeddings", key: "Bearer test-key" })
      assert.deepInclude(requests[0]?.body, { model: "small", dimensions: 2 })
      assert.deepStrictEqual((yield* Effect.promise(async () => model.embed([]))).vectors, [])
    }))

  it.live("reads vectors in base64", () =>
    Effect.gen(function*() {
      const base64 = Buffer.from(Float32Array.of(0.5, -2).buffer).toString("base64")
      const { baseUrl } = yield* serving((_, response) => json(response, { data: [{ embedding: base64 }] }))
      assert.deepStrictEqual((yield* Embeddings.make({ baseUrl, model: "m" }).embed(["a"])).vectors, [[0.5, -2]])
    }))

  it.live("fails with typed errors", () =>
    Effect.gen(function*() {
      const answers: ReadonlyArray<readonly [number, unknown, string]> = [
        [429, { error: { message: "slow down" } }, "RateLimited"],
        [401, { error: { message: "who?" } }, "Auth"],
        [200, { error: { message: "no such model", code: "model_not_found" } }, "NotFound"],
        [200, { data: [] }, "Malformed"],
        [200, { data: [{ embedding: ["x"] }] }, "Malformed"],
        [200, "", "Malformed"]
      ]
      const left = [...answers]
      const { baseUrl } = yield* serving((_, response) => {
        const [status, body] = left.shift() ?? [500, {}]
        if (body === "") response.end()
        else json(response, body, status)
      })
      const model = Embeddings.make({ baseUrl, model: "m" })
      for (const [, , tag] of answers) assert.strictEqual((yield* Effect.flip(model.embed(["a"])))._tag, tag)
    }))
})

describe("the models of an endpoint", () => {
  const shapes: Record<string, unknown> = {
    "a list of data": { object: "list", data: [{ id: "a", owned_by: "me", context_length: 8192 }, { id: "b" }, {}] },
    "a bare list (Together)": [{ id: "a", owned_by: "me", context_length: 8192 }, { id: "b" }],
    "names (Google)": { models: [{ name: "models/a", owned_by: "me", inputTokenLimit: 8192 }, { id: "b" }] },
    "what a server has loaded (llama.cpp)": {
      data: [{ id: "a", owned_by: "me", meta: { n_ctx_train: 8192 } }, { id: "b" }]
    }
  }
  for (const [name, answer] of Object.entries(shapes)) {
    it.live(`are read from ${name}`, () =>
      Effect.gen(function*() {
        const { baseUrl, requests } = yield* serving((_, response) => json(response, answer))
        const models = yield* OpenAiCompatible.models({ baseUrl, apiKey: "test-key" })
        const [a, b] = models
        assert.deepInclude(a, { id: "a", ownedBy: "me", contextWindow: 8192 })
        assert.deepStrictEqual(b, { id: "b" })
        assert.lengthOf(models, 2)
        assert.deepInclude(requests[0], { method: "GET", url: "/v1/models", key: "Bearer test-key" })
      }))
  }

  it.live("are an error when the endpoint refuses, and can be awaited", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* serving((_, response) => json(response, { error: "no" }, 403))
      const error = yield* Effect.promise(async () =>
        OpenAiCompatible.models({ baseUrl }).catch((problem: unknown) => problem)
      )
      assert.deepInclude(error, { _tag: "Permission" })
    }))
})
