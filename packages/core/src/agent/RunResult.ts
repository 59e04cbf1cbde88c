/**
 * How a turn ended, when it did not end with an error.
 *
 * @since 0.1.0
 */
import type { Message } from "../data/Message.ts"
import type { PendingAsk, RunState } from "../data/RunState.ts"
import type { FinishReason } from "../data/Turn.ts"
import type { Usage } from "../data/Usage.ts"
import type { HookRecord } from "../hook/HookRecord.ts"

/** What every ending has. @category models @since 0.1.0 */
export interface RunCommon {
  readonly sessionId: string
  readonly turnNumber: number
  /** The answer; or the reason of an Abort, or the partial answer when a limit was reached. */
  readonly text: string
  readonly usage: Usage
  readonly steps: number
  readonly toolCalls: number
  /** The conversation, always valid for a provider. */
  readonly messages: ReadonlyArray<Message>
  /** Decision records, when the agent keeps them (`records: true`). */
  readonly records: ReadonlyArray<HookRecord>
}

/** The agent answered. @category models @since 0.1.0 */
export interface Completed extends RunCommon {
  readonly status: "completed"
  readonly finishReason: FinishReason
  /** The answer, decoded; there when the agent has an `output`. */
  readonly object?: unknown
}

/**
 * Somebody has to decide first. Give `snapshot` and the decisions to `resume`, here or in another process.
 *
 * @category models
 * @since 0.1.0
 */
export interface Suspended extends RunCommon {
  readonly status: "suspended"
  readonly pending: ReadonlyArray<PendingAsk>
  /** Plain JSON. */
  readonly snapshot: RunState
}

/** A cap was reached. `resume(snapshot)` continues with a fresh allowance. @category models @since 0.1.0 */
export interface Limited extends RunCommon {
  readonly status: "limited"
  readonly limit: "steps" | "toolCalls" | "attempts" | "followUps" | "wallClockMs" | (string & {})
  readonly used: number
  readonly max: number
  /** Plain JSON. */
  readonly snapshot: RunState
}

/** A hook ended the turn. @category models @since 0.1.0 */
export interface Aborted extends RunCommon {
  readonly status: "aborted"
  readonly reason: string
  readonly by: string
}

/** @category models @since 0.1.0 */
export type RunResult = Completed | Suspended | Limited | Aborted

/** How a turn of an agent with an `output` ended. @category models @since 0.1.0 */
export type ObjectResult<Object> = (Completed & { readonly object: Object }) | Suspended | Limited | Aborted
