/**
 * The interface of hooks. A hook is a plain object with any of these methods. Each method receives the event of its
 * point and a context. It returns an action, or nothing, which means `Continue`. The return value may also be a
 * promise, an Effect, or a generator of Effects.
 *
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type { Awaitable } from "../data/effect/Awaitable.ts"
import type { Json } from "../data/Json.ts"
import type { LlmRequest, LlmResponse } from "../data/LlmCall.ts"
import type { Message, ToolCall } from "../data/Message.ts"
import type { ProviderError } from "../data/ProviderError.ts"
import type {
  OnPermissionEvent,
  OnToolDeniedEvent,
  PostToolCallEvent,
  PreToolCallEvent,
  ToolRef,
  ToolResult
} from "../data/tool/Tool.ts"
import type * as HookAction from "./HookAction.ts"
import type { HookContext } from "./HookContext.ts"
import type { ActionAt, HookPointName, In } from "./HookPoint.ts"

/** What a method at point `P` may return. @category models @since 0.1.0 */
export type HookReturn<P extends HookPointName, R> = HookReturnOf<ActionAt<P>, R>

type HookReturnOf<Action, R> =
  | Action
  | void
  | PromiseLike<Action | void>
  | Effect.Effect<Action | void, unknown, R>
  | Generator<Effect.Effect<unknown, unknown, R>, Action | void, never>

/** A method at point `P`. @category models @since 0.1.0 */
export type HookMethod<P extends HookPointName, R = never> = (event: In<P>, ctx: HookContext) => HookReturn<P, R>

/**
 * What happens when a hook fails: the chain continues without it, the operation is rejected, or the turn ends.
 *
 * @category models
 * @since 0.1.0
 */
export type FailurePolicy = "open" | "reject" | "abort"

/**
 * A tool, or the name or a pattern of tools.
 *
 * @category models
 * @since 0.2.0
 */
// oxlint-disable-next-line typescript/no-explicit-any -- the arguments can have any type
export type ToolFilter = string | ToolRef<string, any>

/**
 * The options of a hook: its name, its place in the chain and what happens when it fails.
 *
 * @category models
 * @since 0.1.0
 */
export interface HookOptions {
  /** Must be unique in a chain. */
  readonly name: string
  /** Hooks with a lower number run first at forward points. Default 100. */
  readonly priority?: number
  /** Managed hooks run before project hooks, and project hooks run before agent hooks. Default `project`. */
  readonly tier?: "managed" | "project" | "agent"
  /** At forward points, this hook runs before the hooks named in `before` and after those named in `after`. */
  readonly before?: ReadonlyArray<string>
  readonly after?: ReadonlyArray<string>
  /** Replaces an earlier hook of the same name. Without it, a duplicate name is an error. */
  readonly override?: boolean
  /** Whether the chain continues when this hook fails. Default true; false for hooks of kind `policy`. */
  readonly failOpen?: boolean
  /** A finer choice than `failOpen`, where false means `reject`. */
  readonly onFailure?: FailurePolicy
  /** What happens when the hook times out. Default: the same as `onFailure`. */
  readonly onTimeout?: FailurePolicy
  /** How long to wait for the hook. Default 30 seconds. */
  readonly timeout?: Duration.Input | "none"
  /**
   * A `policy` hook fails closed, and no other hook can hide an operation from it: after a `Replace` or a `Respond`,
   * the policies still see the value and may reject it. An `observer` always runs, after all other hooks; it sees the
   * outcome and cannot change it. Default `advisory`.
   */
  readonly kind?: "policy" | "advisory" | "observer"
  /** Points at which this hook is an observer: it always runs there and cannot change anything. */
  readonly observes?: ReadonlyArray<HookPointName>
  /** The decisions of a `shadow` hook are recorded but have no effect. */
  readonly mode?: "enforce" | "shadow"
  /**
   * At tool points, the hook runs for these tools only: tools, or names and patterns. `*` matches any characters; a
   * leading `!` excludes.
   */
  readonly tools?: ToolFilter | ReadonlyArray<ToolFilter>
  /**
   * How much streamed text to buffer before the consumer sees it: none, everything until the hooks have accepted the
   * response, or the last `chars` characters. With `chars`, the hook sees every pattern up to that length in one piece,
   * wherever the stream splits the text. With `from`, less is buffered: the part of the text that begins at the
   * position that `from` returns, and at most `chars` characters. Everything before that position is shown. A negative
   * position means that the whole text may be shown. If `from` throws, the last `chars` characters are buffered.
   */
  readonly hold?: "none" | "untilPass" | { readonly chars: number; readonly from?: (text: string) => number }
  /**
   * For hooks that handle secrets.
   * - Decision records leave out the content of its changes.
   * - Its `wrapToolCall` may call the tool with arguments that differ from the approved ones, for example with a secret
   *   in place of a placeholder. The tool's schema decodes them again.
   * - Its wrapper is the innermost one, so other wrappers see neither those arguments nor the original result.
   * - At points in reverse order it runs first.
   */
  readonly confidential?: boolean
  /**
   * The hook also runs for the model and tool calls that hooks make (`ctx.llm`, `ctx.callTool`); other hooks do not see
   * those calls. Use it for budgets and audits. While it runs for such a call, the hook cannot make calls itself.
   */
  readonly allowReentry?: boolean
  /**
   * Whether the hook is asked again when a later hook changes the value that it has answered for. Default `never`.
   * - `ifChanged`: it is asked again, and can then reject, abort, respond or ask. A change that it makes then has no
   *   effect, and neither have texts that it injects, so that nothing happens twice. What it writes to its state then
   *   replaces what it wrote to the same keys before. Messages that later hooks only append are not a change.
   * - `reapply`: as `ifChanged`, but its changes are made again, also for appended messages, and all that it writes to
   *   its state stays. Use it only if making a change twice gives the same value as making it once. Redaction is such a
   *   change.
   */
  readonly reinvoke?: "never" | "ifChanged" | "reapply"
  /**
   * What the hook was made from. In a tree of agents, hooks with the same kind and the same options run once for each
   * event, as one object would. Options are the same if plain values are deeply equal and everything else is identical.
   * All ready-made hooks and hook files have it. Default: the hook is the same only as itself.
   */
  readonly identity?: { readonly kind: string; readonly options: unknown }
}

