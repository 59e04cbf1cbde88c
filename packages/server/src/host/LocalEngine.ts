/**
 * An engine for one process. It keeps nothing itself: the inbox says which sessions are due.
 *
 * @since 0.1.0
 */
import * as Deadline from "@belay/core/Deadline"
import { defined } from "@belay/core/Fields"
import type { Inbox } from "@belay/core/Inbox"
import { checkKinds, checkOptions, type OptionKinds, whole } from "@belay/core/OptionCheck"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import type { Engine } from "./Engine.ts"
import { LocalRun } from "./internal/localRun.ts"
import { part } from "./internal/optionChecks.ts"
import { sharedTime } from "./internal/sharedTime.ts"

/** Options of `make`. @category models @since 0.1.0 */
export interface Options {
  readonly inbox: Inbox
  /** How many sessions are advanced at the same time. Default 64. */
  readonly concurrency?: number
  /** How often the inbox is asked for sessions that are due, in milliseconds. Default 500. */
  readonly pollMs?: number
  /** The release of the program. Sessions that are pinned to another one are left out. Default: all that are pinned. */
  readonly release?: string
}

const optionKinds: OptionKinds<Options> = { inbox: "object", concurrency: "number", pollMs: "number", release: "text" }

/**
 * Makes the engine. Sessions that are woken in this process are advanced at once; those that another process has
 * written to, and those that are due later, within `pollMs`. If many sessions wait, each tenant gets its turn. On one
 * SQLite file, one process at a time runs sessions with this engine: another one that starts waits until it has ended.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): Engine => {
  Result.getOrThrow(checkKinds("LocalEngine", options, optionKinds, ["inbox"]))
  const { concurrency = 64, inbox, pollMs = 500, release } = options
  Result.getOrThrow(checkOptions(
    "LocalEngine",
    part("inbox", inbox, ["due"], "an inbox: pass that of SqliteStore.make"),
    whole("concurrency", concurrency, 1),
    whole("pollMs", pollMs, 1)
  ))
  const clock = sharedTime(inbox)
  let run: LocalRun | undefined
  return {
    name: "local",
    wake: (sessionId, at) =>
      Effect.map(clock, (time) => {
        const delay = (at ?? 0) - time
        // What is due later is found in the inbox.
        if (delay <= 0) run?.wake(sessionId)
        else if (delay < pollMs) run?.wakeAfter(sessionId, delay)
      }),
    start: (advance) =>
      Effect.acquireRelease(
        Effect.gen(function*() {
          const context = yield* Effect.context<never>()
          const started = new LocalRun({ advance, concurrency, context, firstPauseMs: pollMs })
          const claim = yield* Scope.make()
          const tryClaim = Scope.provide(claimed(inbox), claim)
          const begin = Effect.suspend(() => {
            run = started
            return poll(started, inbox, clock, pollMs, release)
          })
          const isClaimed = yield* tryClaim
          if (isClaimed) run = started
          else yield* Effect.logWarning(isElsewhere)
          const waiting = Effect.repeat(Effect.delay(tryClaim, pollMs), { until: (isFree) => isFree })
          const poller = yield* Effect.forkDetach(isClaimed ? begin : Effect.andThen(waiting, begin))
          return Effect.gen(function*() {
            run = undefined
            yield* Fiber.interrupt(poller)
            yield* started.close
            yield* Scope.close(claim, Exit.void)
          })
        }),
        (close) => close
      ).pipe(Effect.asVoid)
  }
}

const isElsewhere =
  "another process runs the sessions of this store: this one waits until it has ended. For several processes at " +
  "a time, " +
  "use a PostgresStore with PgBossEngine or ClusterEngine"

/** Claims the sessions. Returns false if another process has them. */
const claimed = (inbox: Inbox): Effect.Effect<boolean, never, Scope.Scope> =>
  Effect.catchCause(
    inbox.claim ?? Effect.succeed(true),
    (cause) => Effect.as(Effect.logWarning("the sessions of the host cannot be claimed", cause), false)
  )

/** Adds due sessions, as long as there are not many that wait already. Says once what keeps it from reading them. */
const poll = (
  run: LocalRun,
  inbox: Inbox,
  clock: Effect.Effect<number>,
  pollMs: number,
  release: string | undefined
): Effect.Effect<never> => {
  const round = Effect.gen(function*() {
    const limit = run.limit
    if (limit === 0) return
    const until = yield* clock
    const page = yield* inbox.due({ until, limit, fair: true, ...defined({ release }) })
    run.addDue(page, page.length === limit, yield* Deadline.now)
  })
  let said = ""
  const look = Effect.matchCauseEffect(round, {
    onSuccess: () => Effect.sync(() => void (said = "")),
    onFailure: (cause) => {
      const isKnown = said === (said = String(Cause.squash(cause)))
      return isKnown ? Effect.void : Effect.logWarning("the inbox of the host cannot be read", cause)
    }
  })
  return Effect.forever(Effect.andThen(look, Effect.raceFirst(Effect.sleep(pollMs), run.room)))
}
