/** When schedules tick, when a host looks at them again, and which ticks are skipped. */
import * as Inbox from "@belay/core/Inbox"
import { assert, it as effect } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as TestClock from "effect/testing/TestClock"
import { describe, it } from "vitest"
import {
  keepTicking,
  readSchedules,
  type Schedule,
  tick,
  type Ticking
} from "../../../../src/host/internal/care/schedules.ts"
import type { Site } from "../../../../src/host/internal/site/site.ts"

const report = { name: "report", session: "s", message: "write it", every: 10_000 } as const
const noon = Date.UTC(2026, 2, 28, 12)

const site = (inbox: Inbox.Inbox, time: () => number, woken: Array<unknown> = []) =>
  ({
    inbox,
    engine: { wake: (...args: ReadonlyArray<unknown>) => Effect.sync(() => void woken.push(args)) },
    time: Effect.sync(time),
    running: new Map(),
    listeners: new Map()
  }) as unknown as Site

const quiet = Logger.layer([])

describe("a tick", () => {
  it("comes after a time, and never at it", () => {
    const [every] = readSchedules([report])
    assert.deepEqual([0, 1, 9_999, 10_000, 10_001].map((time) => every!.after(time)), [
      10_000,
      10_000,
      10_000,
      20_000,
      20_000
    ])
    const { every: _, ...rest } = report
    const [cron] = readSchedules([{ ...rest, cron: "*/2 * * * * *" }])
    assert.deepEqual([noon, noon + 1, noon + 1_999, noon + 2_000].map((time) => cron!.after(time) - noon), [
      2_000,
      2_000,
      2_000,
      4_000
    ])
    const [minute] = readSchedules([{ ...rest, cron: "0 9 * * *" }])
    assert.strictEqual(minute!.after(noon), Date.UTC(2026, 2, 29, 9))
  })

  it("comes once for each time that clocks leave out, and loses no time that they show", () => {
    const { every: _, ...rest } = report
    const day = (cron: string, timeZone: string, start: string): ReadonlyArray<string> => {
      const [{ after }] = readSchedules([{ ...rest, cron, timeZone }]) as [Ticking]
      const found: Array<string> = []
      const end = Date.parse(start) + 86_400_000
      for (let time = after(Date.parse(start)); time < end; time = after(time)) {
        found.push(new Date(time).toISOString().slice(11, 16))
      }
      return found
    }
    // 02:00 is left out, and so is 02:30.
    assert.deepEqual(day("0,30 2 * * *", "Europe/Berlin", "2026-03-28T12:00Z"), ["01:00", "01:30"])
    // 02:25 is left out, but not 02:36.
    assert.deepEqual(day("25,36 2 * * *", "Australia/Lord_Howe", "2026-10-03T12:00Z"), ["15:36", "15:55"])
    // 01:40 is there twice.
    assert.deepEqual(day("40 1,2 * * *", "Australia/Lord_Howe", "2026-04-04T12:00Z"), ["14:40", "16:10"])
    assert.deepEqual(day("40 * * * *", "Australia/Lord_Howe", "2026-04-04T12:00Z").slice(1, 5), [
      "13:40",
      "14:40",
      "15:10",
      "16:10"
    ])
  })

  it("is a message of its session with its time in its key, and for its tenant", async () => {
    const [inbox, woken]: [Inbox.Inbox, Array<unknown>] = [Inbox.inMemory(), []]
    const all = readSchedules([report, { ...report, name: "other", tenant: "ada", message: { message: "m" } }])
    await Effect.runPromise(tick(site(inbox, () => noon, woken), all))
    const open = await Effect.runPromise(inbox.open("s"))
    assert.deepEqual(open.map(({ at, body, key, kind, tenant }) => ({ at, body, key, kind, tenant })), [
      {
        at: noon + 10_000,
        body: { message: "write it" },
        key: "schedule report 2026-03-28T12:00:10.000Z",
        kind: "message",
        tenant: undefined
      },
      {
        at: noon + 10_000,
        body: { message: "m" },
        key: "schedule other 2026-03-28T12:00:10.000Z",
        kind: "message",
        tenant: "ada"
      }
    ])
    assert.deepEqual(woken, [["s", noon + 10_000], ["s", noon + 10_000]])
  })

  it("is looked at when the first one comes, in half a minute at the latest, and soon after the store failed", async () => {
    const next = (inbox: Inbox.Inbox, ...schedules: ReadonlyArray<Schedule>) =>
      Effect.runPromise(Effect.provide(tick(site(inbox, () => noon), readSchedules(schedules)), quiet))
    assert.strictEqual(await next(Inbox.inMemory(), report), 10_000)
    assert.strictEqual(await next(Inbox.inMemory(), { ...report, every: "1 hour" }, { ...report, name: "b" }), 10_000)
    assert.strictEqual(await next(Inbox.inMemory(), { ...report, every: "1 hour" }), 30_000)
    const broken: Inbox.Inbox = { ...Inbox.inMemory(), get: () => Effect.fail("away") }
    assert.strictEqual(await next(broken, report), 1_000)
  })

  effect.effect("is added again and again, also if a tick is due at once", () =>
    Effect.gen(function*() {
      const inbox = Inbox.inMemory()
      let now = noon
      yield* Effect.forkChild(keepTicking(site(inbox, () => now), readSchedules([report]), 0))
      assert.lengthOf(yield* inbox.open("s"), 0)
      yield* TestClock.adjust("1 millis")
      assert.lengthOf(yield* inbox.open("s"), 1)
      now = noon + 10_000
      yield* TestClock.adjust("9999 millis")
      assert.lengthOf(yield* inbox.open("s"), 1)
      yield* TestClock.adjust("1 millis")
      assert.lengthOf(yield* inbox.open("s"), 2)
    }))

  it("that was missed is skipped if it waits for longer than five seconds, and no other message is", async () => {
    const inbox = Inbox.inMemory()
    const run = <A>(act: Effect.Effect<A, unknown>) => Effect.runPromise(act)
    const add = (key: string, at: number) => run(inbox.add({ sessionId: "s", key, kind: "message", body: null, at }))
    await add("schedule report a", noon - 5_001)
    await add("schedule report b", noon - 5_000)
    await add("schedule reports c", noon - 9_000)
    await add("report", noon - 9_000)
    await add("schedule report begun", noon - 9_000)
    await run(inbox.begin("s", "schedule report begun"))
    const ticking = readSchedules([{ ...report, missed: "skip" }])
    await run(tick(site(inbox, () => noon), ticking))
    const keys = (await run(inbox.open("s"))).map(({ key }) => key)
    assert.sameMembers(keys as Array<string>, [
      "schedule report b",
      "schedule reports c",
      "report",
      "schedule report begun",
      "schedule report 2026-03-28T12:00:10.000Z"
    ])
    assert.deepInclude(await run(inbox.get("s", "schedule report a")), {
      status: "done",
      outcome: { status: "cancelled" }
    })
  })
})

