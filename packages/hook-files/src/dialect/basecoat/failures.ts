/** Counts failures by what failed and why, so that the same failure does not repeat its advice soon. */
import type { HookContext } from "@belay/core/HookContext"
import type { StateKey } from "@belay/core/HookState"
import { normalizeError } from "@belay/hooks/ErrorKnowledge"
import type { Tally } from "./state.ts"

export interface Failure {
  readonly signature: string
  /** How often it happened, from 1. */
  readonly recurrence: number
  /** It happened a short time ago. */
  readonly duplicate: boolean
}

export const signatureOf = (where: string, message: string): string => `${where}: ${normalizeError(message)}`

/** Counts a failure. `quietMs` is the time in which it is a duplicate. */
export const count = (
  tallies: StateKey<typeof Tally.Type>,
  signature: string,
  { now, quietMs }: { readonly now: number; readonly quietMs: number },
  ctx: HookContext
): Failure => {
  const before = ctx.root.state.get(tallies).errors.find((error) => error.signature === signature)
  const recurrence = (before?.count ?? 0) + 1
  const duplicate = before !== undefined && now - before.at < quietMs
  ctx.root.state.update(tallies, (tally) => {
    const others = tally.errors.filter((error) => error.signature !== signature)
    const error = { signature, count: recurrence, at: duplicate ? before.at : now }
    return { ...tally, errors: [...others, error].slice(-100) }
  })
  return { signature, recurrence, duplicate }
}
