/** What a reader of events sees: those of this process, those of the log, and gaps between them. */
import type { AgentEvent } from "@belay/core/AgentEvent"
import type { EventLog, EventPage } from "@belay/core/EventLog"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import type { HostEvent } from "../../../../src/host/HostEvent.ts"
import { type EventFeed, makeEventFeed } from "../../../../src/host/internal/events/eventFeed.ts"
import { makePacker } from "../../../../src/host/internal/events/eventRow.ts"
import { readEvents } from "../../../../src/host/internal/events/readEvents.ts"

const event = (seq: number): AgentEvent =>
  ({ type: "notice", hook: "h", message: "m", seq, sessionId: "s", time: 0 }) as never

/** A row of the log with these events. */
const row = (...all: ReadonlyArray<number>): EventPage["rows"][number] => {
  const packer = makePacker()
  for (const seq of all) packer.add(event(seq), "k", false)
  return packer.rows(false)[0]!
}
const page = (removedTo: number, ...rows: EventPage["rows"]): EventPage => ({ removedTo, rows })

/** A log that answers with these pages, one after the other, and then with nothing. */
const logOf = (...answers: ReadonlyArray<EventPage | "away">) => {
  const asked: Array<object> = []
  const left = [...answers]
  const log = {
    write: () => Effect.void,
    read: (_session: string, options: object) =>
      Effect.suspend((): Effect.Effect<EventPage, unknown> => {
        asked.push(options)
        const next = left.shift()
        return next === "away" ? Effect.fail({ message: "away" }) : Effect.succeed(next ?? page(0))
      })
  } as unknown as EventLog
  return { asked, log }
}

/** A turn of this process, whose events `say` makes. */
const turnOf = (feed: EventFeed) =>
  Effect.gen(function*() {
    let say = (_event: AgentEvent): void => {}
    const session = {
      on: (listener: typeof say) => {
        say = listener
        return () => void (say = () => {})
      }
    }
    const stop = yield* feed.attach(session as never, { sessionId: "s", key: "k", begins: true, stored: 0 })
    return { say: (...all: ReadonlyArray<number>) => all.forEach((seq) => say(event(seq))), stop }
  })

/** Reads in the background. `seen` has the numbers, and a `!` where something was missed. */
const reading = (
  feed: EventFeed,
  { after, busy = Effect.void, pollMs = 1_000 }: {
    readonly after?: number
    /** What the reader does with each event. */
    readonly busy?: Effect.Effect<void>
    readonly pollMs?: number
  } = {}
) =>
  Effect.gen(function*() {
    const seen: Array<string> = []
    const abort = new AbortController()
    const stream = readEvents(
      Effect.succeed({ feed, pollMs, sessionId: "s", after, signal: abort.signal })
    ) as unknown as Stream.Stream<HostEvent, { readonly message: string; readonly problem: string }>
    const fiber = yield* Effect.forkChild(
      Stream.runForEach(stream, ({ event: { seq }, missed }) =>
        Effect.andThen(
          Effect.sync(() => void seen.push(`${missed === true ? "!" : ""}${seq}`)),
          busy
        ))
    )
    yield* TestClock.adjust(0)
    return { seen, fiber, abort }
  })

const numbers = (from: number, to: number): ReadonlyArray<number> =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index)

const tick = (ms = 0) => TestClock.adjust(ms)

describe("a reader without a log", () => {
  it.effect("gets what happens from now on, and ends when it is aborted", () =>
    Effect.gen(function*() {
      const feed = makeEventFeed(undefined)
      const { say, stop } = yield* turnOf(feed)
      const { abort, fiber, seen } = yield* reading(feed)
      say(1, 2)
      yield* tick()
      say(4)
      yield* tick()
      assert.deepEqual(seen, ["1", "2", "4"])
      assert.isTrue(feed.isRunning("s"))
      stop()
      assert.isFalse(feed.isRunning("s"))
      abort.abort()
      yield* tick()
      yield* Fiber.join(fiber)
    }))

  it.effect("gets nothing before the event that it has", () =>
    Effect.gen(function*() {
      const feed = makeEventFeed(undefined)
      const { say } = yield* turnOf(feed)
      const { seen } = yield* reading(feed, { after: 2 })
      say(1, 2, 3)
      yield* tick()
      assert.deepEqual(seen, ["3"])
    }))

  it.effect("receives the news that it was too slow", () =>
    Effect.gen(function*() {
      const feed = makeEventFeed(undefined)
      const { say } = yield* turnOf(feed)
      const { seen } = yield* reading(feed, { busy: Effect.sleep(10) })
      say(1)
      yield* tick()
      say(...numbers(2, 258))
      yield* tick(10)
      assert.deepEqual(seen, ["1", "!258"])
      say(259)
      yield* tick(10)
      assert.deepEqual(seen.slice(2), ["259"])
    }))

  it.effect("loses nothing if it is 256 events behind", () =>
    Effect.gen(function*() {
      const feed = makeEventFeed(undefined)
      const { say } = yield* turnOf(feed)
      const { seen } = yield* reading(feed, { busy: Effect.sleep(10) })
      say(1)
      yield* tick()
      say(...numbers(2, 257))
      yield* tick(3_000)
      assert.deepEqual(seen, numbers(1, 257).map(String))
    }))
})

