/**
 * Counts failures by their source and message, so that the advice about the same failure is not repeated within a short
 * time.
 */
import type { HookContext } from "@belay/core/HookContext"
import type { StateKey } from "@belay/core/HookState"
import { normalizeError } from "@belay/hooks/ErrorKnowledge"
import type { Tally } from "./state.ts"

export interface Failure {
  readonly signature: string
  /** How many times the failure has happened, including this time. */
  readonly recurrence: number
  /** Whether the same failure happened a short time ago. */
  readonly duplicate: boolean
}

export const signatureOf = (where: string, message: string): string => `${where}: ${normalizeError(message)}`

/** Counts a failure. It is a duplicate if it happened before within the last `quietMs` milliseconds. */
export const count = (
  tallies: StateKey<typeof Tally.Type>,
  signature: string,
  { now, quietMs }: { readonly now: number; readonly quietMs: number },
  ctx: HookContext
): Failure => {
  const before = ctx.state.get(tallies).errors.find((error) => error.signature === signature)
  if (before !== undefined && ctx.askedAgain) return { signature, recurrence: before.count, duplicate: true }
  const recurrence = (before?.count ?? 0) + 1
  const duplicate = before !== undefined && now - before.at < quietMs
  ctx.state.update(tallies, (tally) => {
    const others = tally.errors.filter((error) => error.signature !== signature)
    const error = { signature, count: recurrence, at: duplicate ? before.at : now }
    return { ...tally, errors: [...others, error].slice(-100) }
  })
  return { signature, recurrence, duplicate }
}
