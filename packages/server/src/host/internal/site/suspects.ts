/**
 * Lets few turns run at the same time that may end their process. A message that has ended its process ends the turns
 * of others with it, which have done nothing wrong, and a process can also be killed from outside. So a turn that was
 * begun twice without progress is a suspect. Suspects run in small groups, in the order in which they came; before a
 * message would be given up, its turn runs without other suspects, so that none is blamed for another one.
 */

/** How many suspects of a process run at the same time. */
const groupSize = 4

/** How long a suspect counts that gets no further and does not end its process either, in milliseconds. */
const settledMs = 5_000

/** How long a suspect keeps its place that does not ask again, because another process has it now, in milliseconds. */
const forgottenMs = 10_000

/** A suspect that waits or runs. */
interface Suspect {
  readonly isLast: boolean
  /** When it began, or when it asked last. */
  at: number
}

/** A class, because it is a state. All times are in milliseconds. */
export class Suspects {
  private readonly running = new Map<string, Suspect>()
  /** Those that wait, in the order in which they came. */
  private readonly waiting = new Map<string, Suspect>()

  /**
   * Whether the turn of this session may begin. If not, it keeps its place and has to ask again. `isLast` says that the
   * message is given up if the process ends once more.
   */
  begins(sessionId: string, isLast: boolean, now: number): boolean {
    forget(this.running, now - settledMs)
    forget(this.waiting, now - forgottenMs)
    // A Map keeps the place of a key that is set again.
    this.waiting.set(sessionId, { isLast, at: now })
    if (!this.hasRoom(sessionId, isLast)) return false
    this.waiting.delete(sessionId)
    this.running.set(sessionId, { isLast, at: now })
    return true
  }

  /** The turn has got further or has ended. Returns the sessions that may ask again now. */
  settle(sessionId: string): ReadonlyArray<string> {
    return this.running.delete(sessionId) ? [...this.waiting.keys()].slice(0, groupSize) : []
  }

  private hasRoom(sessionId: string, isLast: boolean): boolean {
    if ([...this.running.values()].some((one) => one.isLast)) return false
    const ahead = [...this.waiting].slice(0, [...this.waiting.keys()].indexOf(sessionId))
    if (isLast) return this.running.size === 0 && ahead.length === 0
    return !ahead.some(([, one]) => one.isLast) && this.running.size + ahead.length < groupSize
  }
}

const forget = (suspects: Map<string, Suspect>, before: number): void => {
  for (const [id, { at }] of suspects) if (at < before) suspects.delete(id)
}
