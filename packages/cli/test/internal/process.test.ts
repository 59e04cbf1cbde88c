/** Keys, signals, tokens and variables: what the commands share with the process around them. */
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import { mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, assert, describe, it, vi } from "vitest"
import { fromEnvironment } from "../../src/internal/environment.ts"
import { handleInterrupts, isInterruptHandled } from "../../src/internal/interrupts.ts"
import { authorizeWith, listen, newToken } from "../../src/internal/serve/listen.ts"
import { firstSignal, mustEnd, takeSignal } from "../../src/internal/serve/signals.ts"
import { keptToken } from "../../src/internal/serve/token.ts"

describe("the endpoint of a model", () => {
  const of = (
    env: { readonly [name: string]: string },
    flags: { readonly baseUrl?: string; readonly model?: string }
  ) =>
    Effect.runPromise(
      fromEnvironment({ baseUrl: Option.fromNullishOr(flags.baseUrl), model: Option.fromNullishOr(flags.model) }).pipe(
        Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env })))
      )
    )
  const [none, openAi] = [undefined, "https://api.openai.com/v1"]

  it("is that of the flags, then of the variables, and that of OpenAI for a key alone", async () => {
    const all = { OPENAI_API_KEY: "sk-fake", OPENAI_BASE_URL: "http://v", OPENAI_MODEL: "m" }
    assert.deepEqual(await of({}, {}), { apiKey: none, baseUrl: none, model: none })
    assert.deepEqual(await of(all, {}), { apiKey: "sk-fake", baseUrl: "http://v", model: "m" })
    assert.deepEqual(await of(all, { baseUrl: "http://f", model: "f" }), {
      apiKey: "sk-fake",
      baseUrl: "http://f",
      model: "f"
    })
    assert.deepEqual(await of({ OPENAI_API_KEY: "sk-fake" }, {}), { apiKey: "sk-fake", baseUrl: openAi, model: none })
    const empty = { OPENAI_API_KEY: "", OPENAI_BASE_URL: "", OPENAI_MODEL: "" }
    assert.deepEqual(await of(empty, {}), { apiKey: none, baseUrl: none, model: none })
  })
})

describe("Ctrl-C", () => {
  it("is handled by who has asked for it last, until that ends", () => {
    assert.isFalse(isInterruptHandled())
    const first = handleInterrupts(() => true)
    assert.isTrue(isInterruptHandled())
    const second = handleInterrupts(() => false)
    assert.isFalse(isInterruptHandled())
    first()
    handleInterrupts(() => true)
    second()
    assert.isTrue(isInterruptHandled())
    handleInterrupts(() => true)()
    assert.isFalse(isInterruptHandled())
  })
})

describe("a signal", () => {
  afterEach(() => void vi.restoreAllMocks())

  it("ends a command that waits for it, counts once if it comes twice, and then ends the process", async () => {
    // Other tests have stopped commands before.
    let now = 1e9
    vi.spyOn(performance, "now").mockImplementation(() => now)
    assert.isFalse(takeSignal())
    const waiting = Effect.runFork(firstSignal)
    assert.isTrue(takeSignal())
    await Effect.runPromise(Fiber.join(waiting))
    assert.isTrue(mustEnd())
    now = 1e9 + 249
    assert.isTrue(takeSignal())
    now = 1e9 + 250
    assert.isFalse(takeSignal())
  })

  it("ends the process if the command has ended", async () => {
    const waiting = Effect.runFork(firstSignal)
    await Effect.runPromise(Fiber.interrupt(waiting))
    vi.spyOn(performance, "now").mockImplementation(() => 2e9)
    assert.isFalse(takeSignal())
  })
})

describe("the token of a server", () => {
  it("is a new one each time, and long", () => {
    const tokens = new Set(Array.from({ length: 20 }, newToken))
    assert.strictEqual(tokens.size, 20)
    for (const token of tokens) assert.match(token, /^[\w-]{32}$/)
  })

  it("is kept in a folder that only its owner can read", async () => {
    const data = join(mkdtempSync(join(tmpdir(), "belay-token-")), "a", "b")
    const token = await Effect.runPromise(keptToken(data))
    const file = join(data, "serve.token")
    assert.strictEqual(readFileSync(file, "utf8"), `${token}\n`)
    assert.strictEqual(statSync(file).mode & 0o777, 0o600)
    assert.strictEqual(statSync(data).mode & 0o777, 0o700)
    assert.strictEqual(await Effect.runPromise(keptToken(data)), token)
    writeFileSync(file, " own \n")
    assert.strictEqual(await Effect.runPromise(keptToken(data)), "own")
  })

  it("authorizes who has exactly it", () => {
    const authorize = authorizeWith("abc")
    const ask = (authorization?: string) =>
      authorize(new Request("http://h", authorization === undefined ? {} : { headers: { authorization } }))
    assert.strictEqual(ask("Bearer abc"), "owner")
    for (const wrong of [undefined, "abc", "Bearer abd", "Bearer ab", "Bearer abcd", "bearer abc"]) {
      assert.isUndefined(ask(wrong))
    }
  })
})

describe("a port", () => {
  it("is returned when it is free, and is an error when it is not", async () => {
    const [one, two] = [createServer(), createServer()]
    const port = await Effect.runPromise(listen(one, { hostname: "127.0.0.1", port: 0 }))
    assert.deepInclude(one.address(), { address: "127.0.0.1", port })
    const error = await Effect.runPromise(Effect.flip(listen(two, { hostname: "127.0.0.1", port })))
    assert.match(error.message, /^the server cannot listen: .*EADDRINUSE/)
    one.close()
  })
})
