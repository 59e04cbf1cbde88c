/**
 * The answers of hooks. Actions are plain frozen objects; returning nothing means `Continue`.
 *
 * @since 0.1.0
 */
import type { Eventual } from "../data/Eventual.ts"
import type { Json } from "../data/Json.ts"
import type { Decision, PendingAsk } from "../data/RunState.ts"
import type { RuleStore } from "../data/StandingRule.ts"

/** Next hook, same value. @category models @since 0.1.0 */
export interface Continue {
  readonly _tag: "Continue"
}

/** The next hook sees `value`. @category models @since 0.1.0 */
export interface Transform<out Value> {
  readonly _tag: "Transform"
  readonly value: Value
}

/** Use `value`, skip the remaining hooks. The operation still runs. @category models @since 0.1.0 */
export interface Replace<out Value> {
  readonly _tag: "Replace"
  readonly value: Value
}

/** This operation fails, the remaining hooks are skipped. @category models @since 0.1.0 */
export interface Reject {
  readonly _tag: "Reject"
  /** For the model, the log and the error. */
  readonly reason: string
  /** The message for the user, where it should not be the reason. */
  readonly userMessage?: string
  /**
   * At `postLlmCall`: discard the response and ask the model again with this advice, at most `retries` times (default
   * 1).
   */
  readonly feedback?: string
  readonly retries?: number
}

/**
 * Do not run the operation; `output` is its result. The post point still runs, with `executed: false`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Respond<out Output> {
  readonly _tag: "Respond"
  readonly output: Output
}

/**
 * End the turn now; `reason` is the text of its result. Calls that still run are interrupted. @category models @since
 * 0.1.0
 */
export interface Abort {
  readonly _tag: "Abort"
  readonly reason: string
  /**
   * At `preTurn`: the user's message, as the hooks before this one made it, stays in the conversation. Default false.
   */
  readonly keepMessage?: boolean
}

/**
 * Ask a person. The run is suspended until somebody decides, unless somebody in this process can answer.
 *
 * @category models
 * @since 0.1.0
 */
export interface Ask {
  readonly _tag: "Ask"
  readonly reason: string
  /** Shown to the person who decides, never interpreted. */
  readonly details?: Json
  /**
   * At `preToolCall`: what runs if it is approved, instead of what the model wrote. The policy and the hooks check it
   * before the tool runs.
   */
  readonly args?: Json
  /** Milliseconds after which an answer comes too late and counts as a denial. Default: never. */
  readonly expiresInMs?: number
  /** Who may answer, by name. Default: anybody. */
  readonly approvers?: ReadonlyArray<string>
  /** How many different approvers have to approve. Default 1. */
  readonly quorum?: number
  /** What may be answered. Default: anything. */
  readonly allowed?: ReadonlyArray<"approve" | "deny" | "edit" | "respond" | "delegate">
  /**
   * Answers in this process: the runtime calls it instead of the agent's `onAsk`, and again while approvals are missing.
   * A failure denies the call. It is not part of a snapshot. A chain without a runtime does not call it.
   */
  readonly answer?: (ask: PendingAsk, options: { readonly signal: AbortSignal }) => Eventual<Decision>
  /**
   * Where approvals that are to be remembered are kept: for the session, also in this store of project rules, or not at
   * all. Default: for the session, and in the agent's `approvals.rules`.
   */
  readonly standing?: "session" | "none" | RuleStore
}

/** Any action. Which are legal where is the table in `HookPoint`. @category models @since 0.1.0 */
export type HookAction<Value = unknown, Output = unknown> =
  | Continue
  | Transform<Value>
  | Replace<Value>
  | Reject
  | Respond<Output>
  | Abort
  | Ask

/** Next hook, same value. @category constructors @since 0.1.0 */
export const Continue: Continue = Object.freeze({ _tag: "Continue" })

/** Hands `value` to the next hook. @category constructors @since 0.1.0 */
export const transform = <Value>(value: Value): Transform<Value> => Object.freeze({ _tag: "Transform", value })

/** Uses `value` and skips the remaining hooks. @category constructors @since 0.1.0 */
export const replace = <Value>(value: Value): Replace<Value> => Object.freeze({ _tag: "Replace", value })

/** Refuses this operation. @category constructors @since 0.1.0 */
export const reject = (reason: string, options?: Omit<Reject, "_tag" | "reason">): Reject =>
  Object.freeze({ _tag: "Reject", reason, ...options })

/** Answers in place of the operation. @category constructors @since 0.1.0 */
export const respond = <Output>(output: Output): Respond<Output> => Object.freeze({ _tag: "Respond", output })

/** Ends the turn. @category constructors @since 0.1.0 */
export const abort = (reason: string, options?: Omit<Abort, "_tag" | "reason">): Abort =>
  Object.freeze({ _tag: "Abort", reason, ...options })

/** Asks a person. @category constructors @since 0.1.0 */
export const ask = (reason: string, details?: Json, options?: Omit<Ask, "_tag" | "reason" | "details">): Ask =>
  Object.freeze({ _tag: "Ask", reason, ...(details === undefined ? {} : { details }), ...options })
