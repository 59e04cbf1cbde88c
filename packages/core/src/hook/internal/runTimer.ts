/**
 * The timer of a run. It is set for the hook that is being awaited, and set again only if it fires too early.
 *
 * Most hooks answer soon, and then it does not matter when they began. So while the timer is going to fire soon, the
 * clock is not read for each hook: the timer reads it when it fires. A timeout of a second or more is therefore up to a
 * 32nd longer, and never shorter.
 */
import type * as Fiber from "effect/Fiber"
import { after, isTestClock, timeOf } from "../../data/internal/timer.ts"

/** How much longer a timeout may be, as a part of it. */
const slackPart = 32
const leastInexactMs = 1_000

/** A class, because its fields are the state of the timer. */
export class RunTimer {
  private readonly fiber: Fiber.Fiber<unknown, unknown>
  private readonly time: () => number
  private readonly expire: () => void
  /** The time when the hook times out, and the time when the platform timer fires. */
  private due = Infinity
  private firesAt = Infinity
  /** The timeout of a hook whose beginning is not known. It began when the platform timer was running already. */
  private unread: number | undefined = undefined
  /** How long the platform timer runs. */
  private runsMs = Infinity
  private cancelTimer: (() => void) | undefined = undefined

  constructor(fiber: Fiber.Fiber<unknown, unknown>, expire: () => void) {
    this.fiber = fiber
    this.time = timeOf(fiber)
    this.expire = expire
  }

  /** Calls `expire` after `ms` milliseconds. It replaces an earlier deadline. */
  set(ms: number): void {
    if (this.runsMs <= ms / slackPart) {
      this.due = Infinity
      this.unread = ms
      return
    }
    const now = this.time()
    this.due = now + ms
    this.unread = undefined
    const isInexact = ms >= leastInexactMs && !isTestClock(this.fiber)
    const firesAt = isInexact ? now + ms / slackPart : this.due
    if (firesAt < this.firesAt) this.fireAt(firesAt, now, isInexact)
  }

  /** Removes the deadline. The platform timer keeps running, because another hook may need it. */
  clear(): void {
    this.due = Infinity
    this.unread = undefined
  }

  cancel(): void {
    this.cancelTimer?.()
  }

  private fireAt(firesAt: number, now: number, isSoon: boolean): void {
    this.cancelTimer?.()
    this.firesAt = firesAt
    const ms = Math.max(0, firesAt - now)
    this.runsMs = isSoon ? ms : Infinity
    this.cancelTimer = after(this.fiber, ms, () => this.fire())
  }

  private fire(): void {
    this.firesAt = Infinity
    this.runsMs = Infinity
    this.cancelTimer = undefined
    const now = this.time()
    if (this.unread !== undefined) {
      this.due = now + this.unread
      this.unread = undefined
    }
    if (this.due === Infinity) return
    // A platform timer may fire half a millisecond early.
    if (this.due > now + 0.5) return this.fireAt(this.due, now, false)
    this.due = Infinity
    this.expire()
  }
}
