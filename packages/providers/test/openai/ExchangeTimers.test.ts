/** The timers of one request. */
import type { LlmResponse } from "@belay/core/LlmCall"
import type { ProviderError } from "@belay/core/ProviderError"
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Exit from "effect/Exit"
import { afterEach, vi } from "vitest"
import * as Stream from "../../src/openai/internal/response/stream.ts"
import { run } from "../../src/openai/internal/transport/exchange.ts"
import type { Transport } from "../../src/openai/internal/transport/transport.ts"
import { request } from "../support/support.ts"

const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length

/** Starts a request that has all time limits. `answer` is what the transport does with it. */
const start = (
  answer: Parameters<typeof run>[0] = () => ({ abort: () => {}, release: () => {} }),
  timeouts: Parameters<typeof run>[1]["timeouts"] = {
    headersMs: 60_000,
    firstEventMs: 60_000,
    idleMs: 60_000,
    totalMs: 60_000
  }
) => {
  const exits: Array<Exit.Exit<LlmResponse, ProviderError>> = []
  const abort = run(answer, {
    request: request(),
    headers: {},
    body: "{}",
    source: { provider: "vendor" } as never,
    timeouts,
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

describe("each phase of a request has its own time limit", () => {
  afterEach(() => void vi.useRealTimers())

  const limits = { headersMs: 600_000, firstEventMs: 60_000, idleMs: 50 }
  const head = { status: 200, headers: {}, pause: () => {}, resume: () => {} }
  const begin = () => {
    vi.useFakeTimers()
    const { exits } = start(silent, limits)
    const phases = () =>
      exits.map((exit) => {
        assert.ok(Exit.isFailure(exit))
        const error = Cause.squash(exit.cause) as ProviderError
        return error._tag === "Timeout" ? error.phase : error._tag
      })
    return { listener: listening.pop()!, phases }
  }

  it("the headers may take longer than what follows", () => {
    const { phases } = begin()
    vi.advanceTimersByTime(599_999)
    assert.deepStrictEqual(phases(), [])
    vi.advanceTimersByTime(2)
    assert.deepStrictEqual(phases(), ["headers"])
    assert.strictEqual(vi.getTimerCount(), 0)
  })

  it("the limit of the first event begins with the headers", () => {
    const { listener, phases } = begin()
    vi.advanceTimersByTime(300_000)
    listener.onHeaders(head)
    vi.advanceTimersByTime(59_999)
    assert.deepStrictEqual(phases(), [])
    vi.advanceTimersByTime(2)
    assert.deepStrictEqual(phases(), ["first-event"])
  })

  it("every piece of data begins the limit of the next one", () => {
    const { listener, phases } = begin()
    vi.advanceTimersByTime(300_000)
    listener.onHeaders(head)
    for (let piece = 0; piece < 5; piece++) {
      listener.onData(Buffer.from("data: {}\n\n"))
      vi.advanceTimersByTime(49)
      assert.deepStrictEqual(phases(), [])
    }
    vi.advanceTimersByTime(3)
    assert.deepStrictEqual(phases(), ["idle"])
  })

  it("a limit that is longer than the longest timer never fires", () => {
    vi.useFakeTimers()
    const { exits } = start(silent, { headersMs: Infinity, firstEventMs: Infinity, idleMs: Infinity })
    vi.advanceTimersByTime(10 ** 10)
    assert.deepStrictEqual(exits, [])
    listening.pop()!.onError(new Error("gone"))
    assert.strictEqual(vi.getTimerCount(), 0)
  })
})
