/** The timers of one request. */
import type { LlmResponse } from "@belay/core/LlmCall"
import type { ProviderError } from "@belay/core/ProviderError"
import { assert, describe, it } from "@effect/vitest"
import type * as Exit from "effect/Exit"
import * as Stream from "../../src/openai/internal/response/stream.ts"
import { run } from "../../src/openai/internal/transport/exchange.ts"
import type { Transport } from "../../src/openai/internal/transport/transport.ts"
import { request } from "../support/support.ts"

const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length

/** Starts a request that has all time limits. `answer` is what the transport does with it. */
const start = (answer: Parameters<typeof run>[0] = () => ({ abort: () => {}, release: () => {} })) => {
  const exits: Array<Exit.Exit<LlmResponse, ProviderError>> = []
  const abort = run(answer, {
    request: request(),
    headers: {},
    body: "{}",
    source: { provider: "vendor" } as never,
    timeouts: { headersMs: 60_000, firstEventMs: 60_000, idleMs: 60_000, totalMs: 60_000 },
    sink: undefined,
    assembler: (asked, provider, emit) => Stream.make(asked, provider, emit)
  }, (exit) => exits.push(exit))
  return { abort, exits }
}

const listening: Array<Parameters<Transport>[2]> = []
const silent: Transport = (_headers, _body, listener) => {
  listening.push(listener)
  return { abort: () => {}, release: () => {} }
}

describe("a request leaves no timer behind", () => {
  it("when it is interrupted before the headers", () => {
    const before = timers()
    const { abort, exits } = start()
    assert.strictEqual(timers(), before + 2)
    abort()
    assert.strictEqual(timers(), before)
    assert.deepStrictEqual(exits, [])
  })

  it("when it is interrupted in the middle of the answer", () => {
    const before = timers()
    const { abort } = start(silent)
    const listener = listening.pop()!
    listener.onHeaders({ status: 200, headers: {}, pause: () => {}, resume: () => {} })
    listener.onData(Buffer.from(": ping\n\n"))
    abort()
    assert.strictEqual(timers(), before)
  })

  it("when it fails", () => {
    const before = timers()
    const { exits } = start(silent)
    listening.pop()!.onError(new Error("gone"))
    assert.lengthOf(exits, 1)
    assert.strictEqual(timers(), before)
  })
})