/**
 * Runs the call that the hook wraps: `yield* next(value)` in an Effect, `await next(value)` in an async function.
 * `next.promise` starts the call at once and returns a promise.
 *
 * @category models
 * @since 0.1.0
 */
export interface Next<in Input, out Output> {
  (input: Input): Awaitable<Output, ProviderError>
  readonly promise: (input: Input) => Promise<Output>
}

/**
 * A method that wraps a model call or a tool call, for example to cache, retry or time it. Use it only for what pre and
 * post hooks cannot do. To reject the call, fail with `HookAction.reject(...)`; to end the turn, fail with
 * `HookAction.abort(...)`.
 *
 * @category models
 * @since 0.1.0
 */
export type WrapMethod<Input, Output, R> = (
  input: Input,
  next: Next<Input, Output>,
  ctx: HookContext
) => Effect.Effect<Output, unknown, R> | PromiseLike<Output>

/** A hook. Implement the methods of the points at which it should run. @category models @since 0.1.0 */
export interface AgentHook<out R = never> extends HookOptions {
  /** Called once after all sessions have closed. Must finish within 30 seconds; errors are logged. */
  readonly close?: () => Effect.Effect<unknown, unknown> | PromiseLike<unknown> | void
  /** Runs when a session starts; Transform changes its first messages. */
  readonly onSessionStart?: HookMethod<"onSessionStart", R>
  /** Runs when a session ends, for any reason. */
  readonly onSessionEnd?: HookMethod<"onSessionEnd", R>
  /** Runs when a user message arrives, before it is stored or sent. */
  readonly preTurn?: HookMethod<"preTurn", R>
  /** Runs when the turn has its output, before anybody sees it. */
  readonly postTurn?: HookMethod<"postTurn", R>
  /** Runs when the turn failed; Replace recovers it. */
  readonly onTurnError?: HookMethod<"onTurnError", R>
  /** Runs before the model is called. */
  readonly preLlmCall?: HookMethod<"preLlmCall", R>
  /** Runs for each piece of a streamed answer, before anybody sees it. */
  readonly onLlmDelta?: HookMethod<"onLlmDelta", R>
  /** Runs when the model has answered, before the answer is used. */
  readonly postLlmCall?: HookMethod<"postLlmCall", R>
  /** Runs when the model call failed, to decide whether to retry, fall back or fail. */
  readonly onLlmError?: HookMethod<"onLlmError", R>
  /** Runs before a tool runs, after the policy has allowed the call. */
  readonly preToolCall?: HookMethod<"preToolCall", R>
  /** Runs after a tool call, whether it succeeded or failed. */
  readonly postToolCall?: HookMethod<"postToolCall", R>
  /** Runs when the policy asks for a decision about a tool call. */
  readonly onPermission?: HookMethod<"onPermission", R>
  /** Runs when a tool call was denied. */
  readonly onToolDenied?: HookMethod<"onToolDenied", R>
  /** Runs when the model has answered and its tools have run; Transform rewrites the history. */
  readonly postStep?: HookMethod<"postStep", R>
  /** Runs when the agent is about to stop. `ctx.followUp` keeps it going; Transform rewrites the history. */
  readonly preStop?: HookMethod<"preStop", R>
  /** Runs before a sub-agent starts. */
  readonly preDelegation?: HookMethod<"preDelegation", R>
  /** Runs when a sub-agent has ended. */
  readonly postDelegation?: HookMethod<"postDelegation", R>
  /** Runs before the history is compacted. */
  readonly preCompaction?: HookMethod<"preCompaction", R>
  /** Runs when the history was compacted. */
  readonly postCompaction?: HookMethod<"postCompaction", R>
  /** Runs when a budget is nearly or fully used up. */
  readonly onBudget?: HookMethod<"onBudget", R>
  /** Runs when the host program reports that something happened. */
  readonly onSignal?: HookMethod<"onSignal", R>
  /** Wraps every LLM call. The hook with the lowest priority number is outermost. */
  readonly wrapLlmCall?: WrapMethod<LlmRequest, LlmResponse, R>
  /** Wraps every execution of a tool. The hook with the lowest priority number is outermost. */
  readonly wrapToolCall?: WrapMethod<PreToolCallEvent, ToolResult, R>
  /**
   * Changes messages that come from memory or that a session starts with, before they are added to the conversation. If
   * it fails, those messages are left out.
   */
  readonly concealMessages?: (messages: ReadonlyArray<Message>, ctx: HookContext) => ReadonlyArray<Message>
  /**
   * Changes the text of a result for the user only. The changed text is neither stored nor sent in events. If the agent
   * has an `output`, this method is called for every string of the answer.
   */
  readonly revealText?: (text: string, ctx: HookContext) => string
}

