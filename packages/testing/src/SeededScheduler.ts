/**
 * A scheduler for tests of concurrent programs. It resumes waiting fibers in an order that a seed chooses: many seeds
 * try many interleavings, and the same seed repeats one.
 *
 * @since 0.1.0
 */
import { checked } from "@belay/core/ArgumentCheck"
import type { Scheduler } from "effect/Scheduler"
import { random } from "./SeededRandom.ts"

/**
 * Makes a scheduler. Provide it with `Effect.provideService(program, Scheduler.Scheduler, SeededScheduler.make(seed))`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = checked("SeededScheduler.make", ["seed"], (seed: number): Scheduler => {
  const { below } = random(seed)
  const tasks: Array<() => void> = []
  let isScheduled = false
  const run = () => {
    isScheduled = false
    while (tasks.length > 0) tasks.splice(below(tasks.length), 1)[0]!()
  }
  const dispatcher = {
    scheduleTask: (task: () => void) => {
      tasks.push(task)
      if (!isScheduled) queueMicrotask(run)
      isScheduled = true
    },
    flush: run
  }
  return { executionMode: "async", shouldYield: () => false, makeDispatcher: () => dispatcher }
})
