/** The timer of a run. It is set for the hook that is being awaited, and set again only if it fires too early. */
import type * as Fiber from "effect/Fiber"
import { after, timeOf } from "../../data/internal/timer.ts"

/** A class, because its fields are the state of the timer. */
export class RunTimer {
  private readonly fiber: Fiber.Fiber<unknown, unknown>
  private readonly time: () => number
  private readonly expire: () => void
  /** The time when the hook times out, and the time when the platform timer fires. */
  private due = Infinity
  private firesAt = Infinity
  private cancelTimer: (() => void) | undefined = undefined

  constructor(fiber: Fiber.Fiber<unknown, unknown>, expire: () => void) {
    this.fiber = fiber
    this.time = timeOf(fiber)
    this.expire = expire
  }

  /** Calls `expire` after `ms` milliseconds. It replaces an earlier deadline. */
  set(ms: number): void {
    this.due = this.time() + ms
    if (this.due < this.firesAt) this.fireAt(this.due)
  }

  /** Removes the deadline. The platform timer keeps running, because another hook may need it. */
  clear(): void {
    this.due = Infinity
  }

  cancel(): void {
    this.cancelTimer?.()
  }

  private fireAt(due: number): void {
    this.cancelTimer?.()
    this.firesAt = due
    this.cancelTimer = after(this.fiber, Math.max(0, due - this.time()), () => this.fire())
  }

  private fire(): void {
    this.firesAt = Infinity
    this.cancelTimer = undefined
    if (this.due === Infinity) return
    // A platform timer may fire half a millisecond early.
    if (this.due > this.time() + 0.5) return this.fireAt(this.due)
    this.due = Infinity
    this.expire()
  }
}
