/**
 * How far a turn has got. Attempts count only since it has last got further, so that a long turn can survive any
 * number.
 */
import type { Entry } from "@belay/core/Inbox"
import { childOf, type RunState } from "@belay/core/RunState"

/** What is known about the attempts of an entry. */
export interface SeenProgress {
  readonly progress: number
  /** The number of attempts when this progress was first seen. */
  readonly attempts: number
  /** Whether it is not stored yet. */
  readonly isNew: boolean
}

/** Compares the stored turn with what the last attempts have seen. */
export const seenProgress = (entry: Entry, state: RunState | undefined): SeenProgress => {
  const seen = storedIn(entry)
  const progress = state !== undefined && state.input.key === entry.key ? progressOf(state) : 0
  return progress > seen.progress
    ? { progress, attempts: entry.attempts, isNew: true }
    : { ...seen, isNew: false }
}

/** The model calls that have answered and the tools that are done, with those of sub-agents. */
const progressOf = (state: RunState): number =>
  state.calls.reduce((sum, call) => {
    const child = childOf(call)
    return sum + Number(call.status === "done") + (child === undefined ? 0 : progressOf(child))
  }, state.counts.llmCalls)

const storedIn = ({ attempts: max, outcome, status }: Entry): Omit<SeenProgress, "isNew"> => {
  const { attempts, progress } = Object(outcome) as { readonly [field: string]: unknown }
  const isStored = status === "begun" && isCount(progress) && isCount(attempts) && attempts <= max
  return isStored ? { progress, attempts } : { progress: 0, attempts: 0 }
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0
