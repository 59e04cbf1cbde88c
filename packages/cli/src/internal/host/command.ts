/** `belay host`: runs sessions until the process is asked to end. */
import { messageOf } from "@belay/core/ErrorMessage"
import type { Activity, Host, Running } from "@belay/server/Host"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import { exitWith, toggle, usageError } from "../flags.ts"
import { count, plain, visible } from "../screen.ts"
import { endingProcess, firstSignal, graceMs } from "../serve/signals.ts"

export const hostCommand = Command.make("host", {
  config: Argument.String("config").pipe(
    Argument.withDescription("A module that exports a host, or { agent, store, engine }. Default: belay.config.ts"),
    Argument.optional
  ),
  drain: Flag.Int("drain").pipe(
    Flag.withDescription("Seconds that running turns have to stop after SIGTERM. Default 20"),
    Flag.withDefault(20)
  ),
  every: Flag.Int("every").pipe(
    Flag.withDescription("Seconds between two lines about what is running. Default 5"),
    Flag.withDefault(5)
  ),
  health: Flag.Int("health").pipe(
    Flag.withDescription("A port of 127.0.0.1 for /healthz, /readyz and /metrics; 0 takes a free one. Default: none"),
    Flag.optional
  ),
  endBlockedAfter: Flag.Int("end-blocked-after").pipe(
    Flag.withDescription(
      "Seconds after which this process ends if its event loop is blocked. Default: it only says so"
    ),
    Flag.optional
  ),
  json: toggle("json", "Write JSON lines to standard output")
}, ({ config, drain, endBlockedAfter, every, health, json }) =>
  endingProcess(Effect.scoped(Effect.gen(function*() {
    if (drain < 0 || every < 1) return yield* usageError("--drain is 0 or more seconds, --every at least 1")
    const limit = Option.getOrUndefined(endBlockedAfter)
    if (limit !== undefined && limit < 1) return yield* usageError("--end-blocked-after is at least 1 second")
    // Loaded here, so that other commands start faster.
    const { openHost } = yield* Effect.promise(() => import("./open.ts"))
    const host = yield* openHost(Option.getOrUndefined(config))
    yield* watch(host, limit)
    const say = sayer(json)
    if (Option.isSome(health)) {
      const { serveHealth } = yield* Effect.promise(() => import("./health.ts"))
      const port = yield* serveHealth(host, health.value, "127.0.0.1")
      yield* say({ type: "health", port }, `health and metrics at http://127.0.0.1:${port}`)
    }
    const running = yield* host.start()
    yield* say({ type: "started" }, "started")
    yield* Effect.raceFirst(report(host, say, every * 1_000), firstSignal)
    yield* stop(host, running, say, drain * 1_000)
  })))).pipe(
    Command.withDescription(
      "Runs the sessions of an agent. On SIGTERM it hands them over and ends; a second signal ends it at once"
    )
  )

/** Watches the event loop as long as the command runs. */
const watch = (host: Host, limit: number | undefined): Effect.Effect<void, never, Scope.Scope> =>
  Effect.gen(function*() {
    const Watchdog = yield* Effect.promise(() => import("@belay/server/Watchdog"))
    const watchdog = limit === undefined
      ? Watchdog.make({ host })
      : Watchdog.make({ host, limitMs: limit * 1_000, onBlocked: "end" })
    yield* Effect.addFinalizer(() => Effect.promise(() => watchdog.close()))
  })

type Say = (fact: object, line: string) => Effect.Effect<void>

const sayer = (json: boolean): Say => (fact, line) =>
  json ? Console.log(visible(JSON.stringify(fact))) : Console.error(`belay: ${plain(line)}`)

/** Says what is running, if it has changed. */
const report = (host: Host, say: Say, everyMs: number): Effect.Effect<never> => {
  let before = ""
  const round = Effect.gen(function*() {
    const activity = yield* host.activity()
    const line = lineOf(activity)
    if (line !== before) yield* say({ type: "activity", ...activity }, line)
    before = line
  })
  const failed = (error: unknown) => {
    const line = `the store cannot be read: ${messageOf(error)}`
    const isNew = line !== before
    before = line
    return isNew ? say({ type: "error", message: line }, line) : Effect.void
  }
  return Effect.forever(Effect.andThen(Effect.catch(round, failed), Effect.sleep(everyMs)))
}

const lineOf = ({ due, oldest, running }: Activity): string => {
  const waiting = due >= 10_000 ? "10,000 or more sessions are due" : `${count(due, "session is", "sessions are")} due`
  const since = oldest === undefined ? "" : `, the first since ${new Date(oldest).toISOString().slice(0, 19)}Z`
  return `${count(running.length, "turn runs", "turns run")} here, ${waiting}${due > running.length ? since : ""}`
}

const stop = (host: Host, running: Running, say: Say, withinMs: number) =>
  Effect.gen(function*() {
    const before = yield* Effect.catch(
      Effect.map(host.activity(), (activity) => activity.running.length),
      () => Effect.succeed(0)
    )
    yield* say(
      { type: "draining", running: before, withinMs },
      `stopping: ${count(before, "turn has", "turns have")} ` +
        `${withinMs / 1_000} s to reach a point where another process can continue`
    )
    const late = Effect.as(Effect.sleep(withinMs + graceMs), "late" as const)
    const drained = yield* Effect.raceFirst(Effect.as(running.drain({ withinMs }), "drained" as const), late)
    yield* drained === "late"
      ? say(
        { type: "stopped", inTime: false },
        "stopped, although some turns still run: another process continues them"
      )
      : say({ type: "stopped", inTime: true }, "stopped: everything is handed over")
    yield* exitWith(drained === "late" ? 1 : 0)
  })
