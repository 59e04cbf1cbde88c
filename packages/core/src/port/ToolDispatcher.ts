/**
 * Runs tools. The default one runs the functions of the tools an agent was given.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type { Json } from "../data/Json.ts"
import type { ToolCall } from "../data/Message.ts"
import type { ExecutionGrant, ToolMeta, ToolResult } from "../data/Tool.ts"
import type { ArtifactStore } from "./ArtifactStore.ts"

/** What a tool's arguments turned out to be. @category models @since 0.1.0 */
export type Decoded = { readonly ok: true; readonly args: Json } | { readonly ok: false; readonly why: string }

/** About the call that a tool runs for. @category models @since 0.1.0 */
export interface DispatchContext {
  readonly sessionId: string
  /** Stays the same when a call is repeated after a crash. */
  readonly idempotencyKey: string
  readonly cwd: string
  readonly artifacts: ArtifactStore
  /** The session whose artifacts are meant: of a sub-agent, the one it works for. */
  readonly rootSessionId: string
  /** Milliseconds after which the call has failed. */
  readonly timeoutMs: number
  /** Registers what to do when that time is up; returns how to call it off. */
  readonly onTimeout: (expire: () => void) => () => void
}

/** @category models @since 0.1.0 */
export interface ToolDispatcher {
  readonly tools: ReadonlyArray<ToolMeta>
  /** Checks arguments against the tool's schema; synchronous where the schema is. Never fails. */
  readonly decode: (tool: ToolMeta, args: Json) => Decoded | Effect.Effect<Decoded>
  /** Runs the tool. A tool that fails is a `ToolFailure`; cancellation is interruption. */
  readonly dispatch: (call: ToolCall, grant: ExecutionGrant, about: DispatchContext) => Effect.Effect<ToolResult>
  /** Whether calls of this tool may run beside others of the same step. Default: all may. */
  readonly exclusive?: (tool: string) => boolean
}
