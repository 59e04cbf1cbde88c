/** A scheduler that counts its steps, and does something at one of them. */
import type { Scheduler } from "effect/Scheduler"

export interface Stepper extends Scheduler {
  readonly steps: () => number
}

/** Every `ops` operations of a fiber are a step. With `pick`, waiting tasks run in the order it chooses. */
export const stepper = (ops: number, at: number, then: () => void, pick?: (waiting: number) => number): Stepper => {
  let steps = 0
  const waiting: Array<() => void> = []
  const run = () => {
    const task = waiting.splice(pick === undefined ? 0 : pick(waiting.length), 1)[0]
    if (++steps === at) then()
    task?.()
  }
  return {
    executionMode: "async",
    shouldYield: (fiber) => fiber.currentOpCount >= ops,
    makeDispatcher: () => ({
      scheduleTask: (task) => {
        waiting.push(task)
        queueMicrotask(run)
      },
      flush: () => {
        while (waiting.length > 0) run()
      }
    }),
    steps: () => steps
  }
}
