/** A scheduler that runs whatever is runnable in an order chosen by a seed: the same seed, the same interleaving. */
import type { Scheduler } from "effect/Scheduler"

/** Numbers in [0, 1) from a seed (mulberry32). */
export const random = (seed: number) => (): number => {
  seed = (seed + 0x6d2b79f5) | 0
  let t = Math.imul(seed ^ (seed >>> 15), seed | 1)
  t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
  return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
}

/** Makes a scheduler; fibers that yield are resumed in random order. */
export const make = (seed: number): Scheduler => {
  const next = random(seed)
  const tasks: Array<() => void> = []
  let scheduled = false
  const run = () => {
    scheduled = false
    while (tasks.length > 0) tasks.splice(Math.floor(next() * tasks.length), 1)[0]!()
  }
  const dispatcher = {
    scheduleTask: (task: () => void) => {
      tasks.push(task)
      if (!scheduled) queueMicrotask(run)
      scheduled = true
    },
    flush: run
  }
  return { executionMode: "async", shouldYield: () => false, makeDispatcher: () => dispatcher }
}
