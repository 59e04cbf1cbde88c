/**
 * Making a long conversation short enough for the model's window.
 *
 * @since 0.1.0
 */
import type { Message } from "./Message.ts"

/**
 * The size of the window and how much of it is used, in tokens. The used tokens are estimated until the vendor reports
 * them.
 *
 * @category models
 * @since 0.1.0
 */
export interface TokenBudget {
  readonly usedTokens: number
  readonly windowTokens: number
}

/** What `preCompaction` hooks receive. @category models @since 0.1.0 */
export interface CompactionRequest {
  readonly messages: ReadonlyArray<Message>
  readonly budget: TokenBudget
  /**
   * `rotation`: the conversation continues in a fresh session. `overflow`: the provider reported that the request was
   * too long.
   */
  readonly trigger: "threshold" | "overflow" | "manual" | "rotation"
  readonly hint: CompactionHint
}

/** Options of the compaction. @category models @since 0.1.0 */
export interface CompactionHint {
  /** How many of the most recent messages to keep unchanged. Default 20. */
  readonly keepRecent?: number
  /** Texts that the summary must contain. */
  readonly instructions?: string
  /** Texts that the summary must contain word for word, such as an issue number, a branch or a path. */
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

/** How much of a budget is used up: what `onBudget` hooks receive. @category models @since 0.1.0 */
export interface BudgetLevel {
  readonly level: "warn" | "exceeded"
  readonly kind: "tokens" | "money" | "calls" | "time"
  /**
   * What the budget limits: `window` is the model's window; a budget hook may use other names (run, session, user,
   * tenant).
   */
  readonly scope: "window" | "run" | "session" | "user" | "tenant" | (string & {})
  /** The unit of `used` and `limit`: tokens, US dollars, calls or milliseconds. */
  readonly used: number
  readonly limit: number
}
