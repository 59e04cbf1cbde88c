/** Messages that are sent again and again: once a tick, whatever happens to processes and clocks. */
import * as Inbox from "@belay/core/Inbox"
import * as SqliteStore from "@belay/providers/SqliteStore"
import * as Host from "@belay/server/Host"
import { assert, it as effect } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { describe, it } from "vitest"
import { keepTicking, readSchedules, type Schedule } from "../../../src/host/internal/care/schedules.ts"
import type { Site } from "../../../src/host/internal/site/site.ts"
import { hosted, newFile } from "../support/hosted.ts"

const hour = 3_600_000
const start = Date.UTC(2026, 2, 28, 11, 30)

/** A process of a host with these schedules. */
const ticking = (inbox: Inbox.Inbox, schedules: ReadonlyArray<Schedule>, behindMs = 0) => {
  const engine = { name: "none", wake: () => Effect.void, start: () => Effect.void }
  const time = Effect.map(Clock.currentTimeMillis, (now) => now - behindMs)
  // The part of a host that schedules use.
  const site = { inbox, engine, time, running: new Map(), listeners: new Map() } as unknown as Site
  return keepTicking(site, readSchedules(schedules), 1)
}

const ticksOf = (inbox: Inbox.Inbox, sessionId: string) =>
  Effect.map(inbox.open(sessionId), (entries) => entries.map(({ at }) => new Date(at).toISOString().slice(0, 16)))

/** Ends what is due, as an engine does. */
const work = Effect.fnUntraced(function*(inbox: Inbox.Inbox, sessionId: string) {
  const time = yield* Clock.currentTimeMillis
  for (const { at, key } of yield* inbox.open(sessionId)) {
    if (at <= time) yield* inbox.report(sessionId, key, "done", null)
  }
})

const report = { name: "report", session: "s", message: "write the report" }

