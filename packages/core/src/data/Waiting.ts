/**
 * What a session waits for, as plain data.
 *
 * @since 0.1.0
 */
import * as RunState from "./RunState.ts"

/**
 * What a session waits for. It is plain JSON.
 *
 * - `nothing`: there is no unfinished turn, or a turn is running in this process.
 * - `people`: people have to decide about the `pending` calls. Nothing else of the turn can run before.
 * - `process`: a turn can go on at once, and nobody runs it here. `parked` says that its process stopped it with
 *   `park`. `left` says that its process ended in the middle of it, or still runs it. `pending` has its open questions.
 * - `limit`: the turn reached a limit. `resume` continues it, and the limits start again from zero.
 *
 * @category models
 * @since 0.1.0
 */
export type Waiting =
  | { readonly type: "nothing" }
  | {
    readonly type: "people"
    readonly turnNumber: number
    readonly pending: ReadonlyArray<RunState.PendingAsk>
  }
  | {
    readonly type: "process"
    readonly turnNumber: number
    readonly why: "parked" | "left"
    readonly pending: ReadonlyArray<RunState.PendingAsk>
  }
  | {
    readonly type: "limit"
    readonly turnNumber: number
    readonly limit: string
    readonly used: number
    readonly max: number
    readonly pending: ReadonlyArray<RunState.PendingAsk>
  }

/** The parts of a state that say what it waits for. @category models @since 0.1.0 */
export type Waits = Pick<RunState.RunState, "phase" | "calls" | "turnNumber"> & {
  readonly stop?: RunState.Stop | undefined
}

/** A session without an unfinished turn. @category constants @since 0.1.0 */
export const nothing: Waiting = Object.freeze({ type: "nothing" })

/**
 * Returns what a state waits for.
 *
 * @example
 * ```ts
 * import type { SessionStore } from "@belay/core/SessionStore"
 * import * as Waiting from "@belay/core/Waiting"
 * import * as Effect from "effect/Effect"
 *
 * export const needsAProcess = Effect.fn(function*(store: SessionStore, id: string) {
 *   const state = yield* store.load(id)
 *   return state !== undefined && Waiting.waitingOf(state).type === "process"
 * })
 * ```
 * @category reading
 * @since 0.1.0
 */
export const waitingOf = (state: Waits): Waiting => {
  const { calls, phase, stop, turnNumber } = state
  if (phase === "ended") return nothing
  const pending = RunState.pending({ calls })
  if (stop?.type === "limit") {
    const { limit, max, used } = stop
    return { type: "limit", turnNumber, limit, used, max, pending }
  }
  if (pending.length > 0 && !canContinue({ calls, phase })) return { type: "people", turnNumber, pending }
  return { type: "process", turnNumber, why: stop?.type ?? "left", pending }
}

/** Whether anything of the turn can run without a decision of people, in this agent or in a sub-agent. */
const canContinue = ({ calls, phase }: Pick<RunState.RunState, "calls" | "phase">): boolean =>
  phase !== "tools" || calls.some((call) => {
    if (call.status === "done") return false
    if (call.status !== "asked") return true
    const child = RunState.childOf(call)
    return child !== undefined && canContinue(child)
  })
