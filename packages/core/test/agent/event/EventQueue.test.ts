import { assert, describe, it } from "@effect/vitest"
import type { AgentEvent } from "../../../src/data/AgentEvent.ts"
import { eventQueue } from "../../../src/guard/internal/event/eventQueue.ts"

const event = (seq: number): AgentEvent =>
  ({
    seq,
    sessionId: "s",
    rootSessionId: "s",
    turnNumber: 1,
    stepNumber: 1,
    time: 0,
    agent: "a",
    agentPath: ["a"],
    type: "text-delta",
    text: ""
  }) as AgentEvent

const numberOf = ({ value }: IteratorResult<AgentEvent, void>): number | undefined =>
  value === undefined ? undefined : value.seq

describe("a queue of events", () => {
  it("gives events that were there and events that come, and ends with the run", async () => {
    const queue = eventQueue()
    queue.push(event(1))
    queue.push(event(2))
    const seen: Array<number> = []
    const reader = (async () => {
      for await (const { seq } of queue.iterate(Promise.resolve())) seen.push(seq)
    })()
    await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual(seen, [1, 2])
    queue.push(event(3))
    await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual(seen, [1, 2, 3])
    queue.push(event(4))
    queue.end()
    await reader
    assert.deepEqual(seen, [1, 2, 3, 4])
  })

  it("answers calls of next in their order, also those after the end", async () => {
    const queue = eventQueue()
    const iterator = queue.iterate(Promise.resolve())
    const answers = Array.from({ length: 5 }, () => iterator.next())
    queue.push(event(1))
    queue.push(event(2))
    await new Promise((resolve) => setImmediate(resolve))
    queue.push(event(3))
    queue.end()
    assert.deepEqual((await Promise.all(answers)).map(numberOf), [1, 2, 3, undefined, undefined])
    assert.deepEqual(await iterator.next(), { done: true, value: undefined })
  })

  it("rejects once when the run fails, after the last event", async () => {
    const queue = eventQueue()
    const failed = Promise.reject(new Error("no"))
    failed.catch(() => {})
    const iterator = queue.iterate(failed)
    queue.push(event(1))
    queue.end()
    assert.strictEqual(numberOf(await iterator.next()), 1)
    assert.strictEqual(await iterator.next().then(() => "", (error: Error) => error.message), "no")
    assert.deepEqual(await iterator.next(), { done: true, value: undefined })
  })

  it("ends for a reader that leaves, also while it waits", async () => {
    const queue = eventQueue()
    const iterator = queue.iterate(Promise.resolve())
    const waiting = iterator.next()
    assert.deepEqual(await iterator.return(), { done: true, value: undefined })
    assert.deepEqual(await waiting, { done: true, value: undefined })
    queue.push(event(1))
    assert.deepEqual(await iterator.next(), { done: true, value: undefined })
    const other = queue.iterate(Promise.resolve())
    for await (const { seq } of other) {
      assert.strictEqual(seq, 1)
      break
    }
    assert.deepEqual(await other.next(), { done: true, value: undefined })
  })

  it("tells how many events it dropped for a slow reader", async () => {
    const queue = eventQueue()
    for (let seq = 1; seq <= 65_537; seq++) queue.push(event(seq))
    queue.end()
    const seen: Array<AgentEvent> = []
    for await (const one of queue.iterate(Promise.resolve())) seen.push(one)
    assert.strictEqual(seen[0]?.type === "dropped" ? seen[0].count : 0, 32_768)
    assert.strictEqual(seen[1]?.seq, 32_769)
    assert.lengthOf(seen, 32_770)
  })

  it("gives each event to one of two readers that wait, and ends for both", async () => {
    const queue = eventQueue()
    const [first, second] = [queue.iterate(Promise.resolve()), queue.iterate(Promise.resolve())]
    const answers = [first.next(), second.next(), first.next(), second.next(), second.next()]
    for (const seq of [1, 2, 3]) {
      queue.push(event(seq))
      await new Promise((resolve) => setImmediate(resolve))
    }
    queue.end()
    const numbers = (await Promise.all(answers)).map(numberOf)
    assert.deepEqual(new Set(numbers), new Set([1, 2, 3, undefined]))
    assert.deepEqual(numbers.slice(0, 2), [1, 2])
  })

  it("continues with the next event for a reader that comes after another one has left", async () => {
    const queue = eventQueue()
    for (const seq of [1, 2, 3]) queue.push(event(seq))
    for await (const { seq } of queue.iterate(Promise.resolve())) {
      assert.strictEqual(seq, 1)
      break
    }
    queue.push(event(4))
    queue.end()
    const seen: Array<number> = []
    for await (const { seq } of queue.iterate(Promise.resolve())) seen.push(seq)
    assert.deepEqual(seen, [2, 3, 4])
  })

  it("leaves the events to the other reader when one that waits leaves", async () => {
    const queue = eventQueue()
    const [first, second] = [queue.iterate(Promise.resolve()), queue.iterate(Promise.resolve())]
    const [left, waits] = [first.next(), second.next()]
    await first.return()
    assert.deepEqual(await left, { done: true, value: undefined })
    queue.push(event(1))
    assert.strictEqual(numberOf(await waits), 1)
  })
})
