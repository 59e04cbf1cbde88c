/** How a host waits for outcomes, writes events in batches, and shares calls of `advance`. */
import type { AgentEvent } from "@belay/core/AgentEvent"
import type { EventBatch, EventLog } from "@belay/core/EventLog"
import type { Entry } from "@belay/core/Inbox"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Logger from "effect/Logger"
import * as Semaphore from "effect/Semaphore"
import * as TestClock from "effect/testing/TestClock"
import { awaitOutcome } from "../../../src/host/internal/awaitOutcome.ts"
import { answerOf, type Runner } from "../../../src/host/internal/cluster/answer.ts"
import { EventWriter } from "../../../src/host/internal/eventWriter.ts"
import { report, type Site } from "../../../src/host/internal/site.ts"

const tick = (ms = 0) => TestClock.adjust(ms)

/** A log of warnings. */
const warnings = (log: Array<string>) =>
  Logger.layer([Logger.make(({ message }) => void log.push(String([message].flat()[0])))])

describe("who waits for an outcome", () => {
  const completed = { status: "completed", turnNumber: 1, text: "t", usage: { inputTokens: 1, outputTokens: 1 } }
  const suspended = { ...completed, status: "suspended", pending: [] }
  const entryOf = (status: string, outcome: unknown = null, kind = "message"): Entry =>
    ({ sessionId: "s", key: "k", kind, status, outcome }) as never

  /** An inbox that answers with these entries, one after the other, and then with the last one. */
  const siteOf = (...answers: ReadonlyArray<Entry | "away" | undefined>) => {
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
            return next === "away" ? Effect.fail(new Error("away")) : Effect.succeed(next)
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

  it.effect("hears of a key that nobody sent, and of an outcome that cannot be read", () =>
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
      assert.deepInclude(error, { problem: "store", message: "the inbox cannot be read: away" })
    }))
})

describe("a writer of events", () => {
  const event = (seq: number, more: object = {}): AgentEvent =>
    ({ type: "notice", hook: "h", message: "m", seq, sessionId: "s", time: 0, ...more }) as never
  const turn = (sessionId = "s", stored = 0) => ({ sessionId, key: "k", begins: true, stored })

  const writing = (failures = 0) =>
    Effect.gen(function*() {
      const written: Array<ReadonlyArray<EventBatch>> = []
      const options: Array<object> = []
      let left = failures
      const log = {
        write: (batches: ReadonlyArray<EventBatch>, given: object) => {
          options.push(given)
          return left-- > 0 ? Effect.fail(new Error("away")) : Effect.sync(() => void written.push(batches))
        }
      } as unknown as EventLog
      const context = yield* Effect.context<never>()
      return {
        written,
        options,
        writer: new EventWriter(log),
        context,
        numbers: () =>
          written.map((batches) => batches.map(({ rows }) => rows.flatMap(({ first, last }) => [first, last])))
      }
    })

  it.effect("collects them for 50 milliseconds, and writes those of all sessions at once", () =>
    Effect.gen(function*() {
      const { context, numbers, options, written, writer } = yield* writing()
      const mine = turn()
      writer.add(mine, event(1), context)
      writer.add(turn("other"), event(1), context)
      yield* tick(49)
      assert.lengthOf(written, 0)
      writer.add(mine, event(2), context)
      yield* tick(1)
      assert.deepEqual(numbers(), [[[1, 2], [1, 1]]])
      assert.deepEqual(options, [{ keepMs: 10_000 }])
      assert.deepEqual(written[0]!.map(({ begins, sessionId }) => [sessionId, begins]), [["s", 1], ["other", 1]])
      writer.add(mine, event(3), context)
      yield* tick(50)
      assert.deepEqual(written[1]!.map(({ begins }) => begins), [undefined])
    }))

  it.effect("writes at once what ends a turn, and 64 events", () =>
    Effect.gen(function*() {
      const { context, numbers, writer } = yield* writing()
      const mine = turn()
      writer.add(mine, event(1), context)
      yield* tick()
      writer.add(mine, event(2, { type: "turn-end" }), context)
      yield* tick()
      assert.deepEqual(numbers(), [[[1, 2]]])
      for (let seq = 3; seq <= 65; seq++) writer.add(mine, event(seq), context)
      yield* tick()
      assert.lengthOf(numbers(), 1)
      writer.add(mine, event(66), context)
      yield* tick()
      assert.deepEqual(numbers()[1], [[3, 66]])
    }))

  it.effect("can be asked to write now, and does nothing if there is nothing to write", () =>
    Effect.gen(function*() {
      const { context, numbers, writer } = yield* writing()
      yield* writer.flush("s")
      writer.add(turn(), event(1), context)
      yield* tick()
      yield* writer.flush("other")
      assert.lengthOf(numbers(), 0)
      const flushed = yield* Effect.forkChild(writer.flush("s"))
      yield* tick()
      yield* Fiber.join(flushed)
      assert.deepEqual(numbers(), [[[1, 1]]])
    }))

  it.effect("begins another turn after 32 million characters, so that a store can forget the first ones", () =>
    Effect.gen(function*() {
      const { context, written, writer } = yield* writing()
      const size = event(1, { type: "text-delta", text: "" })
      const mine = { ...turn(), begins: false, stored: 32_000_000 - 16 }
      writer.add(mine, size, context)
      yield* tick(50)
      assert.isUndefined(written[0]![0]!.begins)
      assert.strictEqual(mine.stored, 32_000_000)
      writer.add(mine, event(2, { type: "text-delta", text: "" }), context)
      yield* tick(50)
      assert.deepEqual([written[1]![0]!.begins, mine.stored], [2, 16])
      assert.isTrue(Object(written[1]![0]!.rows[0].body).missed)
      writer.add(mine, event(3, { type: "text-delta", text: "" }), context)
      yield* tick(50)
      assert.deepEqual([written[2]![0]!.begins, mine.stored], [undefined, 32])
    }))

  it.effect("warns once while the log is away, and again after it was there", () => {
    const log: Array<string> = []
    return Effect.provide(
      Effect.gen(function*() {
        const { context, writer } = yield* writing(2)
        const mine = turn()
        for (let seq = 1; seq <= 3; seq++) {
          writer.add(mine, event(seq), context)
          yield* tick(50)
        }
        assert.lengthOf(log, 1)
        assert.match(log[0]!, /^the events of running turns cannot be stored, .*: away$/)
      }),
      warnings(log)
    )
  })
})

