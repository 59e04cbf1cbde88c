/**
 * The actions that hooks return. Actions are plain frozen objects. A hook that returns nothing means `Continue`.
 *
 * @since 0.1.0
 */
import type { Eventual } from "../data/effect/Eventual.ts"
import type { Json } from "../data/Json.ts"
import type { Decision, PendingAsk } from "../data/RunState.ts"
import type { RuleStore } from "../data/tool/StandingRule.ts"

/** Continues with the next hook and the same value. @category models @since 0.1.0 */
export interface Continue {
  readonly _tag: "Continue"
}

/** Changes the value: the next hook receives `value`. @category models @since 0.1.0 */
export interface Transform<out Value> {
  readonly _tag: "Transform"
  readonly value: Value
}

/**
 * Changes the value and skips the remaining hooks, but not those of kind `policy`. The operation still runs.
 *
 * @category models
 * @since 0.1.0
 */
export interface Replace<out Value> {
  readonly _tag: "Replace"
  readonly value: Value
}

/** Rejects the operation and skips the remaining hooks. @category models @since 0.1.0 */
export interface Reject {
  readonly _tag: "Reject"
  /** The reason that the model, the log and the error contain. */
  readonly reason: string
  /** The message for the user. Default: the reason. */
  readonly userMessage?: string
  /**
   * At `postLlmCall`: discards the response and calls the model again with this text, at most `retries` times (default
   * 1).
   */
  readonly feedback?: string
  readonly retries?: number
}

/**
 * Does not run the operation; `output` is its result. The remaining hooks are skipped, but those of kind `policy` still
 * see the value and may reject it. The hooks of the post point run, with `executed: false`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Respond<out Output> {
  readonly _tag: "Respond"
  readonly output: Output
}

/**
 * Ends the turn now; `reason` is the text of its result. Calls that are still running are interrupted.
 *
 * @category models @since
 * 0.1.0
 */
export interface Abort {
  readonly _tag: "Abort"
  readonly reason: string
  /**
   * At `preTurn`: whether the user's message stays in the conversation, with the changes of earlier hooks. Default
   * false.
   */
  readonly keepMessage?: boolean
}

/** What a function that answers questions is given beside the question. @category models @since 0.1.0 */
export interface AskOptions {
  /** Aborts when the answer is no longer needed: the turn was cancelled, or the question expired. */
  readonly signal: AbortSignal
  /** The session of the agent that the host started, also when a sub-agent makes the call. */
  readonly sessionId: string
}

/**
 * Asks a person. The remaining hooks still run, and a Reject, Respond or Abort of one of them wins. All questions about
 * a call become one, with the strictest terms, and it is about the arguments that will run. The run is suspended until
 * somebody decides, unless somebody in this process can answer.
 *
 * @category models
 * @since 0.1.0
 */
export interface Ask {
  readonly _tag: "Ask"
  readonly reason: string
  /** Shown to the person who decides. Belay does not interpret it. */
  readonly details?: Json
  /**
   * At `preToolCall`: the arguments to use, if they are approved, instead of the model's. The policy and all hooks,
   * also those that ran before this one, check them before the question is put.
   */
  readonly args?: Json
  /** Milliseconds after which the question expires; a later answer counts as a denial. Default: it never expires. */
  readonly expiresInMs?: number
  /** The names of those who may answer. Default: anybody. */
  readonly approvers?: ReadonlyArray<string>
  /** How many different approvers have to approve. Default 1. */
  readonly quorum?: number
  /** The kinds of decisions that are accepted. Default: all. */
  readonly allowed?: ReadonlyArray<"approve" | "deny" | "edit" | "respond" | "delegate">
  /**
   * Answers the question in this process. The runtime calls it instead of the agent's `onAsk`, and calls it again while
   * approvals are missing. If several hooks ask, it calls the first of these functions. If it fails, the call is
   * denied. It is not part of a snapshot, and a chain without a runtime does not call it.
   */
  readonly answer?: (ask: PendingAsk, options: AskOptions) => Eventual<Decision>
  /**
   * Where to keep approvals that a person wants remembered: only in the session (`session`), nowhere (`none`), or in
   * the session and this store of project rules. Default: in the session and in the agent's `approvals.rules`.
   */
  readonly standing?: "session" | "none" | RuleStore
}

/** Any action. The table in `HookPoint` lists which actions are legal at which point. @category models @since 0.1.0 */
export type HookAction<Value = unknown, Output = unknown> =
  | Continue
  | Transform<Value>
  | Replace<Value>
  | Reject
  | Respond<Output>
  | Abort
  | Ask

/** Continues with the next hook and the same value. @category constructors @since 0.1.0 */
export const Continue: Continue = Object.freeze({ _tag: "Continue" })

/** Changes the value: the next hook receives `value`. @category constructors @since 0.1.0 */
export const transform = <Value>(value: Value): Transform<Value> => Object.freeze({ _tag: "Transform", value })

/**
 * Changes the value and skips the remaining hooks, but not those of kind `policy`. The operation still runs.
 *
 * @category constructors
 * @since 0.1.0
 */
export const replace = <Value>(value: Value): Replace<Value> => Object.freeze({ _tag: "Replace", value })

/** Rejects the operation and skips the remaining hooks. @category constructors @since 0.1.0 */
export const reject = (reason: string, options?: Omit<Reject, "_tag" | "reason">): Reject =>
  Object.freeze({ _tag: "Reject", reason, ...options })

/**
 * Does not run the operation; `output` is its result. The hooks of the post point still run, with `executed: false`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const respond = <Output>(output: Output): Respond<Output> => Object.freeze({ _tag: "Respond", output })

/**
 * Ends the turn now; `reason` is the text of its result. Calls that are still running are interrupted.
 *
 * @category constructors
 * @since 0.1.0
 */
export const abort = (reason: string, options?: Omit<Abort, "_tag" | "reason">): Abort =>
  Object.freeze({ _tag: "Abort", reason, ...options })

/**
 * Asks a person. The run is suspended until somebody decides, unless somebody in this process can answer.
 *
 * @category constructors
 * @since 0.1.0
 */
export const ask = (reason: string, details?: Json, options?: Omit<Ask, "_tag" | "reason" | "details">): Ask =>
  Object.freeze({ _tag: "Ask", reason, ...(details === undefined ? {} : { details }), ...options })