describe("the ticks of a cron", () => {
  const { every: _, ...rest } = report
  /** The ticks between two times. */
  const ticks = (cron: string, timeZone: string, from: string, to: string): ReadonlyArray<string> => {
    const [ticking] = readSchedules([{ ...rest, cron, timeZone }])
    const found: Array<string> = []
    let at = ticking!.after(Date.parse(from))
    while (at <= Date.parse(to)) {
      found.push(new Date(at).toISOString().slice(11, 16))
      at = ticking!.after(at)
    }
    return found
  }

  it.each<readonly [string, ReadonlyArray<string>]>([
    ["0 * * * *", ["00:00", "01:00", "02:00", "03:00"]],
    ["*/30 * * * *", ["00:00", "00:30", "01:00", "01:30", "02:00", "02:30", "03:00"]],
    ["*/30 2 * * *", ["00:00", "00:30", "01:00", "01:30"]],
    ["0 0 * * * *", ["00:00", "01:00", "02:00", "03:00"]],
    ["30 2 * * *", ["00:30"]],
    ["* 30 2 * * *", Array.from({ length: 60 }, () => "00:30")],
    ["0,30 2-3 * * *", ["00:00", "00:30", "02:00", "02:30"]],
    ["0 3 * * *", ["02:00"]]
  ])("in the hour that comes twice: %s", (cron, expected) => {
    assert.deepEqual(ticks(cron, "Europe/Berlin", "2026-10-24T23:59:59Z", "2026-10-25T03:00:00Z"), expected)
  })

  it.each<readonly [string, ReadonlyArray<string>]>([
    ["0 * * * *", ["00:00", "01:00", "02:00", "03:00"]],
    ["30 2 * * *", ["01:30"]],
    ["0 2 * * *", ["01:00"]],
    ["15 1-3 * * *", ["00:15", "01:15"]]
  ])("where an hour is left out: %s", (cron, expected) => {
    assert.deepEqual(ticks(cron, "Europe/Berlin", "2026-03-28T23:59:59Z", "2026-03-29T03:00:00Z"), expected)
  })

  it("every ten minutes in a zone whose clocks go back by half an hour", () => {
    const found = ticks("*/10 * * * *", "Australia/Lord_Howe", "2026-04-04T13:59:59Z", "2026-04-04T16:00:00Z")
    assert.lengthOf(found, 13)
  })
})

describe("the schedules of a host", () => {
  const { every: _, ...rest } = report
  const read = (...all: ReadonlyArray<object>) => () => readSchedules(all as ReadonlyArray<Schedule>)

  it("may be as short as a second, with names of a hundred characters, and several of a name in several sessions", () => {
    for (
      const all of [
        [{ ...report, every: 1_000 }],
        [{ ...report, name: "n".repeat(100) }],
        [report, { ...report, session: "t" }],
        [report, { ...report, name: "other" }],
        [{ ...rest, cron: "0 9 * * 1-5", timeZone: "Europe/Berlin", missed: "once" }]
      ]
    ) assert.lengthOf(read(...all)(), all.length)
  })

  it.each<readonly [object, string]>([
    [{ ...report, every: 999 }, "every: expected one second or more"],
    [{ ...report, name: "n".repeat(101) }, "name: expected a name of 1 to 100 characters"],
    [rest, "every: expected a time such as \"1 hour\", or `cron`"],
    [{ ...report, cron: "* * * * *" }, "cron: expected either `every` or `cron`"],
    [{ ...report, timeZone: "UTC" }, "timeZone: expected `cron` beside it"],
    [{ ...report, missed: "twice" }, "missed: expected one of once, skip"],
    [{ ...report, every: Infinity }, "every: "],
    [{ ...rest, cron: "x" }, "cron: expected five or six fields such as 0 9 * * 1-5, and a known time zone"],
    [{ ...report, message: {} }, "message: the message: "]
  ])("are refused: %j is wrong in %s", (schedule, wrong) => {
    assert.throws(read(report, { ...schedule, session: "t" }), `host.schedules[1].${wrong}`)
  })
})
