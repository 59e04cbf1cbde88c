import * as OpenAiCompatible from "@belay/providers/OpenAiCompatible"
import * as Endpoint from "@belay/testing/Endpoint"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { request, scripted } from "../../support/support.ts"

describe("the headers", () => {
  it.live("contain the key, and nothing about the machine", () =>
    Effect.gen(function*() {
      const { endpoint, provider } = yield* scripted([{ text: "hi" }], { headers: { "x-team": "blue" } })
      yield* provider.complete(request())
      const headers = endpoint.requests[0]?.headers ?? {}
      assert.strictEqual(headers.authorization, "Bearer test-key")
      assert.strictEqual(headers["x-team"], "blue")
      assert.isEmpty(Object.keys(headers).filter((name) => name.startsWith("x-stainless")))
    }))

  it.live("contain the name and password of the base URL", () =>
    Effect.gen(function*() {
      const endpoint = yield* Endpoint.scoped()
      const baseUrl = endpoint.url.replace("//", "//ada:p%40ss@")
      yield* OpenAiCompatible.make({ baseUrl, model: "demo" }).complete(request())
      const headers = endpoint.requests[0]?.headers ?? {}
      assert.strictEqual(headers.authorization, `Basic ${Buffer.from("ada:p@ss").toString("base64")}`)
      assert.strictEqual(headers.host, `127.0.0.1:${endpoint.port}`)
    }))

  it.live("contain no key if there is none", () =>
    Effect.gen(function*() {
      const endpoint = yield* Endpoint.scoped()
      yield* OpenAiCompatible.make({ baseUrl: endpoint.url, model: "demo" }).complete(request())
      assert.isUndefined(endpoint.requests[0]?.headers.authorization)
    }))

  it.live("contain a new key for every call if the key is a function", () =>
    Effect.gen(function*() {
      const endpoint = yield* Endpoint.scoped()
      let n = 0
      const provider = OpenAiCompatible.make({
        baseUrl: endpoint.url,
        model: "demo",
        apiKey: () => Promise.resolve(`test-key-${++n}`)
      })
      yield* provider.complete(request())
      yield* provider.complete(request())
      assert.deepStrictEqual(endpoint.requests.map(({ headers }) => headers.authorization), [
        "Bearer test-key-1",
        "Bearer test-key-2"
      ])
    }))
})

describe("a provider", () => {
  it("reads the environment only with fromEnv", () => {
    assert.deepInclude(
      OpenAiCompatible.fromEnv({}, {
        OPENAI_BASE_URL: "https://api.deepseek.com",
        OPENAI_API_KEY: "test-key",
        OPENAI_MODEL: "deepseek-chat"
      }),
      { name: "deepseek", model: "deepseek-chat" }
    )
    assert.deepInclude(OpenAiCompatible.fromEnv({ model: "mine", name: "me" }, { OPENAI_MODEL: "theirs" }), {
      name: "me",
      model: "mine"
    })
    assert.strictEqual(OpenAiCompatible.make().name, "openai")
    assert.isFalse("model" in OpenAiCompatible.make())
  })

  it.live("answers many calls at once", () =>
    Effect.gen(function*() {
      const endpoint = yield* Endpoint.scoped()
      const provider = OpenAiCompatible.make({ baseUrl: endpoint.url, apiKey: "test-key", model: "demo" })
      const answers = yield* Effect.forEach(Array.from({ length: 64 }, (_, n) => n), (n) =>
        provider.complete(request(`number ${n}`)), {
        concurrency: "unbounded"
      })
      for (const [n, { text }] of answers.entries()) {
        assert.include(text, `number ${n}`)
      }
    }))
})
