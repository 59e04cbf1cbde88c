/**
 * Defines tools: a name, a description, a schema of the arguments, and a function.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type { Delegation, HostSignal, SignalAnswer } from "../data/Delegation.ts"
import type { Awaitable } from "../data/effect/Awaitable.ts"
import type { JsonObject } from "../data/Json.ts"
import type { ArgsOf, InputSchema, ShownOf } from "../data/tool/InputSchema.ts"
import type { ToolMeta, ToolRef } from "../data/tool/Tool.ts"
import type { AgentHook } from "../hook/AgentHook.ts"
import type { Artifacts, AskModel } from "../hook/HookContext.ts"

/** The second argument of a tool function. @category models @since 0.1.0 */
export interface ToolContext {
  /** Aborts when the turn is cancelled or the tool times out. */
  readonly signal: AbortSignal
  readonly callId: string
  /**
   * A key that stays the same when the call is repeated after a crash. Pass it to operations that must not happen
   * twice.
   */
  readonly idempotencyKey: string
  readonly sessionId: string
  readonly cwd: string
  /**
   * Texts that are stored with the conversation but are not sent to the model. `tool:` is put before each key of a
   * tool. A tool can also read the artifacts of hooks.
   */
  readonly artifacts: Artifacts
  /**
   * Reports progress: sends a `tool-progress` event. The value can be anything that a tool can return. It is not stored
   * and not sent to the model. After the tool has ended, it does nothing.
   */
  readonly progress: (value: unknown) => void
  /**
   * Calls a model of the agent, with the options of `ctx.llm` of hooks. All hooks of the agent run for the call, and
   * its cost is part of the turn. Nothing of it is added to the conversation.
   */
  readonly llm: AskModel
  /**
   * Reports something to the `onSignal` hooks, such as a question of a server. They may reject or answer it. A signal
   * that no hook handles is allowed.
   */
  readonly sendSignal: (signal: HostSignal) => Awaitable<SignalAnswer>
}

export type { ArgsOf, InputSchema, ShownOf } from "../data/tool/InputSchema.ts"

/**
 * Refuses an Effect that requires services, because a tool gets none. Anything else can be returned.
 *
 * @category type-level
 * @since 0.1.0
 */
export type WithoutServices<Returned> = Returned extends Effect.Effect<unknown, unknown, unknown>
  ? Returned extends Effect.Effect<unknown, unknown> ? Returned : Effect.Effect<unknown, unknown>
  : Returned

/** A tool. @category models @since 0.1.0 */
export interface Tool<Name extends string = string, Args = unknown, Shown = unknown>
  extends Omit<ToolMeta, "name" | "inputSchema" | "deferred">, ToolRef<Name, Shown>
{
  readonly name: Name
  readonly input: InputSchema
  /** The JSON Schema of the arguments. Required if the schema library cannot generate it. */
  readonly jsonSchema?: JsonObject
  /** Whether a call must run alone, without other calls of the same step. Default false. */
  readonly exclusive?: boolean
  /**
   * Makes the call a delegation: this agent runs instead of `execute`, and the hooks of the delegation points run. See
   * `agentTool`.
   */
  readonly delegate?: {
    readonly agent: object
    readonly type: Delegation["type"]
    readonly stays?: boolean
    readonly background?: boolean
  }
  /**
   * Hooks that every agent with this tool has, in addition to its own. A hook that several tools bring runs once. Use
   * it for a tool that must never work without its guard.
   */
  readonly hooks?: ReadonlyArray<AgentHook>
  /** A text that is added to the instructions of every agent with this tool, after its own. */
  readonly instructions?: string
  /**
   * Whether requests to the model leave the tool out. The agent still runs it when the model asks for it by its name,
   * and everything that holds for other tools holds for it. `vendor` sends it, and asks the vendor to show it to the
   * model only when its own search has found it. `ToolSearch` of `@belay/tools` sets both. Default false.
   */
  readonly deferred?: boolean | "vendor"
  /**
   * Runs the tool. Returns a value, or a promise or an Effect of one. The value is written as by `JSON.stringify`; see
   * docs/tools.md for what JSON does not have. An async generator yields progress and returns the value. If the
   * function throws, the model reads the message of the error.
   */
  readonly execute: (args: Args, ctx: ToolContext) => unknown
}

/** Any tool. @category models @since 0.1.0 */
export type AnyTool = Tool<string, never>

/**
 * Defines a tool. The schema determines the type of `args`.
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
export const defineTool = <const Name extends string, S extends InputSchema, Returned>(
  tool: Omit<Tool<Name>, "input" | "execute"> & {
    readonly input: S
    readonly execute: (args: ArgsOf<S>, ctx: ToolContext) => Returned & WithoutServices<Returned>
  }
  // The types of the arguments are those of the schema, which the compiler cannot derive from the parameter.
): Tool<Name, ArgsOf<S>, ShownOf<S>> => tool as never
