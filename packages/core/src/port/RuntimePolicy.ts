/**
 * The policy of an agent. It decides whether a tool may run, and within which limits. It is asked before the hooks, and
 * again when hooks change the arguments.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type { ToolCall } from "../data/Message.ts"
import type { ExecutionGrant, ToolMeta } from "../data/tool/Tool.ts"

/** The policy's answer. Hooks can make it stricter but not weaker. @category models @since 0.1.0 */
export type PolicyAnswer =
  | { readonly type: "allow"; readonly grant: ExecutionGrant }
  | { readonly type: "ask"; readonly reason: string; readonly grant: ExecutionGrant }
  | { readonly type: "deny"; readonly reason: string }

/** Decides whether and how a tool may run. @category models @since 0.1.0 */
export interface RuntimePolicy {
  /** Returns its answer, or an Effect of it. If the policy fails, the call is denied. */
  readonly check: (call: ToolCall, tool: ToolMeta) => PolicyAnswer | Effect.Effect<PolicyAnswer, unknown>
}
