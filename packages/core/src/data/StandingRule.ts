/**
 * Remembered approvals, so that the same question is not asked twice.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"

/**
 * A remembered approval. When the same hook asks again, it approves calls of the tool, or calls of the tool with
 * exactly these arguments.
 *
 * @category models
 * @since 0.1.0
 */
export interface StandingRule {
  /** The name of the hook whose questions it answers, or `policy`. */
  readonly hook: string
  readonly tool: string
  /** The canonical text of the tool and its arguments. Absent means any arguments. */
  readonly fingerprint?: string
}

/** Stores the standing rules of a project. @category models @since 0.1.0 */
export interface RuleStore {
  readonly load: Effect.Effect<ReadonlyArray<StandingRule>, unknown>
  readonly add: (rule: StandingRule) => Effect.Effect<void, unknown>
}
