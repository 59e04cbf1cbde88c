/** What `belay host` says while it runs and when it ends, with a host that notes what is asked of it. */
import { HostError } from "@belay/server/HostError"
import { assert, it as effect } from "@effect/vitest"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { fileURLToPath } from "node:url"
import { describe } from "vitest"
import { platformLayer, run } from "../../../src/internal/program/main.ts"
import { takeSignal } from "../../../src/internal/serve/signals.ts"
import { answers, calls, running } from "./support/noting.config.ts"

const config = fileURLToPath(new URL("./support/noting.config.ts", import.meta.url))

const activity = (more: object = {}) => ({ running: [], due: 0, isDraining: false, counters: {}, ...more })

/** Waits in real time, because the command loads modules. */
const until = (holds: () => boolean) =>
  Effect.promise(async () => {
    while (!holds()) await new Promise((resolve) => void setTimeout(resolve, 5))
  })

/** Starts the command. What it writes is in `out` and `err`. */
const start = (given: { readonly [method: string]: unknown }, ...args: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    for (const name of Object.keys(answers)) delete answers[name]
    calls.length = 0
    Object.assign(answers, { start: running, activity: activity(), ...given })
    const [out, err]: [Array<string>, Array<string>] = [[], []]
    const terminal: Console.Console = {
      ...console,
      log: (line: string) => void out.push(line),
      error: (line: string) => void err.push(line)
    }
    const screen = { columns: 100, colors: false, interactive: false, path: "" }
    const fiber = yield* Effect.forkChild(
      run(["host", config, ...args], screen).pipe(
        Effect.provide(platformLayer),
        Effect.provideService(Console.Console, terminal)
      )
    )
    const ended = () => fiber.pollUnsafe() !== undefined
    yield* until(() => ended() || [...out, ...err].some((line) => /started/.test(line)))
    return { out, err, fiber, ended }
  })

/** Asks it to end. Returns its exit code. */
const end = ({ ended, fiber }: Effect.Success<ReturnType<typeof start>>) =>
  Effect.gen(function*() {
    assert.isTrue(takeSignal())
    yield* until(ended)
    return yield* Fiber.join(fiber)
  })

describe("belay host", () => {
  effect.effect("says what is running, only when it has changed, and hands over", () =>
    Effect.gen(function*() {
      let now = activity()
      const made = yield* start({ activity: () => now })
      const { err, out } = made
      yield* until(() => err.length === 2)
      const next = (more: object) => {
        now = activity(more)
        return TestClock.adjust("5 seconds")
      }
      yield* TestClock.adjust("4999 millis")
      assert.deepEqual(calls, ["start ", "activity "])
      yield* TestClock.adjust("1 millis")
      yield* next({ running: ["a"], due: 1, oldest: 5_000 })
      yield* next({ running: ["a", "b"], due: 3, oldest: 5_000 })
      yield* next({ running: ["a", "b"], due: 9_999 })
      yield* next({ running: [], due: 10_000 })
      assert.lengthOf(calls, 7)
      now = activity({ running: ["a"] })
      assert.strictEqual(yield* end(made), 0)
      assert.deepEqual(err, [
        "belay: started",
        "belay: 0 turns run here, 0 sessions are due",
        "belay: 1 turn runs here, 1 session is due",
        "belay: 2 turns run here, 3 sessions are due, the first since 1970-01-01T00:00:05Z",
        "belay: 2 turns run here, 9999 sessions are due",
        "belay: 0 turns run here, 10,000 or more sessions are due",
        "belay: stopping: 1 turn has 20 s to reach a point where another process can continue",
        "belay: stopped: everything is handed over"
      ])
      assert.deepEqual(out, [])
      assert.strictEqual(calls.at(-1), "drain {\"withinMs\":20000}")
    }))

  effect.effect("says once that the store cannot be read, and that it can again", () =>
    Effect.gen(function*() {
      const away = new HostError({ problem: "store", message: "away\u001b" })
      let now: unknown = away
      const made = yield* start({ activity: () => now }, "--every", "1", "--drain", "0", "--json")
      const { err, out } = made
      yield* until(() => out.length === 2)
      yield* TestClock.adjust("1 second")
      now = activity()
      yield* TestClock.adjust("1 second")
      now = away
      assert.strictEqual(yield* end(made), 0)
      assert.deepEqual(err, [])
      assert.deepEqual(out.map((line) => JSON.parse(line) as unknown), [
        { type: "started" },
        { type: "error", message: "the store cannot be read: away\u001b" },
        { type: "activity", ...activity() },
        { type: "draining", running: 0, withinMs: 0 },
        { type: "stopped", inTime: true }
      ])
      assert.notInclude(out.join(""), "\u001b")
    }))

  effect.effect("ends with 1 if turns do not stop in time", () =>
    Effect.gen(function*() {
      const never = { drain: () => Effect.never }
      const made = yield* start({ start: never }, "--drain", "2")
      assert.isTrue(takeSignal())
      yield* until(() => made.err.some((line) => line.startsWith("belay: stopping")))
      yield* TestClock.adjust("6999 millis")
      assert.isFalse(made.ended())
      yield* TestClock.adjust("1 millis")
      yield* until(made.ended)
      assert.strictEqual(yield* Fiber.join(made.fiber), 1)
      assert.deepEqual(made.err.slice(-2), [
        "belay: stopping: 0 turns have 2 s to reach a point where another process can continue",
        "belay: stopped, although some turns still run: another process continues them"
      ])
    }))

  effect.effect("says where its health is, and that a port is taken", () =>
    Effect.gen(function*() {
      const made = yield* start({}, "--health", "0")
      const [, port = ""] = /^belay: health and metrics at http:\/\/127\.0\.0\.1:(\d+)$/.exec(made.err[0]!) ?? []
      const ask = () => Effect.promise(() => fetch(`http://127.0.0.1:${port}/healthz`).then(({ status }) => status))
      assert.strictEqual(yield* ask(), 200)
      assert.strictEqual(yield* end(made), 0)
      const server = createServer().listen(0, "127.0.0.1")
      yield* until(() => server.listening)
      const { port: taken } = server.address() as AddressInfo
      const second = yield* start({}, "--health", String(taken))
      yield* until(second.ended)
      assert.strictEqual(yield* Fiber.join(second.fiber), 1)
      assert.match(second.err.join("|"), new RegExp(`^belay: cannot listen on 127\\.0\\.0\\.1:${taken}: [^|]+$`))
      assert.deepEqual(calls, [])
      server.close()
    }))

  effect.effect("refuses numbers that are too small", () =>
    Effect.gen(function*() {
      const times = "belay: --drain is 0 or more seconds, --every at least 1"
      for (
        const [flag, value, line] of [
          ["--drain", "-1", times],
          ["--every", "0", times],
          ["--end-blocked-after", "0", "belay: --end-blocked-after is at least 1 second"]
        ] as const
      ) {
        const made = yield* start({}, flag, value)
        yield* until(made.ended)
        assert.deepEqual([yield* Fiber.join(made.fiber), made.err], [2, [line]])
      }
      const made = yield* start({}, "--end-blocked-after", "1", "--every", "1", "--drain", "0")
      assert.strictEqual(yield* end(made), 0)
    }))
})
