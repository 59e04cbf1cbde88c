/**
 * Tools as the runtime, the policy and the hooks see them: descriptions, calls, grants and results. How to define one
 * is in `agent/Tool`.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import type { Json, JsonObject } from "./Json.ts"
import { JsonValue, type ToolCall } from "./Message.ts"

/** What is known of a tool before it runs. The hints follow MCP's tool annotations. @category models @since 0.1.0 */
export interface ToolMeta {
  readonly name: string
  readonly description: string
  /** JSON Schema (draft 2020-12 or 07) of the arguments, an object schema. */
  readonly inputSchema: JsonObject
  /** Changes nothing. Default false. */
  readonly readOnly?: boolean
  /** May destroy something. Default false. */
  readonly destructive?: boolean
  /** The same call twice has the effect of one. Default false. */
  readonly idempotent?: boolean
}

/** What the policy grants to one tool call: the limits it runs under. @category models @since 0.1.0 */
export interface ExecutionGrant {
  /** `none` runs in the host's process; other modes are the dispatcher's to honour. */
  readonly sandbox: "none" | "read-only" | "workspace" | (string & {})
  /** Milliseconds the tool may take; absent means the configured default. */
  readonly timeoutMs?: number
  /** What else the policy wants the dispatcher to know. */
  readonly limits?: JsonObject
}

/** The grant of a policy that restricts nothing. @category constructors @since 0.1.0 */
export const unrestricted: ExecutionGrant = Object.freeze({ sandbox: "none" })

/** A finished tool call: its output, or the error text the model will read. @category models @since 0.1.0 */
export type ToolResult = ToolSuccess | ToolFailure
/** @category models @since 0.1.0 */
export interface ToolSuccess extends Schema.Schema.Type<typeof ToolSuccess> {}
/** @category schemas @since 0.1.0 */
export const ToolSuccess = Schema.Struct({ ok: Schema.Literal(true), output: JsonValue })
/** @category models @since 0.1.0 */
export interface ToolFailure extends Schema.Schema.Type<typeof ToolFailure> {}
/** @category schemas @since 0.1.0 */
export const ToolFailure = Schema.Struct({ ok: Schema.Literal(false), error: Schema.String })
/** @category schemas @since 0.1.0 */
export const ToolResult = Schema.Union([ToolSuccess, ToolFailure])

/** Makes a success. @category constructors @since 0.1.0 */
export const success = (output: Json): ToolSuccess => ({ ok: true, output })

/** Makes a failure. @category constructors @since 0.1.0 */
export const failure = (error: string): ToolFailure => ({ ok: false, error })

/**
 * A tool call on its way to execution: what `preToolCall` hooks receive. `args` fit the tool's schema.
 *
 * @category models
 * @since 0.1.0
 */
export interface PreToolCallEvent<Args = Json> extends Omit<ToolCall, "args"> {
  readonly args: Args
  readonly tool: ToolMeta
  readonly grant: ExecutionGrant
}

/** A tool call that ended: what `postToolCall` hooks receive. @category models @since 0.1.0 */
export interface PostToolCallEvent<Args = Json> {
  readonly call: Omit<ToolCall, "args"> & { readonly args: Args }
  readonly tool: ToolMeta
  readonly result: ToolResult
  /** Milliseconds the execution took, without policy and hooks; 0 when it was not executed. */
  readonly elapsedMs: number
  /** False when a hook answered for the tool (`Respond`). */
  readonly executed: boolean
}

/**
 * A question to the permission hooks: the policy wants a person (or a hook) to decide.
 *
 * @category models
 * @since 0.1.0
 */
export interface OnPermissionEvent {
  readonly call: ToolCall
  readonly tool: ToolMeta
  readonly reason: string
  readonly decision: PermissionDecision
}

/** The answer so far. @category models @since 0.1.0 */
export type PermissionDecision =
  | { readonly type: "allow" }
  | { readonly type: "deny"; readonly reason: string }
  | { readonly type: "ask"; readonly reason: string }

/** A call that will not run: what `onToolDenied` hooks receive. @category models @since 0.1.0 */
export interface OnToolDeniedEvent {
  readonly call: ToolCall
  /** The hook, or `policy`, or `person`. */
  readonly by: string
  readonly reason: string
}
