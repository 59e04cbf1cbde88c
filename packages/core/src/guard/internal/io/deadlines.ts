/**
 * All deadlines of a turn on one timer. Adding and removing a deadline are two operations on a set; the timer is set
 * again only when the earliest deadline changes.
 */
import type * as Fiber from "effect/Fiber"
import { after, timeOf } from "../../../data/internal/timer.ts"

/** A class, because V8 can keep object literals in its old space, and this one refers to the whole turn. */
class Deadline {
  readonly at: number
  readonly expire: () => void

  constructor(at: number, expire: () => void) {
    this.at = at
    this.expire = expire
  }
}

const now = (): number => performance.now()

/** A class, because its fields are the state of the timer. */
export class Deadlines {
  private fiber: Fiber.Fiber<unknown, unknown> | undefined = undefined
  private time: () => number = now
  private readonly deadlines = new Set<Deadline>()
  private timerDue = Infinity
  private cancelTimer: (() => void) | undefined = undefined

  /** Starts the timer, on the clock of the fiber. */
  start(fiber: Fiber.Fiber<unknown, unknown>): void {
    this.fiber = fiber
    this.time = timeOf(fiber)
    this.setTimer()
  }

  /** Calls `expire` after `ms` milliseconds. The returned function cancels that. */
  add(ms: number, expire: () => void): () => void {
    const deadline = new Deadline(this.time() + ms, expire)
    this.deadlines.add(deadline)
    this.expectAt(deadline.at)
    return () => void this.deadlines.delete(deadline)
  }

  stop(): void {
    this.deadlines.clear()
    this.cancelTimer?.()
    this.cancelTimer = undefined
    this.timerDue = Infinity
  }

  private setTimer(): void {
    let earliest = Infinity
    for (const { at } of this.deadlines) earliest = Math.min(earliest, at)
    this.expectAt(earliest)
  }

  /** Sets the timer, unless it fires before. */
  private expectAt(earliest: number): void {
    if (this.fiber === undefined || !(earliest < this.timerDue)) return
    this.cancelTimer?.()
    this.timerDue = earliest
    this.cancelTimer = after(this.fiber, Math.max(0, earliest - this.time()), () => this.expire())
  }

  private expire(): void {
    this.timerDue = Infinity
    this.cancelTimer = undefined
    const time = this.time()
    for (const deadline of [...this.deadlines]) {
      // A platform timer may fire half a millisecond early.
      if (deadline.at > time + 0.5) continue
      this.deadlines.delete(deadline)
      deadline.expire()
    }
    this.setTimer()
  }
}
