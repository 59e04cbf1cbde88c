/** What reaches the readers of this process: events in their order, until a reader is too slow. */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { assert, describe, it } from "vitest"
import { makeEventFeed } from "../../../../src/host/internal/events/eventFeed.ts"

const run = Effect.runPromise
const delta = (seq: number) => ({ seq, sessionId: "s", time: 0, type: "text-delta", text: "x" })

/** A session that says events, and counts who listens. */
const speaking = () => {
  const listeners = new Set<(event: unknown) => void>()
  let heard = 0
  const on = (listener: (event: unknown) => void) => {
    heard++
    listeners.add(listener)
    return () => listeners.delete(listener)
  }
  const say = (...seqs: ReadonlyArray<number>) => {
    for (const seq of seqs) for (const listener of listeners) listener(delta(seq))
  }
  return { session: { on } as never, say, listeners, heard: () => heard }
}

const turn = (sessionId: string) => ({ sessionId, key: "k", begins: true, stored: 0 })

/** A log that keeps nothing and says what was written. */
const noting = () => {
  const written: Array<unknown> = []
  const write = (batches: ReadonlyArray<unknown>) => Effect.sync(() => void written.push(...batches))
  return { written, log: { write, read: () => Effect.never, prune: () => Effect.void } as never }
}

describe("the feed of events", () => {
  it("brings what happens to each reader of the session, and to no other", async () => {
    const feed = makeEventFeed(undefined)
    const { say, session } = speaking()
    const stop = await run(feed.attach(session, turn("s")))
    const [one, two, other] = [feed.open("s"), feed.open("s"), feed.open("t")]
    say(1, 2)
    assert.deepEqual(one.take(), [
      { seq: 1, item: { id: "0000000000000001", event: delta(1), key: "k" } },
      { seq: 2, item: { id: "0000000000000002", event: delta(2), key: "k" } }
    ] as never)
    assert.deepEqual(one.take(), [])
    one.close()
    say(3)
    assert.deepEqual(two.take().map(({ seq }) => seq), [1, 2, 3])
    assert.deepEqual([one.take(), other.take()], [[], []])
    stop()
    say(4)
    assert.deepEqual(two.take(), [])
  })

  it("listens to a turn only while somebody reads, if it has no log, and once", async () => {
    const feed = makeEventFeed(undefined)
    const { heard, listeners, say, session } = speaking()
    assert.isFalse(feed.isRunning("s"))
    const stop = await run(feed.attach(session, turn("s")))
    assert.isTrue(feed.isRunning("s"))
    assert.strictEqual(heard(), 0)
    for (const inlet of [feed.open("t"), feed.open("s"), feed.open("s")]) inlet.close()
    assert.strictEqual(heard(), 1)
    say(1)
    stop()
    assert.strictEqual(listeners.size, 0)
    assert.isFalse(feed.isRunning("s"))
    await run(feed.flush("s"))
    const reader = feed.open("s")
    const next = speaking()
    await run(feed.attach(next.session, turn("s")))
    next.say(2)
    assert.deepEqual(reader.take().map(({ seq }) => seq), [2])
    reader.close()
    const unheard = speaking()
    await run(feed.attach(unheard.session, turn("s")))
    assert.strictEqual(unheard.heard(), 0)
  })

  it("stores what happens although nobody reads, if it has a log", async () => {
    const { log, written } = noting()
    const feed = makeEventFeed(log)
    const { say, session } = speaking()
    const stop = await run(feed.attach(session, turn("s")))
    say(1, 2)
    await run(feed.flush("s"))
    assert.lengthOf(written, 1)
    assert.deepInclude(written[0], { sessionId: "s", begins: 1 })
    stop()
  })

  it("drops what a reader does not take, says so once, and goes on", async () => {
    const feed = makeEventFeed(undefined)
    const { say, session } = speaking()
    await run(feed.attach(session, turn("s")))
    const reader = feed.open("s")
    say(...Array.from({ length: 256 }, (_, seq) => seq))
    assert.isFalse(reader.takeDropped())
    say(256)
    assert.isTrue(reader.takeDropped())
    assert.isFalse(reader.takeDropped())
    assert.deepEqual(reader.take().map(({ seq }) => seq), [256])
  })

  it("wakes a reader when there is something, or when it is asked to", async () => {
    const feed = makeEventFeed(undefined)
    const { say, session } = speaking()
    await run(feed.attach(session, turn("s")))
    const reader = feed.open("s")
    const waits = async () => {
      const fiber = Effect.runFork(reader.arrival)
      const end = async () => {
        await run(Fiber.join(fiber))
        return "woken"
      }
      return { isOpen: fiber.pollUnsafe() === undefined, end }
    }
    const first = await waits()
    assert.isTrue(first.isOpen)
    say(1)
    assert.strictEqual(await first.end(), "woken")
    // It was not taken yet.
    assert.isFalse((await waits()).isOpen)
    reader.take()
    const second = await waits()
    assert.isTrue(second.isOpen)
    reader.wake()
    assert.strictEqual(await second.end(), "woken")
    reader.wake()
    assert.isFalse((await waits()).isOpen)
    const third = await waits()
    assert.isTrue(third.isOpen)
    reader.wake()
    await third.end()
    // One that does not wait any more takes no wake-up away.
    const gone = Effect.runFork(reader.arrival)
    await run(Fiber.interrupt(gone))
    reader.wake()
    assert.isFalse((await waits()).isOpen)
  })
})