/** A hook with any requirements. @category type-level @since 0.1.0 */
// oxlint-disable-next-line typescript/no-explicit-any -- the requirements are inferred from the hook
export type AnyHook = AgentHook<any>

/** The services that the methods of `H` require. @category type-level @since 0.1.0 */
export type ServicesOf<H> = {
  [K in keyof H & Method]: NonNullable<H[K]> extends (...args: never) => infer Return ? Requires<Return> : never
}[keyof H & Method]

type Method = HookPointName | "wrapLlmCall" | "wrapToolCall"

type Requires<A> = A extends Effect.Effect<infer _A, infer _E, infer R> ? R
  : A extends Generator<Effect.Effect<infer _B, infer _F, infer R>, infer _C, infer _D> ? R
  : never

/**
 * An object type, because a string type would intersect with a misspelt `false` member to `never` and hide the message.
 */
interface Misspelling<Message extends string> {
  readonly "~misspelt": Message
}

type Misspelt<H> = {
  readonly [K in Exclude<keyof H, keyof AgentHook>]: Misspelling<`unknown hook method or option '${K & string}'`>
}

/** The arguments that hooks see of a tool. Those of a name or a pattern are JSON. */
type ShownArgs<F> = F extends ToolRef<string, infer Shown> ? Shown : Json

/** The literal name of a tool. */
type NameOf<F> = F extends ToolRef<infer Name> ? Name : string

type WithArgs<Call, F> = Omit<Call, "args" | "name"> & { readonly name: NameOf<F>; readonly args: ShownArgs<F> }

/** A call of the tool as the action of a hook changes it. */
type PreReturn<F, R> = HookReturnOf<
  | Exclude<ActionAt<"preToolCall">, { readonly _tag: "Transform" | "Replace" }>
  | HookAction.Transform<F extends unknown ? WithArgs<ToolCall, F> : never>
  | HookAction.Replace<F extends unknown ? WithArgs<ToolCall, F> : never>,
  R
>

// One event for each tool, told apart by the name of the tool.
type PreOf<F> = F extends unknown ? WithArgs<PreToolCallEvent, F> : never
type AboutCall<Event extends { readonly call: ToolCall }, F> = F extends unknown
  ? Omit<Event, "call"> & { readonly call: WithArgs<ToolCall, F> }
  : never

/** A hook whose events at the tool points have the arguments of its tools. */
interface HookFor<F, R> extends Omit<AgentHook<R>, ToolMethod | "tools"> {
  readonly preToolCall?: (event: PreOf<F>, ctx: HookContext) => PreReturn<F, R>
  readonly postToolCall?: (event: AboutCall<PostToolCallEvent, F>, ctx: HookContext) => HookReturn<"postToolCall", R>
  readonly onPermission?: (event: AboutCall<OnPermissionEvent, F>, ctx: HookContext) => HookReturn<"onPermission", R>
  readonly onToolDenied?: (event: AboutCall<OnToolDeniedEvent, F>, ctx: HookContext) => HookReturn<"onToolDenied", R>
}

type ToolMethod = "preToolCall" | "postToolCall" | "onPermission" | "onToolDenied"

/**
 * Returns the hook it is given, typed. The parameters of the methods are inferred, misspelt names are compile errors,
 * and so are the services that its Effects require. With tools in `tools`, the events at the tool points have the types
 * of their arguments, as hooks see them: encoded, with the defaults. A list gives a union, told apart by `name`.
 *
 * @example
 * ```ts
 * import { defineHook } from "@belay/core/AgentHook"
 * import * as HookAction from "@belay/core/HookAction"
 *
 * const noFridays = defineHook({
 *   name: "no-friday-deploys",
 *   tools: "deploy",
 *   preToolCall: () => new Date().getDay() === 5 ? HookAction.reject("not on Fridays") : undefined
 * })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const defineHook = <
  const F extends ToolFilter = string,
  // oxlint-disable-next-line typescript/no-explicit-any -- the requirements are inferred from the hook
  const H extends HookFor<F, any> = HookFor<F, any>
>(
  hook: H & { readonly tools?: F | ReadonlyArray<F> } & Misspelt<H>
  // The value is unchanged; only its type lists the services that its methods require.
): AgentHook<ServicesOf<H>> => hook as never
