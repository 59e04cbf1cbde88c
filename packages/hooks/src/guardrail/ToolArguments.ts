/**
 * Rewrites the arguments of tool calls before the tools run.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import { type Eventual, eventual } from "@belay/core/Eventual"
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import type { Json } from "@belay/core/Json"
import { checkKinds, type OptionKinds } from "@belay/core/OptionCheck"
import type { PreToolCallEvent } from "@belay/core/Tool"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as HookDefaults from "../HookDefaults.ts"

/** Options of `ToolArguments.make`. @category models @since 0.1.0 */
export interface Options<R = never> extends Omit<HookDefaults.HookDefaults, "tools"> {
  /** The name of the hook. Two of these hooks in one agent need two names. Default `tool-arguments`. */
  readonly name?: string
  /** The tools whose arguments are rewritten; `*` stands for any characters, a leading `!` excludes. Required. */
  readonly tools: string | ReadonlyArray<string>
  /** Returns the new arguments, or `undefined` to keep them: as a value, a promise or an Effect. Required. */
  readonly rewrite: (args: Json, call: PreToolCallEvent, ctx: HookContext) => Eventual<Json | undefined, R>
  /**
   * Whether the model, the conversation, records and events never show what the hook writes, for example a tenant or a
   * key. Default false: they show the arguments that ran, and the model reads that they were changed.
   */
  readonly confidential?: boolean
}

const optionKinds: HookDefaults.OwnKinds<Options<never>> = {
  rewrite: "function",
  confidential: "flag"
}

/**
 * Rewrites the arguments of tool calls. When `rewrite` fails, the tool does not run.
 *
 * @example
 * ```ts
 * import * as ToolArguments from "@belay/hooks/ToolArguments"
 *
 * const inside = ToolArguments.make({
 *   tools: ["fs_*", "!fs_stat"],
 *   rewrite: (args, _call, ctx) =>
 *     typeof args === "object" && args !== null && "path" in args
 *       ? { ...args, path: `${ctx.cwd}/${args.path}` }
 *       : undefined
 * })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = <R = never>(options: Options<R>): AgentHook<R> => {
  HookDefaults.checkKinds("tool-arguments", options, optionKinds, ["rewrite"])
  return HookDefaults.apply<R>(options, {
    name: "tool-arguments",
    kind: "policy",
    confidential: options.confidential === true,
    preToolCall: (call, ctx) =>
      Effect.map(
        eventual(() => options.rewrite(call.args, call, ctx)),
        (args) =>
          args === undefined ? HookAction.Continue : HookAction.transform({ id: call.id, name: call.name, args })
      )
  })
}

/** Options for one tool whose arguments have a schema. @category models @since 0.1.0 */
export interface TypedOptions<Args, R = never> {
  /** The name of the hook. Default `tool-arguments/<tool>`. */
  readonly name?: string
  /** The exact name of the tool. */
  readonly tool: string
  /** The schema with which arguments are decoded before they are rewritten, and encoded afterwards. */
  readonly schema: Schema.Codec<Args, Json>
  /** Returns the new arguments, or `undefined` to keep them: as a value, a promise or an Effect. */
  readonly rewrite: (args: Args, call: PreToolCallEvent, ctx: HookContext) => Eventual<Args | undefined, R>
  /** As in `make`. Default false. */
  readonly confidential?: boolean
}

const typedOptionKinds: OptionKinds<TypedOptions<never>> = {
  name: "text",
  tool: "text",
  schema: "any",
  rewrite: "function",
  confidential: "flag"
}

/**
 * Rewrites the arguments of one tool, with the types of a schema. When arguments do not match it, the tool does not
 * run.
 *
 * @example
 * ```ts
 * import * as ToolArguments from "@belay/hooks/ToolArguments"
 * import * as Schema from "effect/Schema"
 *
 * const fewer = ToolArguments.forTool({
 *   tool: "search",
 *   schema: Schema.Struct({ query: Schema.String, limit: Schema.Finite }),
 *   rewrite: ({ limit, query }) => ({ query: query.trim(), limit: Math.min(limit, 20) })
 * })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const forTool = <Args, R = never>(options: TypedOptions<Args, R>): AgentHook<R> => {
  Result.getOrThrow(checkKinds("ToolArguments.forTool", options, typedOptionKinds, ["tool", "schema", "rewrite"]))
  const decode = Schema.decodeUnknownEffect(options.schema)
  const encode = Schema.encodeEffect(options.schema)
  const rewrite = Effect.fnUntraced(function*(call: PreToolCallEvent, ctx: HookContext) {
    const args = yield* decode(call.args)
    const rewritten = yield* eventual(() => options.rewrite(args, call, ctx))
    return rewritten === undefined ? undefined : yield* encode(rewritten)
  })
  const hook = make({
    name: options.name ?? `tool-arguments/${options.tool}`,
    tools: options.tool,
    confidential: options.confidential === true,
    rewrite: (_args, call, ctx) => rewrite(call, ctx)
  })
  return { ...hook, identity: { kind: "ToolArguments.forTool", options } }
}
