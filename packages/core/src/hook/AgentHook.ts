/**
 * The trait: a hook is a plain object with any of these methods. A method gets the event of its point and a context. It
 * may answer with an action (nothing means Continue): directly, as a promise, as an Effect, or as a generator of
 * Effects.
 *
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type { LlmRequest, LlmResponse } from "../data/LlmCall.ts"
import type { Message } from "../data/Message.ts"
import type { ProviderError } from "../data/ProviderError.ts"
import type { PreToolCallEvent, ToolResult } from "../data/Tool.ts"
import type { HookContext } from "./HookContext.ts"
import type { ActionAt, HookPointName, In } from "./HookPoint.ts"

/** What a method at point `P` may return. @category models @since 0.1.0 */
export type HookReturn<P extends HookPointName, R> =
  | ActionAt<P>
  | void
  | PromiseLike<ActionAt<P> | void>
  | Effect.Effect<ActionAt<P> | void, unknown, R>
  | Generator<Effect.Effect<unknown, unknown, R>, ActionAt<P> | void, never>

/** A method at point `P`. @category models @since 0.1.0 */
export type HookMethod<P extends HookPointName, R = never> = (event: In<P>, ctx: HookContext) => HookReturn<P, R>

/**
 * What to do when a hook breaks: continue without it, reject the operation, or end the turn.
 *
 * @category models
 * @since 0.1.0
 */
export type FailurePolicy = "open" | "reject" | "abort"

/** Name, place and failure policy of a hook. @category models @since 0.1.0 */
export interface HookOptions {
  /** Unique in a chain. */
  readonly name: string
  /** Lower runs first at forward points. Default 100. */
  readonly priority?: number
  /** Managed hooks come before project hooks, those before agent hooks. Default `project`. */
  readonly tier?: "managed" | "project" | "agent"
  /** Names of hooks that must come after (`before`) or before (`after`) this one at forward points. */
  readonly before?: ReadonlyArray<string>
  readonly after?: ReadonlyArray<string>
  /** Replaces an earlier hook of the same name instead of clashing with it. */
  readonly override?: boolean
  /** Default true, false for kind `policy`: a broken hook does not break the agent. */
  readonly failOpen?: boolean
  /** Finer than `failOpen` (false means `reject`). */
  readonly onFailure?: FailurePolicy
  /** Default: as `onFailure`. */
  readonly onTimeout?: FailurePolicy
  /** How long to wait for an answer. Default 30 seconds. */
  readonly timeout?: Duration.Input | "none"
  /**
   * `policy` is fail-closed; an `observer` always runs, last, sees the outcome and cannot change it. Default
   * `advisory`.
   */
  readonly kind?: "policy" | "advisory" | "observer"
  /**
   * Points at which the hook only observes, although it decides at others: there it always runs, and cannot change
   * anything.
   */
  readonly observes?: ReadonlyArray<HookPointName>
  /** A `shadow` hook is recorded, but its decisions have no effect. */
  readonly mode?: "enforce" | "shadow"
  /** At tool points: only for these tools. `*` stands for any characters, a leading `!` excludes. */
  readonly tools?: string | ReadonlyArray<string>
  /**
   * How much streamed text to buffer before the consumer sees it: none, everything until the response has passed the
   * hooks, or the last `chars` characters (the hook then sees every pattern up to that length whole, however the text
   * is cut).
   */
  readonly hold?: "none" | "untilPass" | { readonly chars: number }
  /**
   * For hooks that handle secrets. Records have no content of its changes, and its `wrapToolCall` may call the tool
   * with other arguments than the approved ones (a secret in place of its placeholder); the tool's schema decodes them
   * again. Its wrapper is innermost: other wrappers see neither those arguments nor the original result. At points in
   * reverse order it runs first.
   */
  readonly confidential?: boolean
  /**
   * Also runs for the model and tool calls that hooks make (`ctx.llm`, `ctx.callTool`). Other hooks do not see those
   * calls. For budgets and audits. There, the hook cannot make calls itself.
   */
  readonly allowReentry?: boolean
  /** `ifChanged`: the hook is called again when a later hook changed the value it had answered for. Default `never`. */
  readonly reinvoke?: "never" | "ifChanged"
}

/**
 * The act itself, for hooks that surround it. `promise` is the same for async functions.
 *
 * @category models
 * @since 0.1.0
 */
export interface Next<in Input, out Output> {
  (input: Input): Effect.Effect<Output, ProviderError>
  readonly promise: (input: Input) => Promise<Output>
}