describe("a schedule", () => {
  effect.effect(
    "adds each tick once, whatever number of processes and however wrong their clocks",
    () =>
      Effect.gen(function*() {
        yield* TestClock.setTime(start)
        const inbox = Inbox.inMemory()
        const schedules: ReadonlyArray<Schedule> = [{ ...report, every: "1 hour" }]
        for (const behind of [0, 1_500, -900]) yield* Effect.forkChild(ticking(inbox, schedules, behind))
        for (let minutes = 0; minutes < 24 * 60; minutes += 5) {
          yield* TestClock.adjust("5 minutes")
          yield* work(inbox, "s")
        }
        const all = yield* Effect.forEach(
          Array.from({ length: 26 }, (_, n) => `schedule report ${new Date(start + (n - 0.5) * hour).toISOString()}`),
          (key) => inbox.get("s", key)
        )
        assert.deepEqual(all.map((entry) => entry?.status ?? "none"), [
          "none",
          ...Array.from({ length: 24 }, () => "done"),
          "waiting"
        ])
      })
  )

  effect.effect("keeps the hour of its time zone when the clocks change", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(start)
      const inbox = Inbox.inMemory()
      const cron = { ...report, cron: "30 9 * * *", timeZone: "Europe/Berlin" }
      yield* Effect.forkChild(ticking(inbox, [cron]))
      yield* TestClock.adjust("48 hours")
      assert.deepEqual(yield* ticksOf(inbox, "s"), ["2026-03-29T07:30", "2026-03-30T07:30", "2026-03-31T07:30"])
      const winter = Inbox.inMemory()
      yield* TestClock.setTime(Date.UTC(2026, 1, 1))
      yield* Effect.forkChild(ticking(winter, [cron]))
      yield* TestClock.adjust("1 minute")
      assert.deepEqual(yield* ticksOf(winter, "s"), ["2026-02-01T08:30"])
    }))

  for (const [missed, expected] of [["once", "done"], ["skip", "cancelled"]] as const) {
    effect.effect(
      `that was missed while no process ran is ${expected === "done" ? "run once" : "skipped"}`,
      () =>
        Effect.gen(function*() {
          yield* TestClock.setTime(start)
          const inbox = Inbox.inMemory()
          const schedules: ReadonlyArray<Schedule> = [{ ...report, every: "1 hour", missed }]
          const first = yield* Effect.forkChild(ticking(inbox, schedules))
          yield* TestClock.adjust("10 minutes")
          yield* Fiber.interrupt(first)
          yield* TestClock.adjust("10 hours")
          yield* Effect.forkChild(ticking(inbox, schedules))
          yield* TestClock.adjust("1 minute")
          yield* work(inbox, "s")
          const old = yield* inbox.get("s", `schedule report ${new Date(start + hour / 2).toISOString()}`)
          assert.strictEqual(old?.status, "done")
          assert.deepEqual(old?.outcome, missed === "skip" ? { status: "cancelled" } : null)
          assert.deepEqual(yield* ticksOf(inbox, "s"), ["2026-03-28T22:00"])
        })
    )
  }

  effect.effect("is not skipped when another process was there and the session is busy", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(start)
      const inbox = Inbox.inMemory()
      const schedules: ReadonlyArray<Schedule> = [{ ...report, every: "1 hour", missed: "skip" }]
      yield* Effect.forkChild(ticking(inbox, schedules))
      yield* TestClock.adjust("70 minutes")
      yield* Effect.forkChild(ticking(inbox, schedules))
      yield* TestClock.adjust("1 minute")
      assert.deepEqual(yield* ticksOf(inbox, "s"), ["2026-03-28T12:00", "2026-03-28T13:00"])
    }))

  it("runs in a host, in its session, for its tenant", async () => {
    const { close, host, store } = hosted(newFile(), {}, {
      schedules: [{ ...report, every: "1 second", tenant: "ada" }]
    })
    const running = await host.start()
    const [{ key, tenant }] = (await Effect.runPromise(store.inbox.open("s"))) as [Inbox.Entry]
    assert.strictEqual(tenant, "ada")
    assert.deepInclude(await host.result("s", key), { status: "completed", text: "re: write the report" })
    await running.drain()
    await close()
  })

  it("is refused with the name of what is wrong", () => {
    const store = SqliteStore.make({ path: ":memory:" })
    const make = (...schedules: ReadonlyArray<object>) => () =>
      hosted(newFile(), {}, { schedules: schedules as unknown as ReadonlyArray<Schedule> })
    for (
      const [schedule, wrong] of [
        [{}, /host\.schedules\[0\]\.name/],
        [report, /host\.schedules\[0\]\.every: expected a time/],
        [{ ...report, every: "10 millis" }, /host\.schedules\[0\]\.every: expected one second or more/],
        [{ ...report, every: "1 hour", cron: "* * * * *" }, /host\.schedules\[0\]\.cron: expected either/],
        [{ ...report, cron: "61 * * * *" }, /host\.schedules\[0\]\.cron: expected five or six fields/],
        [{ ...report, cron: "* * * * *", timeZone: "Moon/Base" }, /host\.schedules\[0\]\.cron: .*time zone/],
        [{ ...report, every: "1 hour", timeZone: "UTC" }, /host\.schedules\[0\]\.timeZone/],
        [{ ...report, cron: "0 0 30 2 *" }, /host\.schedules\[0\]\.cron/],
        [{ ...report, every: "Infinity" as never }, /host\.schedules\[0\]\.every/],
        [{ ...report, every: 1e300 }, /host\.schedules\[0\]\.every/],
        [{ ...report, name: "", every: "1 hour" }, /host\.schedules\[0\]\.name/],
        [{ ...report, session: "s'", every: "1 hour" }, /host\.schedules\[0\]\.session/],
        [{ ...report, message: 5, every: "1 hour" }, /host\.schedules\[0\]\.message: the message/],
        [{ ...report, every: "1 hour", missed: "never" }, /host\.schedules\[0\]\.missed/],
        [{ ...report, evry: "1 hour" }, /did you mean "every"/]
      ] as const
    ) assert.throws(make(schedule), wrong)
    assert.throws(
      make({ ...report, every: "1 hour" }, { ...report, every: "2 hours" }),
      /schedules\[1\]\.name: .*another/
    )
    assert.throws(() => Host.make({ agent: {} as never, store, schedules: {} as never }), /host\.schedules/)
    store.close()
  })
})
