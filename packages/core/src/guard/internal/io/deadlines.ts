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
  /** The time limit of the turn, and while the turn waits for people, how much of it is left. */
  private limit: Deadline | undefined = undefined
  private left = 0
  /** How many questions are open to somebody in this process. */
  private questions = 0
  private waitsSince = 0
  private waitedBefore = 0

  /** Starts the timer, on the clock of the fiber. */
  start(fiber: Fiber.Fiber<unknown, unknown>): void {
    this.fiber = fiber
    this.time = timeOf(fiber)
    this.setTimer()
  }

  /** Calls `expire` after `ms` milliseconds. The returned function cancels that. */
  add(ms: number, expire: () => void): () => void {
    const deadline = this.insert(ms, expire)
    return () => void this.deadlines.delete(deadline)
  }

  /** Calls `expire` after `ms` milliseconds in which the turn does not wait for people. */
  addLimit(ms: number, expire: () => void): void {
    this.left = ms
    this.limit = this.questions === 0 ? this.insert(ms, expire) : new Deadline(Infinity, expire)
  }

  /** Somebody in this process is asked. */
  beginQuestion(): void {
    if (++this.questions > 1) return
    this.waitsSince = now()
    if (this.limit === undefined) return
    this.deadlines.delete(this.limit)
    this.left = Math.max(0, this.limit.at - this.time())
  }

  /** The question was answered, or the turn has ended. */
  endQuestion(): void {
    if (--this.questions > 0) return
    this.waitedBefore += now() - this.waitsSince
    if (this.limit !== undefined) this.addLimit(this.left, this.limit.expire)
  }

  /** How many milliseconds the turn has waited for answers in this process. */
  get waitedMs(): number {
    return this.waitedBefore + (this.questions === 0 ? 0 : now() - this.waitsSince)
  }

  private insert(ms: number, expire: () => void): Deadline {
    const deadline = new Deadline(this.time() + ms, expire)
    this.deadlines.add(deadline)
    this.expectAt(deadline.at)
    return deadline
  }

  stop(): void {
    this.limit = undefined
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
