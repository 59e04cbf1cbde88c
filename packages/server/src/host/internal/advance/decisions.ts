/** Which decisions of people are still to be applied. */
import type { AgentSession } from "@belay/core/createAgent"
import type { Entry } from "@belay/core/Inbox"
import { childOf, type RunState } from "@belay/core/RunState"
import type { Decisions } from "@belay/core/Session"
import * as Outcome from "../../Outcome.ts"
import { asksSame } from "./recognize.ts"

/** Whether the stored outcome has these questions. A process that was late may have stored those before them. */
export const hasAsked = ({ outcome }: Entry, pending: AgentSession["pending"]): boolean => {
  const stored = Outcome.fromJson(outcome)
  return stored?.status === "suspended" && asksSame(stored.pending, pending)
}

/**
 * Returns the decisions of an entry that are still to be applied. An earlier entry may have answered some of its
 * questions.
 */
export const stillAsked = (
  { body, outcome, status }: Entry,
  { pending }: AgentSession,
  state?: RunState
): Decisions | undefined => {
  // `decide` has checked them.
  const decisions = body as unknown as Decisions
  if (status !== "begun") return withoutAnswered(decisions, pending, state)
  const { asked } = Object(outcome) as { readonly asked?: ReadonlyArray<{ callId: string; fingerprint: string }> }
  const same = Object.entries(decisions).filter(([id]) =>
    pending.some(({ callId, fingerprint }) =>
      callId === id && asked?.some((one) => one.callId === id && one.fingerprint === fingerprint)
    )
  )
  return same.length === 0 ? undefined : Object.fromEntries(same)
}

/**
 * Leaves out calls of this turn that have no question any more. If that are all, they stay, so that the error names
 * them.
 */
const withoutAnswered = (
  decisions: Decisions,
  pending: AgentSession["pending"],
  state: RunState | undefined
): Decisions => {
  const isAsked = (id: string) => pending.some(({ callId }) => callId === id)
  const isAnswered = (id: string) => !isAsked(id) && isCallOf(state, id)
  const open = Object.entries(decisions).filter(([id]) => !isAnswered(id))
  return open.some(([id]) => isAsked(id)) ? Object.fromEntries(open) : decisions
}

/** Whether the step has a call with this id, or a sub-agent of it has, or had one before it ended. */
const isCallOf = (state: RunState | undefined, id: string): boolean =>
  state?.calls.some((one) => {
    if (one.call.id === id) return true
    if (!id.startsWith(`${one.call.id}/`)) return false
    return one.status === "done" || isCallOf(childOf(one), id.slice(one.call.id.length + 1))
  }) === true
