/**
 * Making a long conversation short enough for the model's window.
 *
 * @since 0.1.0
 */
import type { Message } from "./Message.ts"

/** The window and how full it is, in tokens (estimated until the vendor reports). @category models @since 0.1.0 */
export interface TokenBudget {
  readonly usedTokens: number
  readonly windowTokens: number
}

/** What `preCompaction` hooks receive. @category models @since 0.1.0 */
export interface CompactionRequest {
  readonly messages: ReadonlyArray<Message>
  readonly budget: TokenBudget
  /**
   * `rotation` when the conversation continues in a fresh session, `overflow` when the provider said that the request
   * was too long.
   */
  readonly trigger: "threshold" | "overflow" | "manual" | "rotation"
  readonly hint: CompactionHint
}

/** How to compact. @category models @since 0.1.0 */
export interface CompactionHint {
  /** Most recent messages to keep as they are. Default 20. */
  readonly keepRecent?: number
  /** Texts that the summary must contain. */
  readonly instructions?: string
  /** Texts that must survive literally (issue number, branch, paths). */
  readonly anchors?: ReadonlyArray<string>
}

/**
 * A finished compaction: the messages that stay, and the summary that replaces the others.
 *
 * @category models
 * @since 0.1.0
 */
export interface CompactionResult {
  readonly messages: ReadonlyArray<Message>
  readonly summary: string
}

/** What `postCompaction` hooks receive. @category models @since 0.1.0 */
export interface PostCompactionEvent {
  readonly removedCount: number
  readonly summary: string
  readonly budget: TokenBudget
  /** Why it was compacted. */
  readonly trigger: CompactionRequest["trigger"]
}

/** How much of a budget is gone: what `onBudget` hooks receive. @category models @since 0.1.0 */
export interface BudgetLevel {
  readonly level: "warn" | "exceeded"
  readonly kind: "tokens" | "money" | "calls" | "time"
  /** Whose budget: `window` is the model's, others are what a budget hook keeps (run, session, user, tenant). */
  readonly scope: "window" | "run" | "session" | "user" | "tenant" | (string & {})
  /** In tokens, US dollars, calls or milliseconds. */
  readonly used: number
  readonly limit: number
}
