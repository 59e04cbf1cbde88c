import { createAgent } from "@belay/core/createAgent"
import * as OpenAiCompatible from "@belay/providers/OpenAiCompatible"
import * as Endpoint from "@belay/testing/Endpoint"
import { afterEach, assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { request } from "../../support/support.ts"
import { completion } from "../../support/wire.ts"

afterEach(() => void delete process.env.OPENAI_CUSTOM_HEADERS)

/** What a provider would send, and where. */
const sentBy = (make: (fetch: OpenAiCompatible.Fetch) => ReturnType<typeof OpenAiCompatible.make>) =>
  Effect.gen(function*() {
    const seen: Array<{ readonly url: string; readonly headers: Record<string, string> }> = []
    const provider = make(async (url, { headers }) => {
      seen.push({ url, headers: { ...headers as Record<string, string> } })
      return new Response(JSON.stringify(completion({ content: "hi" })))
    })
    const result = yield* Effect.result(provider.complete(request()))
    return { seen, result }
  })

describe("a key goes only where it was meant:", () => {
  it.live("custom headers of the environment are for fromEnv", () =>
    Effect.gen(function*() {
      process.env.OPENAI_CUSTOM_HEADERS = "X-Team: blue\nAuthorization: Bearer of-another"
      const { seen } = yield* sentBy((fetch) =>
        OpenAiCompatible.make({ baseUrl: "https://vendor.example/v1", apiKey: "k", model: "m", fetch })
      )
      assert.strictEqual(seen[0]?.headers.authorization, "Bearer k")
      assert.notInclude(JSON.stringify(seen).toLowerCase(), "x-team")
    }))

  it.live("custom headers of the environment go to the address of the environment", () =>
    Effect.gen(function*() {
      const env = { OPENAI_API_KEY: "k", OPENAI_CUSTOM_HEADERS: "X-Team: blue\nnonsense\n: x", OPENAI_MODEL: "m" }
      const own = yield* sentBy((fetch) => OpenAiCompatible.fromEnv({ fetch, headers: { "X-More": "1" } }, env))
      assert.deepInclude(own.seen[0]?.headers, { "x-team": "blue", "x-more": "1", authorization: "Bearer k" })
      const same = yield* sentBy((fetch) => OpenAiCompatible.fromEnv({ fetch, headers: { "X-Team": "red" } }, env))
      assert.strictEqual(same.seen[0]?.headers["x-team"], "red")
      const other = yield* sentBy((fetch) =>
        OpenAiCompatible.fromEnv({ baseUrl: "https://vendor.example/v1", fetch }, env)
      )
      assert.notProperty(other.seen[0]?.headers, "x-team")
    }))

  it.live("an option that is undefined does not replace the address of the environment", () =>
    Effect.gen(function*() {
      const env = { OPENAI_API_KEY: "k", OPENAI_BASE_URL: "https://gateway.example/v1", OPENAI_MODEL: "m" }
      // Programs without types can do this.
      const options = { baseUrl: undefined } as unknown as OpenAiCompatible.Options
      const { seen } = yield* sentBy((fetch) => OpenAiCompatible.fromEnv({ ...options, fetch }, env))
      assert.strictEqual(seen[0]?.url, "https://gateway.example/v1/chat/completions")
    }))

  it.live("another known vendor gets the key of its own variable", () =>
    Effect.gen(function*() {
      const env = { OPENAI_API_KEY: "of-openai", GROQ_API_KEY: "of-groq", OPENAI_MODEL: "m" }
      const keyFor = (baseUrl: string) =>
        Effect.map(
          sentBy((fetch) => OpenAiCompatible.fromEnv({ baseUrl, fetch }, env)),
          ({ seen }) => seen[0]?.headers.authorization
        )
      assert.strictEqual(yield* keyFor("https://api.groq.com/openai/v1"), "Bearer of-groq")
      assert.isUndefined(yield* keyFor("https://api.deepseek.com"))
      assert.isUndefined(yield* keyFor("http://localhost:11434/v1"))
      assert.strictEqual(yield* keyFor("https://gateway.example/v1"), "Bearer of-openai")
    }))

  for (const baseUrl of ["", " ", "localhost:11434/v1", "vendor.example/v1", "ftp://vendor.example/v1", "nonsense"]) {
    it.live(`a base URL that is ${JSON.stringify(baseUrl)} is an error, and nothing is sent`, () =>
      Effect.gen(function*() {
        const { result, seen } = yield* sentBy((fetch) =>
          OpenAiCompatible.make({ baseUrl, apiKey: "k", model: "m", fetch })
        )
        assert.deepStrictEqual(seen, [])
        assert.strictEqual(result._tag === "Failure" && result.failure._tag, "InvalidRequest")
        assert.include(result._tag === "Failure" ? result.failure.message : "", "begin it with https://")
      }))
  }

  it.live("a whole path is a base URL too", () =>
    Effect.gen(function*() {
      for (const path of ["", "/", "/chat/completions", "/chat/completions?v=1", "/responses"]) {
        const { seen } = yield* sentBy((fetch) =>
          OpenAiCompatible.make({ baseUrl: `https://vendor.example/v1${path}`, model: "m", fetch })
        )
        assert.match(seen[0]?.url ?? "", /^https:\/\/vendor\.example\/v1\/chat\/completions(\?v=1)?$/)
      }
    }))
})

describe("a function that returns the key", () => {
  const answers: ReadonlyArray<Endpoint.ScriptEntry> = Array.from(
    { length: 4 },
    () => (asked) =>
      asked.headers.authorization === "Bearer fresh"
        ? { text: "hi" }
        : { status: 401, body: { error: { message: "token expired" } } }
  )
  const over = (apiKey: () => Promise<string>) =>
    Effect.map(Endpoint.scoped({ script: answers }), (endpoint) => ({
      endpoint,
      provider: OpenAiCompatible.make({ baseUrl: endpoint.url, apiKey, model: "m", name: "vendor" })
    }))

  it.live("is asked once for another key after a 401", () =>
    Effect.gen(function*() {
      const keys = ["stale", "fresh", "fresh"]
      const { endpoint, provider } = yield* over(async () => keys.shift() ?? "none")
      assert.strictEqual((yield* provider.complete(request())).text, "hi")
      assert.strictEqual((yield* provider.complete(request())).text, "hi")
      assert.lengthOf(endpoint.requests, 3)
    }))

  it.live("is not asked a third time", () =>
    Effect.gen(function*() {
      let asked = 0
      const { endpoint, provider } = yield* over(async () => `stale-${++asked}`)
      assert.strictEqual((yield* Effect.flip(provider.complete(request())))._tag, "Auth")
      assert.deepStrictEqual([asked, endpoint.requests.length], [2, 2])
    }))

  it.live("gives the same key again, so that the request is not sent again", () =>
    Effect.gen(function*() {
      const { endpoint, provider } = yield* over(async () => "stale")
      assert.strictEqual((yield* Effect.flip(provider.complete(request())))._tag, "Auth")
      assert.lengthOf(endpoint.requests, 1)
    }))

  for (
    const [name, apiKey] of Object.entries({
      "rejects": () => Promise.reject(new Error("vault unreachable, key sk-secret-value-123")),
      "throws": () => {
        throw new Error("vault unreachable")
      },
      "returns no key": () => Promise.resolve(undefined as unknown as string)
    })
  ) {
    it(`lets the next provider answer when it ${name}`, async () => {
      await using endpoint = await Endpoint.start({ script: [{ text: "from the backup" }] })
      const first = OpenAiCompatible.make({ name: "first", baseUrl: "http://127.0.0.1:9/v1", apiKey, model: "m" })
      const backup = OpenAiCompatible.make({ name: "backup", baseUrl: endpoint.url, model: "m" })
      const error = await Effect.runPromise(Effect.flip(first.complete(request())))
      assert.strictEqual(error._tag, "Auth")
      assert.match(error.message, /the function `apiKey` (failed: vault|returned no text)/)
      assert.notInclude(error.message, "secret")
      await using agent = createAgent({ provider: [first, backup] })
      assert.strictEqual((await agent.run("hi")).text, "from the backup")
    })
  }
})
