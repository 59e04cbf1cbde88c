/**
 * How far a turn has got. Attempts count only since it has last got further, so that a long turn can survive any
 * number.
 */
import type { Entry } from "@belay/core/Inbox"
import { childOf, type RunState } from "@belay/core/RunState"

/**
 * A place in a turn. Places are compared number by number: the model calls, the tools of this step that are done, and
 * then each call that is not done: 0, or 1 and the place of its sub-agent. So the next step is further than any place
 * in this one, whatever number of tools and sub-agents this one has.
 */
type Progress = ReadonlyArray<number>

/** What is known about the attempts of an entry. */
export interface SeenProgress {
  readonly progress: Progress
  /** The number of attempts when this progress was first seen. */
  readonly attempts: number
  /** Whether it is not stored yet. */
  readonly isNew: boolean
}

/** Compares the stored turn with what the last attempts have seen. */
export const seenProgress = (entry: Entry, state: RunState | undefined): SeenProgress => {
  const seen = storedIn(entry)
  const hasBegun = state !== undefined && state.input.key === entry.key
  // A turn whose model has not answered yet counts like a turn that has not begun.
  const progress = hasBegun && state.counts.llmCalls > 0 ? progressOf(state) : []
  return isFurther(progress, seen.progress)
    ? { progress, attempts: entry.attempts, isNew: true }
    : { ...seen, isNew: false }
}

const progressOf = ({ calls, counts }: RunState): Progress => {
  const open = calls.filter(({ status }) => status !== "done")
  const places = open.flatMap((call) => {
    const child = childOf(call)
    return child === undefined ? [0] : [1, ...progressOf(child)]
  })
  return [counts.llmCalls, calls.length - open.length, ...places]
}

const isFurther = (one: Progress, other: Progress): boolean => {
  const index = one.findIndex((count, index) => count !== other[index])
  return index >= 0 && one[index]! > (other[index] ?? -1)
}

const storedIn = ({ attempts: max, outcome, status }: Entry): Omit<SeenProgress, "isNew"> => {
  const { attempts, progress } = Object(outcome) as { readonly [field: string]: unknown }
  const isStored = status === "begun" && isProgress(progress) && isCount(attempts) && attempts <= max
  return isStored ? { progress, attempts } : { progress: [], attempts: 0 }
}

const isProgress = (value: unknown): value is Progress => Array.isArray(value) && value.every(isCount)

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0
