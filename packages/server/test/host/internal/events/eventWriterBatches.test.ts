/** When events are written, and which of them at once. */
import type { AgentEvent } from "@belay/core/AgentEvent"
import type { EventBatch, EventLog } from "@belay/core/EventLog"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Logger from "effect/Logger"
import * as TestClock from "effect/testing/TestClock"
import { EventWriter } from "../../../../src/host/internal/events/eventWriter.ts"

const tick = (ms = 0) => TestClock.adjust(ms)

/** A log of warnings. */
const warnings = (log: Array<string>) =>
  Logger.layer([Logger.make(({ message }) => void log.push(String([message].flat()[0])))])

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
          return left-- > 0 ? Effect.fail({ message: "away" }) : Effect.sync(() => void written.push(batches))
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

  it.effect("loses the oldest events of a large session, if all sessions have more than 64 million characters", () =>
    Effect.gen(function*() {
      const { context, written, writer } = yield* writing()
      const sizes = { small: 990_000, large: 1_010_000, a: 15_900_000, b: 15_900_000, c: 15_900_000, d: 15_900_000 }
      const add = (seq: number) => {
        for (const [sessionId, size] of Object.entries(sizes)) {
          const text = "x".repeat(seq === 1 ? size : 1)
          writer.add({ ...turn(sessionId), begins: seq === 1 }, event(seq, { type: "text-delta", text }), context)
        }
      }
      add(1)
      add(2)
      yield* tick(50)
      const missed = written[0]!.flatMap(({ rows, sessionId }) =>
        Object(rows[0].body).missed === true ? [sessionId] : []
      )
      assert.deepEqual(missed, ["large", "a"], "the first is too small to matter, and then there is room")
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