describe("a reader with a log", () => {
  it.effect("gets what the log has, then what happens here, each once", () =>
    Effect.gen(function*() {
      const { asked, log } = logOf(page(0, row(1, 2), row(3)))
      const feed = makeEventFeed(log)
      const { seen } = yield* reading(feed)
      const { say } = yield* turnOf(feed)
      say(3, 4, 5)
      yield* tick(100)
      assert.deepEqual(seen, ["1", "2", "3", "4", "5"])
      assert.deepEqual(asked[0], { limit: 8 })
    }))

  it.effect("asks for what comes after the event that it has", () =>
    Effect.gen(function*() {
      const { asked, log } = logOf(page(0, row(7, 8, 9)))
      const { seen } = yield* reading(makeEventFeed(log), { after: 7 })
      assert.deepEqual([seen, asked[0]], [["8", "9"], { after: 7, limit: 8 }])
    }))

  it.effect("looks into the log before an event of this process that has others before it", () =>
    Effect.gen(function*() {
      const { asked, log } = logOf(page(0, row(1)), page(0), page(0, row(2, 3)))
      const feed = makeEventFeed(log)
      const { seen } = yield* reading(feed)
      const { say } = yield* turnOf(feed)
      say(4, 6)
      yield* tick(1_000)
      assert.deepEqual(seen, ["1", "2", "3", "4", "6"])
      assert.deepEqual(asked.slice(2), [{ after: 1, limit: 8 }, { after: 4, limit: 8 }])
    }))

  it.effect("reads on at once while pages are full", () =>
    Effect.gen(function*() {
      const full = numbers(1, 8).map((seq) => row(seq))
      const { asked, log } = logOf(page(0, ...full), page(0, row(9)))
      const feed = makeEventFeed(log)
      yield* turnOf(feed)
      const { seen } = yield* reading(feed)
      assert.deepEqual(seen, numbers(1, 9).map(String))
      assert.deepEqual(asked, [{ limit: 8 }, { after: 8, limit: 8 }])
    }))

  it.effect("reads that the log has lost something", () =>
    Effect.gen(function*() {
      const { log } = logOf(page(5, row(6)), page(5, row(7)), page(8), page(8, row(9)))
      const { seen } = yield* reading(makeEventFeed(log), { after: 3 })
      yield* tick(3_000)
      assert.deepEqual(seen, ["!6", "7", "!9"])
    }))

  it.effect("reads nothing of what was removed before it came", () =>
    Effect.gen(function*() {
      const { log } = logOf(page(5, row(6)))
      const { seen } = yield* reading(makeEventFeed(log))
      assert.deepEqual(seen, ["6"])
      const other = logOf(page(5, row(6)))
      assert.deepEqual((yield* reading(makeEventFeed(other.log), { after: 5 })).seen, ["6"])
    }))

  it.effect("goes on behind a row that it cannot read", () =>
    Effect.gen(function*() {
      const { asked, log } = logOf(page(0, row(1), { first: 2, last: 4, body: "other" }, row(5)))
      const { seen } = yield* reading(makeEventFeed(log))
      yield* tick(100)
      assert.deepEqual(seen, ["1", "!5"])
      assert.deepEqual(asked[1], { after: 5, limit: 8 })
    }))

  it.effect("looks again soon after something was new, then ever more rarely", () =>
    Effect.gen(function*() {
      const { asked, log } = logOf(page(0, row(1)))
      yield* reading(makeEventFeed(log), { pollMs: 500 })
      const times: Array<number> = []
      for (let at = 0; at <= 1_300; at += 50) {
        while (times.length < asked.length) times.push(at)
        yield* tick(50)
      }
      assert.deepEqual(times, [0, 0, 100, 300, 700, 1_200])
    }))

  it.effect("does not look into the log while a turn runs here", () =>
    Effect.gen(function*() {
      const { asked, log } = logOf(page(0, row(1)))
      const feed = makeEventFeed(log)
      const { say, stop } = yield* turnOf(feed)
      const { seen } = yield* reading(feed)
      const before = asked.length
      yield* tick(5_000)
      assert.strictEqual(asked.length, before)
      say(2)
      yield* tick()
      assert.deepEqual([seen, asked.length], [["1", "2"], before])
      stop()
    }))

  it.effect("fails after 20 failures in a row, and says how to go on", () =>
    Effect.gen(function*() {
      const away = (count: number) => Array.from({ length: count }, () => "away" as const)
      const enough = yield* reading(
        makeEventFeed(logOf(...away(20), page(0, row(1)), ...away(20), page(0, row(2))).log)
      )
      yield* tick(60_000)
      assert.deepEqual(enough.seen, ["1", "2"])
      const { asked, log } = logOf(...away(30))
      const { fiber } = yield* reading(makeEventFeed(log))
      yield* tick(60_000)
      const error = yield* Effect.flip(Fiber.join(fiber))
      assert.deepInclude(error, {
        problem: "store",
        message: "the events of session s cannot be read: away. Try again with the id of the last event as after"
      })
      assert.lengthOf(asked, 21)
    }))

  it.effect("gets what happens here although the log is away, and reads that something may be missing", () =>
    Effect.gen(function*() {
      const { log } = logOf("away", "away")
      const feed = makeEventFeed(log)
      const { say } = yield* turnOf(feed)
      const { seen } = yield* reading(feed)
      say(4, 5)
      yield* tick(1_000)
      assert.deepEqual(seen, ["!4", "5"])
    }))
})
