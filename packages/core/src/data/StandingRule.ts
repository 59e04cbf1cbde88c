/**
 * Approvals that are remembered, so that the same question is not asked twice.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"

/**
 * Approves later calls of a tool, or of a tool with exactly these arguments, when the same hook asks about them.
 *
 * @category models
 * @since 0.1.0
 */
export interface StandingRule {
  /** The hook whose questions it answers, or `policy`. */
  readonly hook: string
  readonly tool: string
  /** Canonical text of tool and arguments; absent means any arguments. */
  readonly fingerprint?: string
}

/** Keeps the standing rules of a project. @category models @since 0.1.0 */
export interface RuleStore {
  readonly load: Effect.Effect<ReadonlyArray<StandingRule>, unknown>
  readonly add: (rule: StandingRule) => Effect.Effect<void, unknown>
}
