/**
 * Defining tools: a name, a description, a schema for the arguments, a function.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type { StandardSchemaV1 } from "effect/StandardSchema"
import type { Artifact } from "../data/Artifact.ts"
import type { Delegation } from "../data/Delegation.ts"
import type { Json, JsonObject } from "../data/Json.ts"
import type { PostToolCallEvent, PreToolCallEvent, ToolMeta } from "../data/Tool.ts"
import { type AgentHook, type HookOptions, type HookReturn } from "../hook/AgentHook.ts"
import type { HookContext } from "../hook/HookContext.ts"

/** The second argument of a tool function. @category models @since 0.1.0 */
export interface ToolContext {
  /** Aborts when the turn is cancelled or the tool's time is up. */
  readonly signal: AbortSignal
  readonly callId: string
  /** Stays the same when a call is repeated after a crash: pass it to operations that must not happen twice. */
  readonly idempotencyKey: string
  readonly sessionId: string
  readonly cwd: string
  /**
   * Texts outside the model's window, kept with the conversation. A tool's own keys begin with `tool:`; it may read the
   * hooks'.
   */
  readonly artifacts: ToolArtifacts
}

/** @category models @since 0.1.0 */
export interface ToolArtifacts {
  readonly write: (key: string, content: string, mimeType?: string) => Promise<Artifact>
  readonly append: (key: string, content: string, mimeType?: string) => Promise<Artifact>
  /** Reads by key or by reference. */
  readonly read: (key: string) => Promise<string | undefined>
  readonly list: () => Promise<ReadonlyArray<Artifact>>
}

/**
 * A schema for arguments: any Standard Schema (zod, valibot, arktype, ...), an Effect Schema, or plain JSON Schema.
 *
 * @category models
 * @since 0.1.0
 */
export type InputSchema = StandardSchemaV1 | Schema.Top | JsonObject

/** The argument type of a schema. @category type-level @since 0.1.0 */
export type ArgsOf<S> = S extends { readonly Type: infer A } ? A
  : S extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<S>
  : JsonObject

/** A tool. @category models @since 0.1.0 */
export interface Tool<Name extends string = string, Args = unknown> extends Omit<ToolMeta, "name" | "inputSchema"> {
  readonly name: Name
  readonly input: InputSchema
  /** JSON Schema of the arguments, for schema libraries that cannot give one themselves. */
  readonly jsonSchema?: JsonObject
  /** Runs alone: no other call of the same step runs at the same time. Default false. */
  readonly exclusive?: boolean
  /**
   * Makes the call a delegation: the delegation points run around it, and this agent runs instead of `execute`. See
   * `agentTool`.
   */
  readonly delegate?: { readonly agent: object; readonly type: Delegation["type"] }
  /** Returns any JSON value, directly, as a promise or as an Effect. What it throws is the error the model reads. */
  readonly execute: (args: Args, ctx: ToolContext) => unknown
}

/** Any tool. @category models @since 0.1.0 */
export type AnyTool = Tool<string, never>

/**
 * Defines a tool; the type of `args` is the schema's.
 *
 * @example
 * ```ts
 * import { defineTool } from "@belay/core/defineTool"
 * import * as Schema from "effect/Schema"
 *
 * const add = defineTool({
 *   name: "add",
 *   description: "Adds two numbers",
 *   input: Schema.Struct({ a: Schema.Finite, b: Schema.Finite }),
 *   execute: ({ a, b }) => a + b
 * })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const defineTool = <const Name extends string, S extends InputSchema>(
  tool: Omit<Tool<Name>, "input" | "execute"> & {
    readonly input: S
    readonly execute: (
      args: ArgsOf<S>,
      ctx: ToolContext
    ) => Json | void | PromiseLike<Json | void> | Effect.Effect<Json | void, unknown>
  }
  // `Args` is what the schema decodes to, which the compiler cannot derive from the parameter.
): Tool<Name, ArgsOf<S>> => tool as never

/**
 * Makes a hook for one tool, with that tool's argument type in its events.
 *
 * @example
 * ```ts
 * import * as HookAction from "@belay/core/HookAction"
 * import { defineTool, onTool } from "@belay/core/defineTool"
 * import * as Schema from "effect/Schema"
 *
 * const write = defineTool({ name: "write", description: "Writes a file", input: Schema.Struct({ path: Schema.String }), execute: () => "ok" })
 * const guard = onTool(write, {
 *   name: "only-tmp",
 *   preToolCall: ({ args }) => args.path.startsWith("/tmp/") ? undefined : HookAction.reject("only below /tmp")
 * })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const onTool = <Args, R = never>(
  tool: Tool<string, Args>,
  hook: Omit<HookOptions, "tools"> & {
    readonly preToolCall?: (event: PreToolCallEvent<Args>, ctx: HookContext) => HookReturn<"preToolCall", R>
    readonly postToolCall?: (event: PostToolCallEvent<Args>, ctx: HookContext) => HookReturn<"postToolCall", R>
  }
  // The hook is called for this tool only, so its events have this tool's arguments.
): AgentHook<R> => ({ ...hook, tools: tool.name }) as never
