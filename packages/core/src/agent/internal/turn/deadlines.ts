/**
 * All deadlines of a turn on one timer: adding and removing one is two operations on a set, a timer is set only when
 * the earliest changes.
 */
import type * as Fiber from "effect/Fiber"
import { after, timeOf } from "../../../data/internal/timer.ts"

interface Deadline {
  readonly at: number
  readonly expire: () => void
}

/** A class because its fields are the state of the one timer. */
export class Watch {
  private fiber: Fiber.Fiber<unknown, unknown> | undefined = undefined
  private time: () => number = () => performance.now()
  private readonly deadlines = new Set<Deadline>()
  private armedFor = Infinity
  private cancel: (() => void) | undefined = undefined

  /** Begins to keep time, by the fiber's clock. */
  start(fiber: Fiber.Fiber<unknown, unknown>): void {
    this.fiber = fiber
    this.time = timeOf(fiber)
    this.arm()
  }

  /** Calls `expire` in `ms` milliseconds, unless the returned function is called before. */
  add(ms: number, expire: () => void): () => void {
    const deadline = { at: this.time() + ms, expire }
    this.deadlines.add(deadline)
    if (deadline.at < this.armedFor) this.arm()
    return () => void this.deadlines.delete(deadline)
  }

  stop(): void {
    this.deadlines.clear()
    this.cancel?.()
    this.cancel = undefined
    this.armedFor = Infinity
  }

  private arm(): void {
    if (this.fiber === undefined || this.deadlines.size === 0) return
    const earliest = Math.min(...[...this.deadlines].map(({ at }) => at))
    if (earliest >= this.armedFor) return
    this.cancel?.()
    this.armedFor = earliest
    this.cancel = after(this.fiber, Math.max(0, earliest - this.time()), () => this.expire())
  }

  private expire(): void {
    this.armedFor = Infinity
    this.cancel = undefined
    const time = this.time()
    for (const deadline of [...this.deadlines]) {
      if (deadline.at > time + 0.5) continue
      this.deadlines.delete(deadline)
      deadline.expire()
    }
    this.arm()
  }
}
