/**
 * Remembered approvals, so that the same question is not asked twice.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type { ToolDefinition } from "./ToolDefinition.ts"

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
  /**
   * What the tool was when it was approved. The rule counts only while the tool is the same; a rule without it counts
   * for no tool.
   */
  readonly definition?: ToolDefinition
  /**
   * The names of the people who approved it. The rule counts only for questions that these people could answer: as many
   * as the quorum, out of the approvers.
   */
  readonly approvedBy?: ReadonlyArray<string>
}

/** Stores the standing rules of a project. @category models @since 0.1.0 */
export interface RuleStore {
  readonly load: Effect.Effect<ReadonlyArray<StandingRule>, unknown>
  readonly add: (rule: StandingRule) => Effect.Effect<void, unknown>
}
