/** Runs sessions in this process, and hands them over when it ends. */
import * as Awaitable from "@belay/core/Awaitable"
import { checkOptions } from "@belay/core/OptionCheck"
import type { ParkOptions } from "@belay/core/Session"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import type { Advance } from "../Engine.ts"
import { HostError } from "../HostError.ts"
import { keepRetaining, type Retaining } from "./care/retention.ts"
import { keepTicking, tick, type Ticking } from "./care/schedules.ts"
import { call, type RunningTurn, type Site } from "./site/site.ts"

/** A host that runs sessions. @category models @since 0.1.0 */
export interface Running extends AsyncDisposable {
  /**
   * Begins nothing new, stops running turns where another process can continue them, and succeeds when this process
   * runs nothing any more. What takes longer than `withinMs` milliseconds is interrupted: a tool that was running has
   * an unknown outcome. Default 10,000. Throws a `ConfigError` for another value than a number that is not negative.
   */
  readonly drain: (options?: ParkOptions) => Awaitable.Awaitable<void>
}

const started = new WeakSet<Site>()

/** How often to look for turns that began while the host was draining, in milliseconds. */
const drainMs = 20

/** Starts the engine. */
export const startHost = (
  site: Site,
  advance: Advance,
  schedules: ReadonlyArray<Ticking>,
  retention: Retaining
): Effect.Effect<Running, HostError> =>
  Effect.suspend(() => {
    if (started.has(site)) {
      const message = "the host runs sessions already: call start once, and drain before you start it again"
      return Effect.fail(new HostError({ problem: "started", message }))
    }
    started.add(site)
    return Effect.gen(function*() {
      const scope = yield* Scope.make()
      // Before anything runs, because a tick that was missed may have to be skipped.
      const pauseMs = schedules.length === 0 ? 0 : yield* tick(site, schedules)
      yield* Effect.onError(Scope.provide(site.engine.start(advance), scope), () => Scope.close(scope, Exit.void))
      if (schedules.length > 0) yield* Effect.forkIn(keepTicking(site, schedules, pauseMs), scope)
      if (retention.length > 0) yield* Effect.forkIn(keepRetaining(site, retention), scope)
      let drained: Promise<void> | undefined
      const drain = ({ withinMs = 10_000 }: ParkOptions = {}) => {
        const expected = ["withinMs", withinMs, (ms: unknown) => typeof ms === "number" && ms >= 0] as const
        Result.getOrThrow(checkOptions("drain", [...expected, "milliseconds, 0 or more"]))
        return Awaitable.make(Effect.promise(() => drained ??= Effect.runPromise(drainSite(site, scope, withinMs))))
      }
      return { drain, [Symbol.asyncDispose]: async () => drain() }
    }).pipe(
      Effect.onError(() => Effect.sync(() => void started.delete(site))),
      Effect.mapError((cause) =>
        new HostError({
          problem: "store",
          message: `the engine ${site.engine.name} could not start: ${String(Object(cause).message ?? cause)}`,
          cause
        })
      )
    )
  })

const drainSite = (site: Site, scope: Scope.Closeable, withinMs: number): Effect.Effect<void> =>
  Effect.gen(function*() {
    site.isDraining = true
    const parker = yield* Effect.forkChild(parkAll(site, withinMs))
    yield* Effect.ensuring(Scope.close(scope, Exit.void), Fiber.interrupt(parker))
    site.isDraining = false
    started.delete(site)
  })

/** Parks all turns, also those that were about to begin. */
const parkAll = ({ running }: Site, withinMs: number): Effect.Effect<never> => {
  const parking = new Set<RunningTurn>()
  const round = Effect.gen(function*() {
    for (const turn of [...running.values()].filter((turn) => !parking.has(turn))) {
      parking.add(turn)
      const parked = Effect.ignore(call(() => turn.session.park({ withinMs })))
      yield* Effect.forkDetach(Effect.ensuring(parked, Effect.sync(() => parking.delete(turn))))
    }
  })
  return Effect.forever(Effect.andThen(round, Effect.sleep(drainMs)))
}
