/** Remembers which snapshots an agent has resumed, so that none is resumed twice. */
import type * as Exit from "effect/Exit"
import type { AgentError } from "../../../data/AgentError.ts"
import { digest } from "../../../data/Json.ts"
import type { RunState } from "../../../data/RunState.ts"
import type { RunResult } from "../../../guard/RunResult.ts"

/** How many snapshots an agent remembers. Beyond that, the oldest are forgotten. */
const max = 10_000

/** The snapshots that are being resumed, by any agent of the process: a program may make an agent for each request. */
const running = new Set<string>()

/** Identifies where in its turn a snapshot was taken, whatever its history is. */
const keyOf = ({ calls, counts, phase, sessionId, stepNumber, turnNumber }: RunState): string => {
  const { elapsedMs: _elapsed, ...progress } = counts
  return `${sessionId}/${turnNumber}/${digest([stepNumber, phase, progress, calls])}`
}

/** The snapshots that one agent has resumed. */
export class ResumedSnapshots {
  private readonly keys = new Set<string>()

  /** Claims a snapshot. Returns false if this agent has resumed it, or if another agent is resuming it now. */
  claim(state: RunState): boolean {
    const key = keyOf(state)
    if (this.keys.has(key) || running.has(key)) return false
    const [oldest] = this.keys
    if (this.keys.size >= max && oldest !== undefined) this.keys.delete(oldest)
    this.keys.add(key)
    running.add(key)
    return true
  }

  /**
   * Ends a resumption. It may be repeated if it did nothing: it failed before it began, or the turn waits at the same
   * place.
   */
  release(state: RunState, exit: Exit.Exit<RunResult, AgentError>, didNothing: boolean): void {
    const key = keyOf(state)
    running.delete(key)
    const isSame = exit._tag === "Success" && "snapshot" in exit.value && keyOf(exit.value.snapshot) === key
    if (didNothing || isSame) this.keys.delete(key)
  }
}
