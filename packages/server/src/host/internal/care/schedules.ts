/** Sends messages again and again. Each tick is one entry of the inbox, whose key is the tick, so it is added once. */
import { defined } from "@belay/core/Fields"
import { checkKinds, checkOptions, invalidOption, oneOf, type OptionKinds } from "@belay/core/OptionCheck"
import type { TurnInput } from "@belay/core/Turn"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { adding } from "../site/addEntry.ts"
import { isSessionId, readMessage } from "../site/readInput.ts"
import { report, type Site } from "../site/site.ts"
import { cronTicks } from "./cronTicks.ts"

/** A message that is sent again and again. It has either `every` or `cron`. @category models @since 0.1.0 */
export interface Schedule {
  /** Identifies the schedule in its session. */
  readonly name: string
  /** The id of the session that gets the messages. */
  readonly session: string
  readonly message: string | TurnInput
  /** At least one second. The ticks are the multiples of it since 1970, so all processes have the same. */
  readonly every?: Duration.Input
  /**
   * Five fields, or six that begin with seconds: `0 9 * * 1-5` is nine o'clock on weekdays. When clocks are put back,
   * minutes or hours that begin with `*` come in the repeated hour too, and all others once. When clocks are put
   * forward, a tick of the hour that is left out comes in the hour after it.
   */
  readonly cron?: string
  /** The time zone of `cron`, such as `Europe/Berlin`. Default UTC. */
  readonly timeZone?: string
  /** What happens to a tick at whose time no process ran: it runs `once`, the default, or it is skipped. */
  readonly missed?: "once" | "skip"
  /** Who the messages count for. */
  readonly tenant?: string
}

/** A schedule that was read. */
export interface Ticking {
  readonly schedule: Schedule
  /** Returns the first tick after a time. Both are milliseconds since the epoch. */
  readonly after: (time: number) => number
}

const kinds: OptionKinds<Schedule> = {
  name: "text",
  session: "text",
  message: "any",
  every: "duration",
  cron: "text",
  timeZone: "text",
  missed: "text",
  tenant: "text"
}

/** The longest pause before the ticks are looked at again, because a clock may have jumped, in milliseconds. */
const lookMs = 30_000

/** How long to wait after the store has failed, in milliseconds. */
const retryMs = 1_000

/** The longest time between two ticks, in milliseconds: there is no date after it. */
const maxEveryMs = 8.64e15

/** Reads the schedules of a host. Throws a `ConfigError` for wrong ones. */
export const readSchedules = (all: ReadonlyArray<Schedule>): ReadonlyArray<Ticking> => {
  const names = new Set<string>()
  return all.map((schedule, index) => {
    const key = `host.schedules[${index}]`
    Result.getOrThrow(checkKinds(key, schedule, kinds, ["name", "session", "message"]))
    const { cron, every, missed, name, session, timeZone } = schedule
    Result.getOrThrow(checkOptions(
      key,
      oneOf("missed", missed, ["once", "skip"]),
      ["every", every ?? cron ?? null, (given: unknown) => given !== null, "a time such as \"1 hour\", or `cron`"],
      ["cron", cron, () => every === undefined, "either `every` or `cron`"],
      ["every", every, (given) => Duration.toMillis(given) >= 1_000, "one second or more"],
      ["timeZone", timeZone, () => cron !== undefined, "`cron` beside it"],
      ["name", name, () => name.length > 0 && name.length <= 100, "a name of 1 to 100 characters"],
      ["session", session, isSessionId, "a session id: letters, digits, \"_\", \"-\" or \".\""],
      ["every", every, (given) => Duration.toMillis(given) <= maxEveryMs, "a time that ends"],
      ["name", name, () => !names.has(`${session} ${name}`), "another name: this session has such a schedule"]
    ))
    const read = Effect.runSync(Effect.result(readMessage(session, schedule.message, undefined)))
    if (Result.isFailure(read)) Result.getOrThrow(invalidOption(`${key}.message`, read.failure.message))
    names.add(`${session} ${name}`)
    if (every !== undefined) {
      const ms = Duration.toMillis(every)
      return { schedule, after: (time) => (Math.floor(time / ms) + 1) * ms }
    }
    const after = cronTicks(cron!, timeZone ?? "UTC")
    if (after === undefined) {
      return Result.getOrThrow(
        invalidOption(`${key}.cron`, "expected five or six fields such as 0 9 * * 1-5, and a known time zone")
      )
    }
    return { schedule, after }
  })
}

const keyOf = ({ name }: Schedule, tick: number): string => `schedule ${name} ${new Date(tick).toISOString()}`

/** Adds the next tick of every schedule. Returns when to look again, in milliseconds from now. */
export const tick = (site: Site, all: ReadonlyArray<Ticking>): Effect.Effect<number> => {
  const round = Effect.gen(function*() {
    const time = yield* site.time
    const next = yield* Effect.forEach(all, (ticking) => addNext(site, ticking, time))
    return Math.min(lookMs, ...next.map((at) => at - time))
  })
  return Effect.catch(
    round,
    (error) => Effect.as(Effect.logWarning("a schedule of the host cannot be stored", error), retryMs)
  )
}

/** Adds the next ticks again and again, first after some milliseconds. */
export const keepTicking = (site: Site, all: ReadonlyArray<Ticking>, pauseMs: number): Effect.Effect<never> =>
  Effect.flatMap(
    Effect.andThen(Effect.sleep(Math.max(1, pauseMs)), tick(site, all)),
    (next) => keepTicking(site, all, next)
  )

/** Adds the next tick, if no process has done it, and returns its time. */
const addNext = Effect.fnUntraced(function*(site: Site, { after, schedule }: Ticking, time: number) {
  const { message, missed, session: sessionId, tenant } = schedule
  const at = after(time)
  const key = keyOf(schedule, at)
  if ((yield* site.inbox.get(sessionId, key)) !== undefined) return at
  // Who was there at the last tick has added this one.
  if (missed === "skip") yield* skipMissed(site, schedule, time)
  const body = yield* readMessage(sessionId, message, at)
  yield* adding(site)({ sessionId, key, kind: "message", body, at, ...defined({ tenant }) })
  return at
})

/** A tick that has just come may still be about to begin. */
const graceMs = 5_000

const skipMissed = Effect.fnUntraced(function*(site: Site, schedule: Schedule, time: number) {
  for (const entry of yield* site.inbox.open(schedule.session)) {
    const isTick = entry.key.startsWith(`schedule ${schedule.name} `)
    if (isTick && entry.status === "waiting" && entry.at < time - graceMs) {
      yield* report(site, entry, { status: "cancelled" })
    }
  }
})
