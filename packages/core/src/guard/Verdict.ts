/**
 * What the guard of a session decides at each point. A driver obeys the verdict: it runs what is allowed, and nothing
 * else.
 *
 * @since 0.2.0
 */
import type { CompactionRequest, CompactionResult } from "../data/Compaction.ts"
import type { Delegation, DelegationResult } from "../data/Delegation.ts"
import type { Json } from "../data/Json.ts"
import type { LlmDelta, LlmRequest, LlmResponse } from "../data/LlmCall.ts"
import type { PendingAsk } from "../data/RunState.ts"
import type { ExecutionGrant, ToolResult } from "../data/tool/Tool.ts"
import type { TurnInput } from "../data/Turn.ts"

/** A text that hooks injected, which the model reads before its next answer. @category models @since 0.2.0 */
export interface InjectedText {
  /** The hook that injected it. */
  readonly hook: string
  readonly text: string
}

/** What every verdict has. @category models @since 0.2.0 */
export interface WithContext {
  /**
   * The texts that the driver has to show to the model. Empty if the driver passes every request through
   * `modelRequest`, which adds them itself.
   */
  readonly context: ReadonlyArray<InjectedText>
}

/** The operation must not happen. The agent may go on. @category models @since 0.2.0 */
export interface Denied extends WithContext {
  readonly type: "deny"
  /** The model or the user reads it. */
  readonly reason: string
  /** The hook that decided, `policy`, `person` or `runtime`. */
  readonly by: string
}

/** The turn must end. All later verdicts of the turn are the same. @category models @since 0.2.0 */
export interface Stopped extends WithContext {
  readonly type: "stop"
  readonly reason: string
  readonly by: string
}

/** About a message of the user. @category models @since 0.2.0 */
export type UserMessageVerdict =
  | WithContext & { readonly type: "allow"; readonly input: TurnInput }
  /** A hook answers. The model is not asked. */
  | WithContext & { readonly type: "respond"; readonly text: string }
  | Denied
  | Stopped

/** About a request to the model. @category models @since 0.2.0 */
export type ModelRequestVerdict =
  | WithContext & { readonly type: "allow"; readonly request: LlmRequest }
  | WithContext & { readonly type: "respond"; readonly response: LlmResponse }
  | Denied
  | Stopped

/** About an answer of the model. @category models @since 0.2.0 */
export type ModelAnswerVerdict =
  | WithContext & { readonly type: "allow"; readonly response: LlmResponse }
  /** The model has to answer again, after it has read this message. */
  | WithContext & { readonly type: "again"; readonly feedback: string; readonly by: string }
  | Denied
  | Stopped

/** About a piece of a streamed answer. @category models @since 0.2.0 */
export type ModelDeltaVerdict =
  | WithContext & { readonly type: "allow"; readonly delta: LlmDelta }
  | Denied
  | Stopped

/** About a tool call. @category models @since 0.2.0 */
export type ToolCallVerdict =
  /** The tool runs with exactly these arguments. */
  | WithContext & {
    readonly type: "allow"
    readonly args: Json
    readonly grant: ExecutionGrant
    /** The hooks and people that changed the arguments. Absent if nobody did. */
    readonly changedBy?: ReadonlyArray<string>
    /** What somebody has answered about the call. Present if the tool has run, and waits for a person itself. */
    readonly question?: PendingAsk
  }
  /** A person has to answer first, with `decide`. Nothing runs before. */
  | WithContext & { readonly type: "ask"; readonly question: PendingAsk }
  /** The tool does not run. This is its result. */
  | WithContext & { readonly type: "respond"; readonly result: Json }
  | Denied
  | Stopped

/** About the result of a tool. @category models @since 0.2.0 */
export type ToolResultVerdict = WithContext & { readonly type: "allow"; readonly result: ToolResult } | Stopped

/** About a delegation to another agent. @category models @since 0.2.0 */
export type DelegationVerdict =
  | WithContext & { readonly type: "allow"; readonly delegation: Delegation }
  | WithContext & { readonly type: "respond"; readonly result: DelegationResult }
  | Denied
  | Stopped

/** About the answer of another agent. @category models @since 0.2.0 */
export type DelegationResultVerdict = WithContext & { readonly type: "allow"; readonly text: string } | Denied | Stopped

/** About a compaction of the conversation. @category models @since 0.2.0 */
export type CompactionVerdict =
  | WithContext & { readonly type: "allow"; readonly request: CompactionRequest }
  | WithContext & { readonly type: "respond"; readonly result: CompactionResult }
  | Denied
  | Stopped

/** Before the turn ends. @category models @since 0.2.0 */
export type StopVerdict =
  | WithContext & {
    readonly type: "allow"
    /** The answer, which the conversation keeps. */
    readonly text: string
    /** The answer for the user, with what confidential hooks reveal. */
    readonly shown: string
  }
  /** This message is the next thing that the model reads, and the turn does not end. */
  | WithContext & { readonly type: "continue"; readonly message: string }
  | Denied
  | Stopped
