/** What a runner does with the wake-ups of its sessions. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Semaphore from "effect/Semaphore"
import type { Advance } from "../../Engine.ts"
import { logRetry, retryDelay } from "../retryDelay.ts"

/** A runner, as its sessions see it. */
export interface Runner {
  readonly advance: Advance
  /** How many sessions may be advanced at the same time. */
  readonly permits: Semaphore.Semaphore
  /** How many wake-ups of each session wait for an answer here. */
  readonly open: Map<string, number>
  /** Whether it ends. It starts no call of `advance` any more, and those that run may return. */
  isClosing: boolean
}

/**
 * Returns what answers the wake-ups of one session: each succeeds when a call of `advance` has succeeded that began
 * after the wake-up. Wake-ups that come while the session is advanced share the next call.
 */
export const answerOf = (runner: Runner, sessionId: string): Effect.Effect<void> => {
  const lock = Semaphore.makeUnsafe(1)
  let next: Fiber.Fiber<void> | undefined
  const work = lock.withPermit(Effect.suspend(() => {
    next = undefined
    return keepTrying(runner, sessionId)
  }))
  return Effect.uninterruptibleMask((restore) =>
    Effect.gen(function*() {
      const shared = next ??= yield* Effect.forkDetach(Effect.interruptible(work))
      count(runner, sessionId, 1)
      // All wake-ups of a session are interrupted together: the runner ends, or it has lost the session.
      yield* Effect.onInterrupt(restore(Fiber.join(shared)), () => {
        if (next === shared) next = undefined
        return Fiber.interrupt(shared)
      })
    }).pipe(Effect.ensuring(Effect.sync(() => count(runner, sessionId, -1))))
  )
}

const count = ({ open }: Runner, sessionId: string, more: number): void => {
  const now = (open.get(sessionId) ?? 0) + more
  if (now === 0) open.delete(sessionId)
  else open.set(sessionId, now)
}

const keepTrying = (runner: Runner, sessionId: string): Effect.Effect<void> =>
  Effect.gen(function*() {
    for (let failures = 1;; failures++) {
      const exit = yield* runner.permits.withPermit(once(runner, sessionId))
      if (Exit.isSuccess(exit)) return
      yield* logRetry(sessionId, exit.cause)
      yield* Effect.sleep(yield* retryDelay(failures))
    }
  })

/**
 * Calls `advance`. If the runner ends meanwhile, the call may return; if it has lost the session, it is interrupted.
 */
const once = (runner: Runner, sessionId: string): Effect.Effect<Exit.Exit<void, unknown>> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function*() {
      // Somebody else gets the wake-up.
      if (runner.isClosing) return yield* restore(Effect.never)
      const call = yield* Effect.forkDetach(Effect.interruptible(runner.advance(sessionId)))
      return yield* Effect.onInterrupt(
        restore(Fiber.await(call)),
        () => runner.isClosing ? Fiber.await(call) : Fiber.interrupt(call)
      )
    })
  )
