/** What a host counts, and how it is shown. */
import * as Effect from "effect/Effect"
import { assert, describe, it } from "vitest"
import { metricsOf, prometheus } from "../../../../src/host/internal/care/metrics.ts"
import { activityOf } from "../../../../src/host/internal/hostReads.ts"
import { countOutcome, newCounters } from "../../../../src/host/internal/site/counters.ts"

const turn = (inputTokens: number, outputTokens: number) =>
  ({ status: "completed", turnNumber: 1, text: "", usage: { inputTokens, outputTokens } }) as const

describe("the counters of a host", () => {
  it("count how turns have ended, and what they spent since they were resumed", () => {
    const counters = newCounters()
    countOutcome(counters, turn(10, 1))
    countOutcome(counters, turn(30, 7), { ...turn(10, 2), status: "suspended", pending: [] })
    countOutcome(counters, { status: "cancelled" })
    countOutcome(counters, turn(5, 5), { status: "cancelled" })
    // A store that was changed meanwhile takes nothing back.
    countOutcome(counters, turn(1, 1), turn(9, 9))
    assert.deepEqual(counters, {
      outcomes: { completed: 4, cancelled: 1 },
      takeovers: 0,
      retries: 0,
      dead: 0,
      inputTokens: 35,
      outputTokens: 11
    })
  })
})

describe("the activity of a host", () => {
  const now = 1_000_000
  const site = (more: object = {}) => {
    const asked: Array<unknown> = []
    const due = (options: unknown) => {
      asked.push(options)
      return Effect.succeed([{ sessionId: "a", at: now - 6_000 }, { sessionId: "b", at: now - 10 }])
    }
    const counts = Effect.succeed({
      waiting: { count: 2, oldest: now - 9_000 },
      begun: { count: 1, oldest: now - 1 },
      suspended: { count: 0 }
    })
    const counters = newCounters()
    const made = {
      counters,
      inbox: { due, care: { counts } },
      running: new Map([["x", {}]]),
      time: Effect.succeed(now),
      isDraining: false,
      release: undefined,
      ...more
    }
    return { asked, counters, made: made as never }
  }

  it("has what is due and how long ago it was sent, without looking into the future", async () => {
    const { asked, counters, made } = site()
    const activity = await Effect.runPromise(activityOf(made))
    assert.deepEqual(asked, [{ until: now, limit: 10_000 }])
    assert.deepEqual(activity, {
      at: now,
      running: ["x"],
      due: 2,
      isDraining: false,
      oldest: now - 1_000,
      messages: {
        waiting: { count: 2, oldest: now - 4_000 },
        begun: { count: 1, oldest: now },
        suspended: { count: 0 }
      },
      counters
    })
    counters.outcomes.completed = 7
    assert.deepEqual(activity.counters.outcomes, {})
  })

  it("is that of its release, and has no messages if the inbox cannot count them", async () => {
    const { asked, made } = site({
      release: "two",
      inbox: { due: (options: unknown) => Effect.sync(() => (asked.push(options), [])) }
    })
    const activity = await Effect.runPromise(activityOf(made))
    assert.deepEqual(asked, [{ until: now, limit: 10_000, release: "two" }])
    assert.strictEqual(activity.due, 0)
    assert.notProperty(activity, "oldest")
    assert.notProperty(activity, "messages")
  })
})

describe("metrics", () => {
  const counters = {
    outcomes: { completed: 3, dead: 1 },
    takeovers: 4,
    retries: 5,
    dead: 6,
    inputTokens: 7,
    outputTokens: 8
  }
  const activity = {
    at: 10_000,
    running: ["a", "b"],
    due: 9,
    oldest: 7_500,
    isDraining: false,
    messages: { waiting: { count: 10 }, begun: { count: 11 }, suspended: { count: 12, oldest: 8_000 } },
    counters
  }
  const valuesOf = (text: string) => text.split("\n").filter((line) => !line.startsWith("#"))

  it("are written as Prometheus reads them", () => {
    const text = prometheus(metricsOf(activity, { mean: 2e9, max: 3.5e9 }))
    assert.deepEqual(valuesOf(text), [
      "belay_turns_running 2",
      "belay_sessions_due 9",
      "belay_sessions_due_age_seconds 2.5",
      "belay_messages{status=\"waiting\"} 10",
      "belay_messages{status=\"begun\"} 11",
      "belay_messages{status=\"suspended\"} 12",
      "belay_questions_age_seconds 2",
      "belay_outcomes_total{status=\"completed\"} 3",
      "belay_outcomes_total{status=\"dead\"} 1",
      "belay_takeovers_total 4",
      "belay_retries_total 5",
      "belay_dead_total 6",
      "belay_tokens_total{direction=\"input\"} 7",
      "belay_tokens_total{direction=\"output\"} 8",
      "belay_event_loop_delay_seconds 2",
      "belay_event_loop_delay_max_seconds 3.5"
    ])
    for (const line of text.split("\n").filter((one) => one.startsWith("# TYPE"))) {
      assert.match(line, /_total counter$|^(?!.*_total).* gauge$/)
    }
    const { length } = valuesOf(prometheus(metricsOf({ ...activity, at: 0 }, { mean: 0, max: 0 }))).filter((one) =>
      one.endsWith(" 0")
    )
    assert.strictEqual(length, 4)
  })

  it("of nothing are zeros, also before the event loop was looked at, and where clocks differ", () => {
    const empty = { at: 10_000, running: [], due: 0, isDraining: false, counters: newCounters() }
    const values = valuesOf(prometheus(metricsOf(empty, { mean: NaN, max: -Infinity })))
    assert.isTrue(values.every((line) => line.endsWith(" 0")))
    assert.lengthOf(values, 11)
    const ahead = valuesOf(prometheus(metricsOf({ ...empty, oldest: 10_001 }, { mean: NaN, max: 0 })))
    assert.include(ahead, "belay_sessions_due_age_seconds 0")
  })

  it("have labels that any text fits into", () => {
    const values = [{ value: 1, labels: { a: "x\"y\\z\n", b: "2" } }, { value: 2 }]
    const text = prometheus([{ name: "n", help: "h", type: "gauge", values }])
    assert.strictEqual(text, "# HELP n h\n# TYPE n gauge\nn{a=\"x\\\"y\\\\z\\n\",b=\"2\"} 1\nn 2")
  })
})
