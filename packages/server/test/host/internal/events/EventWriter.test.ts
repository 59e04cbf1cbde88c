/** Events that could not be stored: the next rows say where the turn began that they belong to. */
import type { AgentEvent } from "@belay/core/AgentEvent"
import type { EventBatch, EventLog } from "@belay/core/EventLog"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import { assert, describe, it } from "vitest"
import { EventWriter } from "../../../../src/host/internal/events/eventWriter.ts"

const event = (seq: number): AgentEvent =>
  ({ type: "notice", hook: "h", message: "m", seq, sessionId: "s", time: 0 }) as unknown as AgentEvent

describe("a log that is away for a while", () => {
  it("gets the beginning of the turn with the first rows that it stores, also after two failures", async () => {
    const stored: Array<EventBatch> = []
    let failures = 2
    const log = {
      write: (batches: ReadonlyArray<EventBatch>) =>
        failures-- > 0 ? Effect.fail("away") : Effect.sync(() => void stored.push(...batches))
    } as unknown as EventLog
    const writer = new EventWriter(log)
    const context = await Effect.runPromise(
      Effect.provide(Effect.context<never>(), Logger.layer([])) as Effect.Effect<Context.Context<never>>
    )
    const turn = { sessionId: "s", key: "k", begins: true, stored: 0 }
    for (const seq of [5, 6, 7]) {
      writer.add(turn, event(seq), context)
      await Effect.runPromise(writer.flush("s"))
    }
    assert.deepStrictEqual(stored.map(({ begins, rows }) => [begins, rows[0].first]), [[5, 7]])
    assert.strictEqual(Object(stored[0]!.rows[0].body).missed, true)
    writer.add(turn, event(8), context)
    await Effect.runPromise(writer.flush("s"))
    assert.deepStrictEqual(stored.map(({ begins }) => begins), [5, undefined])
    assert.isUndefined(Object(stored[1]!.rows[0].body).missed)
  })

  it("gets the beginning of the later turn, if that one begins while the log is away", async () => {
    const stored: Array<EventBatch> = []
    let failures = 1
    const log = {
      write: (batches: ReadonlyArray<EventBatch>) =>
        failures-- > 0 ? Effect.fail("away") : Effect.sync(() => void stored.push(...batches))
    } as unknown as EventLog
    const writer = new EventWriter(log)
    const context = Context.empty()
    writer.add({ sessionId: "s", key: "k", begins: true, stored: 0 }, event(5), context)
    await Effect.runPromise(writer.flush("s"))
    writer.add({ sessionId: "s", key: "l", begins: true, stored: 0 }, event(9), context)
    await Effect.runPromise(writer.flush("s"))
    assert.deepStrictEqual(stored.map(({ begins }) => begins), [9])
  })

  it("gets the beginning of the later turn, if the first events of that one are dropped while a write fails", async () => {
    const stored: Array<EventBatch> = []
    let fail = (): void => {}
    let begin = (): void => {}
    const writing = new Promise<void>((resolve) => begin = resolve)
    let hasFailed = false
    const log = {
      write: (batches: ReadonlyArray<EventBatch>) =>
        hasFailed
          ? Effect.sync(() => void stored.push(...batches))
          : Effect.callback<void, string>((resume) => {
            begin()
            fail = () => {
              hasFailed = true
              resume(Effect.fail("away"))
            }
          })
    } as unknown as EventLog
    const writer = new EventWriter(log)
    const context = Context.empty()
    writer.add({ sessionId: "s", key: "k", begins: true, stored: 0 }, event(5), context)
    const flushed = Effect.runPromise(writer.flush("s"))
    await writing
    const later = { sessionId: "s", key: "l", begins: true, stored: 0 }
    const long = { ...event(9), type: "text-delta", text: "x".repeat(17_000_000) } as unknown as AgentEvent
    writer.add(later, long, context)
    writer.add(later, event(10), context)
    fail()
    await flushed
    await Effect.runPromise(writer.flush("s"))
    assert.deepStrictEqual(stored.map(({ begins, rows }) => [begins, rows[0].first]), [[9, 10]])
  })
})
