/**
 * The calls of this process that have a reservation now, by the turn of the lead agent in which they are made. A
 * reservation in the state of a conversation that is not listed here belongs to a process or a run that has ended.
 */
import type { HookContext } from "@belay/core/HookContext"

/** A call with a reservation. */
interface OpenCall {
  readonly sessionId: string
  /** The hook that makes the call. Absent for a call of the agent itself. */
  readonly caller: string | undefined
}

/** The open calls of one turn, by the id of the reservation. */
export type OpenCalls = Map<string, OpenCall>

const byTurn = new WeakMap<AbortSignal, OpenCalls>()

/** Returns the open calls of the lead agent's turn. All budgets of its tree of agents share them. */
export const openCallsOf = ({ root: { signal } }: HookContext): OpenCalls => {
  const known = byTurn.get(signal)
  if (known !== undefined) return known
  const made: OpenCalls = new Map()
  byTurn.set(signal, made)
  return made
}

/**
 * Returns the reservations for which a call may not wait. While an agent's model call is streamed, a hook can make a
 * call. The model call may not end before that one has ended, so the hook's call must not wait for it.
 */
export const dependentsOf = ({ caller, sessionId }: HookContext, open: OpenCalls): ReadonlySet<string> =>
  caller === undefined ? none : new Set(
    [...open].flatMap(([id, one]) => one.sessionId === sessionId && one.caller === undefined ? [id] : [])
  )

const none: ReadonlySet<string> = new Set()