describe("wake-ups of a session in a cluster", () => {
  const runner = (advance: (sessionId: string) => Effect.Effect<void, unknown>, more: Partial<Runner> = {}): Runner =>
    ({ advance, permits: Semaphore.makeUnsafe(1), open: new Map(), isClosing: false, ...more }) as never

  /** Lets all fibers go on until they wait for something. */
  const settle = Effect.forEach(Array.from({ length: 30 }), () => Effect.yieldNow, { discard: true })

  /** Calls of `advance` that end when the test says so. */
  const gated = () => {
    const ends: Array<() => void> = []
    const advance = () => Effect.callback<void>((resume) => void ends.push(() => resume(Effect.void)))
    return { ends, advance }
  }

  it.effect("that come while it is advanced share the next call", () =>
    Effect.gen(function*() {
      const { advance, ends } = gated()
      const one = runner(advance)
      const answer = answerOf(one, "s")
      const first = yield* Effect.forkChild(answer)
      yield* settle
      const others = [yield* Effect.forkChild(answer), yield* Effect.forkChild(answer)]
      yield* settle
      assert.deepEqual([ends.length, one.open.get("s")], [1, 3])
      ends[0]!()
      yield* Fiber.join(first)
      yield* settle
      assert.deepEqual([ends.length, one.open.get("s")], [2, 2])
      ends[1]!()
      for (const fiber of others) yield* Fiber.join(fiber)
      assert.deepEqual([ends.length, one.open.size], [2, 0])
      const later = yield* Effect.forkChild(answer)
      yield* settle
      ends[2]!()
      yield* Fiber.join(later)
      assert.lengthOf(ends, 3)
    }))

  it.effect("of different sessions do not wait for each other, as far as there are permits", () =>
    Effect.gen(function*() {
      const { advance, ends } = gated()
      const one = runner(advance, { permits: Semaphore.makeUnsafe(2) })
      const fibers = [
        yield* Effect.forkChild(answerOf(one, "a")),
        yield* Effect.forkChild(answerOf(one, "b")),
        yield* Effect.forkChild(answerOf(one, "c"))
      ]
      yield* settle
      assert.lengthOf(ends, 2)
      ends[0]!()
      yield* settle
      assert.lengthOf(ends, 3)
      for (const end of ends) end()
      for (const fiber of fibers) yield* Fiber.join(fiber)
    }))

  it.effect("are answered when a call has succeeded, after others have failed", () => {
    const log: Array<string> = []
    return Effect.provide(
      Effect.gen(function*() {
        let failures = 3
        let calls = 0
        const one = runner(() =>
          Effect.suspend(() => {
            calls++
            return failures-- > 0 ? Effect.fail("away") : Effect.void
          })
        )
        const fiber = yield* Effect.forkChild(answerOf(one, "s"))
        yield* tick(249)
        assert.isBelow(calls, 3)
        yield* tick(3_000)
        yield* Fiber.join(fiber)
        assert.deepEqual([calls, log], [4, Array.from({ length: 3 }, () => "session s is advanced again later")])
      }),
      warnings(log)
    )
  })

  it.effect("leave a call alone that runs when the runner ends, and begin none", () =>
    Effect.gen(function*() {
      const { advance, ends } = gated()
      const one = runner(advance)
      const fiber = yield* Effect.forkChild(answerOf(one, "s"))
      yield* settle
      one.isClosing = true
      const ending = yield* Effect.forkChild(Fiber.interrupt(fiber))
      yield* settle
      assert.isUndefined(ending.pollUnsafe(), "it waits for the call")
      ends[0]!()
      yield* Fiber.join(ending)
      assert.strictEqual(one.open.size, 0)
      const late = yield* Effect.forkChild(answerOf(one, "s"))
      yield* settle
      assert.deepEqual([late.pollUnsafe(), ends.length], [undefined, 1])
      yield* Fiber.interrupt(late)
    }))

  it.effect("interrupt a call of a session that the runner has lost", () =>
    Effect.gen(function*() {
      const ends: Array<boolean> = []
      const one = runner(() =>
        Effect.onExit(Effect.never, (exit) => Effect.sync(() => void ends.push(Exit.isFailure(exit))))
      )
      const answer = answerOf(one, "s")
      const fiber = yield* Effect.forkChild(answer)
      yield* settle
      yield* Fiber.interrupt(fiber)
      assert.deepEqual([ends, one.open.size], [[true], 0])
      const again = yield* Effect.forkChild(answer)
      yield* settle
      yield* Fiber.interrupt(again)
      assert.lengthOf(ends, 2, "a wake-up after that begins another call")
    }))
})
