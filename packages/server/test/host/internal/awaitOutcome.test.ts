/** Who waits for an outcome. */
import type { Entry } from "@belay/core/Inbox"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { awaitOutcome } from "../../../src/host/internal/awaitOutcome.ts"
import { report, type Site } from "../../../src/host/internal/site/site.ts"

const tick = (ms = 0) => TestClock.adjust(ms)

describe("who waits for an outcome", () => {
  const completed = { status: "completed", turnNumber: 1, text: "t", usage: { inputTokens: 1, outputTokens: 1 } }
  const suspended = { ...completed, status: "suspended", pending: [] }
  const entryOf = (status: string, outcome: unknown = null, kind = "message"): Entry =>
    ({ sessionId: "s", key: "k", kind, status, outcome }) as never

  /** An inbox that answers with these entries, one after the other, and then with the last one. */
  const siteOf = (...answers: ReadonlyArray<Entry | "away" | "broken" | undefined>) => {
    const left = [...answers]
    const open: Array<Entry> = []
    let reads = 0
    const site = {
      pollMs: 100,
      listeners: new Map(),
      inbox: {
        get: () =>
          Effect.suspend(() => {
            reads++
            const next = left.length > 1 ? left.shift() : left[0]
            if (next === "away" || next === "broken") {
              return Effect.fail<unknown>(next === "away" ? { message: next } : next)
            }
            return Effect.succeed(next)
          }),
        open: () => Effect.sync(() => open),
        report: () => Effect.void
      }
    } as unknown as Site
    return { site, open, reads: () => reads }
  }
  const waiting = (site: Site) =>
    Effect.gen(function*() {
      const fiber = yield* Effect.forkChild(awaitOutcome(site, "s", "k"))
      yield* tick()
      return fiber
    })

  it.effect("looks again after a pause", () =>
    Effect.gen(function*() {
      const { reads, site } = siteOf(entryOf("waiting"), entryOf("begun"), entryOf("done", completed))
      const fiber = yield* waiting(site)
      assert.strictEqual(reads(), 1)
      yield* tick(99)
      assert.strictEqual(reads(), 1)
      yield* tick(1)
      assert.strictEqual(reads(), 2)
      yield* tick(100)
      assert.deepEqual(yield* Fiber.join(fiber), completed as never)
      assert.strictEqual(site.listeners.size, 0)
    }))

  it.effect("looks again at once when something was stored while it looked", () =>
    Effect.gen(function*() {
      const { reads, site } = siteOf(entryOf("waiting"), entryOf("done", completed))
      const { get } = site.inbox
      const during = (sessionId: string, key: string) =>
        Effect.tap(get(sessionId, key), () => {
          const isFirst = reads() === 1
          return isFirst ? report(site, { sessionId, key }, completed as never) : Effect.void
        })
      const fiber = yield* waiting({ ...site, inbox: { ...site.inbox, get: during } })
      assert.strictEqual(reads(), 2)
      assert.deepEqual(yield* Fiber.join(fiber), completed as never)
    }))

  it.effect("looks at once when this process has stored an outcome, of this session only", () =>
    Effect.gen(function*() {
      const { reads, site } = siteOf(
        entryOf("waiting"),
        entryOf("waiting"),
        entryOf("dead", { status: "dead", attempts: 1, reason: "r" })
      )
      const fiber = yield* waiting(site)
      const other = yield* waiting(site)
      yield* Fiber.interrupt(other)
      assert.strictEqual(site.listeners.get("s")?.size, 1)
      yield* report(site, { sessionId: "other", key: "k" }, { status: "cancelled" })
      yield* tick()
      assert.strictEqual(reads(), 2)
      yield* report(site, { sessionId: "s", key: "x" }, { status: "cancelled" })
      yield* tick()
      assert.deepEqual(yield* Fiber.join(fiber), { status: "dead", attempts: 1, reason: "r" })
      assert.strictEqual(site.listeners.size, 0)
    }))

  it.effect("gets questions, unless somebody has answered them", () =>
    Effect.gen(function*() {
      const { open, site } = siteOf(entryOf("suspended", suspended))
      open.push(entryOf("waiting", null, "steer"))
      assert.deepEqual(yield* awaitOutcome(site, "s", "k"), suspended as never)
      for (const kind of ["decide", "cancel"]) {
        open.splice(0, 1, entryOf("waiting", null, kind))
        const fiber = yield* waiting(site)
        yield* tick(1_000)
        assert.isUndefined(fiber.pollUnsafe())
        yield* Fiber.interrupt(fiber)
      }
    }))

  it.effect("receives errors for a key that nobody sent, and for an outcome that cannot be read", () =>
    Effect.gen(function*() {
      const unknown = yield* Effect.flip(awaitOutcome(siteOf(undefined).site, "s", "k"))
      assert.deepInclude(unknown, { problem: "unknown", sessionId: "s", key: "k" })
      const broken = yield* Effect.flip(awaitOutcome(siteOf(entryOf("done", "odd")).site, "s", "k"))
      assert.deepInclude(broken, { problem: "store", sessionId: "s", key: "k" })
    }))

  it.effect("survives 20 failures of the inbox, and no more", () =>
    Effect.gen(function*() {
      const away = (count: number) => Array.from({ length: count }, () => "away" as const)
      const fine = yield* waiting(siteOf(...away(20), entryOf("done", completed)).site)
      yield* tick(2_000)
      assert.deepEqual(yield* Fiber.join(fine), completed as never)
      const fiber = yield* waiting(siteOf(...away(21), entryOf("done", completed)).site)
      yield* tick(2_000)
      const error = yield* Effect.flip(Fiber.join(fiber))
      const message = "the inbox cannot be read: away"
      assert.deepInclude(error, { problem: "store", sessionId: "s", key: "k", message, cause: { message: "away" } })
      const broken = yield* waiting(siteOf("broken").site)
      yield* tick(2_000)
      assert.strictEqual((yield* Effect.flip(Fiber.join(broken))).message, "the inbox cannot be read: broken")
    }))
})