/**
 * A method that surrounds an act: cache, retry, timing. Use it only for what pre and post hooks cannot do. It rejects
 * the act by failing with `HookAction.reject(...)`, and ends the turn by failing with `HookAction.abort(...)`.
 *
 * @category models
 * @since 0.1.0
 */
export type WrapMethod<Input, Output, R> = (
  input: Input,
  next: Next<Input, Output>,
  ctx: HookContext
) => Effect.Effect<Output, unknown, R> | PromiseLike<Output>

/** A hook. Implement the points you care about. @category models @since 0.1.0 */
export interface AgentHook<out R = never> extends HookOptions {
  /** Called once after all sessions have closed. Must finish within 30 seconds; errors are logged. */
  readonly close?: () => Effect.Effect<unknown, unknown> | PromiseLike<unknown> | void
  /** A session begins; Transform changes what it begins with. */
  readonly onSessionStart?: HookMethod<"onSessionStart", R>
  /** A session ends, for whatever reason. */
  readonly onSessionEnd?: HookMethod<"onSessionEnd", R>
  /** The user spoke; nothing is stored or sent yet. */
  readonly preTurn?: HookMethod<"preTurn", R>
  /** The turn has its output; nobody has seen it yet. */
  readonly postTurn?: HookMethod<"postTurn", R>
  /** The turn failed; Replace recovers it. */
  readonly onTurnError?: HookMethod<"onTurnError", R>
  /** The model is about to be asked. */
  readonly preLlmCall?: HookMethod<"preLlmCall", R>
  /** A piece of a streamed answer arrived; nobody has seen it yet. */
  readonly onLlmDelta?: HookMethod<"onLlmDelta", R>
  /** The model answered; nothing was done about it yet. */
  readonly postLlmCall?: HookMethod<"postLlmCall", R>
  /** The model call failed: retry, fall back or fail. */
  readonly onLlmError?: HookMethod<"onLlmError", R>
  /** A tool is about to run, within the policy's grant. */
  readonly preToolCall?: HookMethod<"preToolCall", R>
  /** A tool ended, well or badly. */
  readonly postToolCall?: HookMethod<"postToolCall", R>
  /** The policy wants somebody to decide about a tool call. */
  readonly onPermission?: HookMethod<"onPermission", R>
  /** A tool call was denied. */
  readonly onToolDenied?: HookMethod<"onToolDenied", R>
  /** The model answered and its tools ran; Transform rewrites the history. */
  readonly postStep?: HookMethod<"postStep", R>
  /** The agent wants to stop; `ctx.followUp` keeps it going, Transform rewrites the history. */
  readonly preStop?: HookMethod<"preStop", R>
  /** A sub-agent is about to start. */
  readonly preDelegation?: HookMethod<"preDelegation", R>
  /** A sub-agent ended. */
  readonly postDelegation?: HookMethod<"postDelegation", R>
  /** The history is about to be compacted. */
  readonly preCompaction?: HookMethod<"preCompaction", R>
  /** The history was compacted. */
  readonly postCompaction?: HookMethod<"postCompaction", R>
  /** A budget is nearly or fully used up. */
  readonly onBudget?: HookMethod<"onBudget", R>
  /** Something happened in the host. */
  readonly onSignal?: HookMethod<"onSignal", R>
  /** Surrounds every LLM call; the lowest priority number is outermost. */
  readonly wrapLlmCall?: WrapMethod<LlmRequest, LlmResponse, R>
  /** Surrounds every execution of a tool; the lowest priority number is outermost. */
  readonly wrapToolCall?: WrapMethod<PreToolCallEvent, ToolResult, R>
  /**
   * Changes messages from memory or from a session's start before they are added to the conversation. When it fails,
   * the messages are left out.
   */
  readonly concealMessages?: (messages: ReadonlyArray<Message>, ctx: HookContext) => ReadonlyArray<Message>
  /**
   * Changes the text of a result for the user only: it is neither stored nor sent in events. Where the agent has an
   * `output`, it gets every string of the answer.
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

/** An object type: a text would make one with a misspelt `false` impossible, and the message with it. */
interface Misspelling<Message extends string> {
  readonly "~misspelt": Message
}

type Misspelt<H> = {
  readonly [K in Exclude<keyof H, keyof AgentHook>]: Misspelling<`unknown hook method or option '${K & string}'`>
}

/**
 * Types a hook: methods get their parameters, misspelt names are errors, and the services its Effects need are
 * inferred.
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
// The same object: `ServicesOf` reads from its type what its methods require.
export const defineHook = <const H extends AnyHook>(hook: H & Misspelt<H>): AgentHook<ServicesOf<H>> => hook as never
