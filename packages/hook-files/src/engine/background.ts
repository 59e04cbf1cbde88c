/** What goes on by itself while a session does, and a little longer. */
import type { HookContext } from "@belay/core/HookContext"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type { Left } from "../process/Command.ts"

export interface Jobs {
  /** Starts something that nobody waits for; it is told whether its session still goes on. */
  readonly start: (
    work: (goesOn: () => boolean) => Effect.Effect<void>,
    ctx: HookContext
  ) => Effect.Effect<Fiber.Fiber<void>>
  /** Starts something that tells of what happens now: it is waited for a second at most. */
  readonly aside: (work: Effect.Effect<unknown>, ctx: HookContext) => Effect.Effect<void>
  /** Takes over what a command left in the background. */
  readonly keep: (left: Left, ctx: HookContext) => void
  /** The session is over. What still runs has its time, which nobody waits for, and is then ended. */
  readonly end: (sessionId: string) => Effect.Effect<void>
  /** Waits for what is left of sessions that are over. */
  readonly drained: Effect.Effect<void>
}

export const make = (drainMs: number): Jobs => {
  const running = new Map<string, Set<Fiber.Fiber<void>>>()
  const draining = new Set<Fiber.Fiber<unknown>>()
  const start: Jobs["start"] = (work, { root: { sessionId } }) =>
    Effect.suspend(() => {
      const fibers = running.get(sessionId) ?? new Set()
      running.set(sessionId, fibers)
      return Effect.map(Effect.forkDetach(work(() => running.get(sessionId) === fibers)), (fiber) => {
        fibers.add(fiber)
        fiber.addObserver(() => {
          fibers.delete(fiber)
          if (fibers.size === 0 && running.get(sessionId) === fibers) running.delete(sessionId)
        })
        return fiber
      })
    })
  return {
    start,
    aside: (work, ctx) =>
      Effect.flatMap(
        start(() => Effect.asVoid(work), ctx),
        (fiber) => Effect.asVoid(Effect.raceFirst(Fiber.await(fiber), Effect.sleep("1 second")))
      ),
    keep: (left, ctx) => void Effect.runSync(start(() => whole(left), ctx)),
    end: (sessionId) =>
      Effect.suspend(() => {
        const fibers = [...running.get(sessionId) ?? []]
        running.delete(sessionId)
        if (fibers.length === 0) return Effect.void
        const stop = Fiber.interruptAll(fibers)
        if (drainMs === 0) return Effect.asVoid(stop)
        const last = Effect.andThen(Effect.raceFirst(Fiber.awaitAll(fibers), Effect.sleep(drainMs)), stop)
        return Effect.map(Effect.forkDetach(last), (fiber) => {
          draining.add(fiber)
          fiber.addObserver(() => void draining.delete(fiber))
        })
      }),
    drained: Effect.suspend(() => Effect.asVoid(Fiber.awaitAll([...draining])))
  }
}

/** Waits for what was left; an interruption ends it. */
const whole = ({ end, ended }: Left): Effect.Effect<void> =>
  Effect.onInterrupt(Effect.promise(() => ended), () => {
    end()
    return Effect.promise(() => ended)
  })
