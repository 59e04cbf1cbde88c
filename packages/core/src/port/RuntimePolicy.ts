/**
 * The policy of an agent: decides whether and how a tool may run, before the hooks, and again when they changed the
 * arguments.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type { ToolCall } from "../data/Message.ts"
import type { ExecutionGrant, ToolMeta } from "../data/Tool.ts"

/** The policy's answer. Hooks can tighten it, never loosen it. @category models @since 0.1.0 */
export type PolicyAnswer =
  | { readonly type: "allow"; readonly grant: ExecutionGrant }
  | { readonly type: "ask"; readonly reason: string; readonly grant: ExecutionGrant }
  | { readonly type: "deny"; readonly reason: string }

/** @category models @since 0.1.0 */
export interface RuntimePolicy {
  /** May answer at once or as an Effect. A policy that breaks denies. */
  readonly check: (call: ToolCall, tool: ToolMeta) => PolicyAnswer | Effect.Effect<PolicyAnswer, unknown>
}
