/**
 * The data of tools: descriptions, calls, grants and results. The runtime, the policy and the hooks use it. To define a
 * tool, see `agent/defineTool`.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import type { Json, JsonObject } from "../Json.ts"
import { JsonValue, type ToolCall } from "../Message.ts"

/** The description of a tool. The hints follow the tool annotations of MCP. @category models @since 0.1.0 */
export interface ToolMeta {
  readonly name: string
  readonly description: string
  /** The JSON Schema of the arguments (draft 2020-12 or 07). It must be an object schema. */
  readonly inputSchema: JsonObject
  /** Whether the tool changes nothing. Default false. */
  readonly readOnly?: boolean
  /** Whether the tool may destroy something. Default false. */
  readonly destructive?: boolean
  /** Whether repeating a call has no additional effect. Default false. */
  readonly idempotent?: boolean
  /** Whether the tool reaches what others see, such as the web, also when it only reads. Default: not known. */
  readonly openWorld?: boolean
  /** Set if the model reads the definition only when the search of its vendor has found it. */
  readonly deferred?: "vendor"
}

/**
 * A tool as a hook names it in `tools`. Every tool that `defineTool` returns is one.
 *
 * @category models
 * @since 0.2.0
 */
export interface ToolRef<Name extends string = string, Shown = unknown> {
  readonly name: Name
  /** The type of the arguments that hooks see. It exists in types only. */
  readonly "~shown"?: Shown
}

/** The limits under which the policy allows a tool call. @category models @since 0.1.0 */
export interface ExecutionGrant {
  /** `none` runs the tool in the host's process. The dispatcher implements the other modes. */
  readonly sandbox: "none" | "read-only" | "workspace" | (string & {})
  /** How many milliseconds the tool may take. Default: the configured limit. */
  readonly timeoutMs?: number
  /** Additional data from the policy for the dispatcher. */
  readonly limits?: JsonObject
}

/** A grant without restrictions. @category constructors @since 0.1.0 */
export const unrestricted: ExecutionGrant = Object.freeze({ sandbox: "none" })

/** The result of a tool call: its output, or the error message for the model. @category models @since 0.1.0 */
export type ToolResult = ToolSuccess | ToolFailure
/** The result of a tool that succeeded. @category models @since 0.1.0 */
export interface ToolSuccess extends Schema.Schema.Type<typeof ToolSuccess> {}
/** @category schemas @since 0.1.0 */
export const ToolSuccess = Schema.Struct({ ok: Schema.Literal(true), output: JsonValue })
/** The result of a tool that failed: the message for the model. @category models @since 0.1.0 */
export interface ToolFailure extends Schema.Schema.Type<typeof ToolFailure> {}
/** @category schemas @since 0.1.0 */
export const ToolFailure = Schema.Struct({ ok: Schema.Literal(false), error: Schema.String })
/** @category schemas @since 0.1.0 */
export const ToolResult = Schema.Union([ToolSuccess, ToolFailure])

/** Makes the result of a tool that succeeded. @category constructors @since 0.1.0 */
export const success = (output: Json): ToolSuccess => ({ ok: true, output })

/** Makes the result of a tool that failed. @category constructors @since 0.1.0 */
export const failure = (error: string): ToolFailure => ({ ok: false, error })

/**
 * A tool call before it runs: what `preToolCall` hooks receive. `args` fit the tool's schema.
 *
 * @category models
 * @since 0.1.0
 */
export interface PreToolCallEvent<Args = Json> extends Omit<ToolCall, "args"> {
  readonly args: Args
  readonly tool: ToolMeta
  readonly grant: ExecutionGrant
}

/** A finished tool call: what `postToolCall` hooks receive. @category models @since 0.1.0 */
export interface PostToolCallEvent<Args = Json> {
  readonly call: Omit<ToolCall, "args"> & { readonly args: Args }
  readonly tool: ToolMeta
  readonly result: ToolResult
  /** How many milliseconds the tool took, without policy and hooks; 0 if it did not run. */
  readonly elapsedMs: number
  /** False when a hook answered for the tool (`Respond`). */
  readonly executed: boolean
  /** What a person approved, if one was asked about this call. */
  readonly approval?: ApprovalOfCall
}

/** The approval of a call by a person. @category models @since 0.2.0 */
export interface ApprovalOfCall {
  /** The name of the person, if it is known. */
  readonly by?: string
  /** What the person wants remembered. `field` is for hooks that ask about values, such as `DataFlow`. */
  readonly remember?: "tool" | "arguments" | "field"
}

/**
 * The policy asks for a decision about a tool call: what `onPermission` hooks receive.
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

/** The decision so far. @category models @since 0.1.0 */
export type PermissionDecision =
  | { readonly type: "allow" }
  | { readonly type: "deny"; readonly reason: string }
  | { readonly type: "ask"; readonly reason: string }

/** A denied tool call: what `onToolDenied` hooks receive. @category models @since 0.1.0 */
export interface OnToolDeniedEvent {
  readonly call: ToolCall
  /** Who denied it: the name of the hook, `policy` or `person`. */
  readonly by: string
  readonly reason: string
}

/** A tool call that ran with other arguments than the model wrote. @category models @since 0.2.0 */
export interface ArgumentChange {
  readonly callId: string
  readonly tool: string
  /** The hooks that changed them, and the person who edited them. */
  readonly by: ReadonlyArray<string>
  /** The arguments that the tool got. */
  readonly args: Json
  /** Whether the vendor gets the model's own arguments in the conversation, because it may have signed the call. */
  readonly isSigned: boolean
}
