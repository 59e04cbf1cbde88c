/**
 * The result of a turn that did not fail.
 *
 * @since 0.1.0
 */
import type { Cost } from "../data/Cost.ts"
import type { Message } from "../data/Message.ts"
import type { PendingAsk, RunState } from "../data/RunState.ts"
import type { FinishReason } from "../data/Turn.ts"
import type { Usage } from "../data/Usage.ts"
import type { HookRecord } from "../hook/HookRecord.ts"

/**
 * The fields of every result. A result is plain data: it can be copied, stored as JSON and sent to another thread. It
 * does not change when the conversation continues.
 *
 * @category models
 * @since 0.1.0
 */
export interface RunCommon {
  readonly sessionId: string
  readonly turnNumber: number
  /** The answer, the reason of an Abort, or the partial answer if a limit was reached. */
  readonly text: string
  /** The tokens of the whole turn: of sub-agents, hooks, retries and fallbacks too. */
  readonly usage: Usage
  /** What the turn cost, in US dollars. */
  readonly cost: Cost
  readonly steps: number
  readonly toolCalls: number
  /** How often a hook failed and the chain continued without it, also in sub-agents. `limits.failOpens` limits it. */
  readonly failOpens: number
  /** The conversation up to the end of this turn. It is always valid for a provider. */
  readonly messages: ReadonlyArray<Message>
  /** The decision records. Empty unless the agent has `records: true`. */
  readonly records: ReadonlyArray<HookRecord>
}

/** The agent answered. @category models @since 0.1.0 */
export interface Completed extends RunCommon {
  readonly status: "completed"
  readonly finishReason: FinishReason
  /** The decoded answer. Present if the agent has an `output`. */
  readonly object?: unknown
}

/**
 * The run waits for somebody's decision. To continue it, pass `snapshot` and the decisions to `resume`, in this process
 * or another one.
 *
 * @category models
 * @since 0.1.0
 */
export interface Suspended extends RunCommon {
  readonly status: "suspended"
  readonly pending: ReadonlyArray<PendingAsk>
  /** The state of the run, as plain JSON. */
  readonly snapshot: RunState
}

/**
 * The run reached a limit. `resume(snapshot)` continues it, and the limits of the agent start again from zero.
 *
 * @category models
 * @since 0.1.0
 */
export interface Limited extends RunCommon {
  readonly status: "limited"
  readonly limit: "steps" | "toolCalls" | "attempts" | "followUps" | "failOpens" | "wallClockMs" | (string & {})
  readonly used: number
  readonly max: number
  /** The state of the run, as plain JSON. */
  readonly snapshot: RunState
}

/**
 * The session was parked: the turn stopped at a commit point. `resume` continues it, in this process or another one.
 *
 * @category models
 * @since 0.1.0
 */
export interface Parked extends RunCommon {
  readonly status: "parked"
  /** The open questions. The turn can go on before they are decided. */
  readonly pending: ReadonlyArray<PendingAsk>
  /** The state of the run, as plain JSON. */
  readonly snapshot: RunState
}

/** A hook ended the turn. @category models @since 0.1.0 */
export interface Aborted extends RunCommon {
  readonly status: "aborted"
  readonly reason: string
  readonly by: string
}

/** The result of a turn. `status` says how it ended. @category models @since 0.1.0 */
export type RunResult = Completed | Suspended | Limited | Parked | Aborted

/** The result of a turn of an agent with an `output`. @category models @since 0.1.0 */
export type ObjectResult<Object> = (Completed & { readonly object: Object }) | Suspended | Limited | Parked | Aborted
