/** Runs the background work of sessions, and ends it some time after its session. */
import type { HookContext } from "@belay/core/HookContext"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type { Left } from "../process/Command.ts"

export interface Background {
  /** Starts work and does not wait for it. `isOpen` returns whether the session is still open. */
  readonly start: (
    work: (isOpen: () => boolean) => Effect.Effect<void>,
    ctx: HookContext
  ) => Effect.Effect<Fiber.Fiber<void>>
  /** Starts work and waits for it for at most one second. After that the work continues in the background. */
  readonly aside: (work: Effect.Effect<unknown>, ctx: HookContext) => Effect.Effect<void>
  /** Tracks the processes that a command left in the background. They end with the other work of the session. */
  readonly keep: (left: Left, ctx: HookContext) => void
  /** Ends a session without waiting for its work. Work that still runs is interrupted after `drainMs`. */
  readonly end: (sessionId: string) => Effect.Effect<void>
  /** Waits until the work of all ended sessions has ended too. */
  readonly drained: Effect.Effect<void>
}

export const make = (drainMs: number): Background => {
  const running = new Map<string, Set<Fiber.Fiber<void>>>()
  const draining = new Set<Fiber.Fiber<unknown>>()
  const start: Background["start"] = (work, { root: { sessionId } }) =>
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
    keep: (left, ctx) => void Effect.runSync(start(() => untilEnded(left), ctx)),
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

/** Waits until the processes have ended. If it is interrupted, it ends them. */
const untilEnded = ({ end, ended }: Left): Effect.Effect<void> =>
  Effect.onInterrupt(Effect.promise(() => ended), () => {
    end()
    return Effect.promise(() => ended)
  })
