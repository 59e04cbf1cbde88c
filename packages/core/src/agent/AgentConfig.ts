/**
 * The configuration of an agent.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type { LlmParameters } from "../data/LlmCall.ts"
import type { Decision, PendingAsk } from "../data/RunState.ts"
import type { AgentHook } from "../hook/AgentHook.ts"
import type { AgentInfo } from "../hook/HookContext.ts"
import type { ArtifactStore } from "../port/ArtifactStore.ts"
import type { Compactor } from "../port/Compactor.ts"
import type { HttpClient } from "../port/HttpClient.ts"
import type { LlmProvider } from "../port/LlmProvider.ts"
import type { McpAccessor } from "../port/McpAccessor.ts"
import type { MemoryPlugin } from "../port/MemoryPlugin.ts"
import type { RuntimePolicy } from "../port/RuntimePolicy.ts"
import type { SessionStore } from "../port/SessionStore.ts"
import type { Tokenizer } from "../port/Tokenizer.ts"
import type { AgentCore } from "./AgentCore.ts"
import type { ApprovalConfig } from "./Approvals.ts"
import type { AnyTool } from "./defineTool.ts"
import type { HookSource } from "./HookSource.ts"
import type { Limits } from "./Limits.ts"
import type { Output } from "./Output.ts"
import type { Plugin } from "./Plugin.ts"

/** The model's window and when to make room in it. @category models @since 0.1.0 */
export interface WindowConfig {
  /** Tokens the model can read. */
  readonly tokens: number
  /** Compact when the request reaches this fraction of the window. Default 0.8. */
  readonly compactAt?: number
  /** Compact when there are more messages than this. */
  readonly maxMessages?: number
  /** Recent messages to keep. Default 20. */
  readonly keepRecent?: number
}

/** @category models @since 0.1.0 */
export interface AgentConfig<R = never> {
  /** Default `agent`. */
  readonly name?: string
  /** The model; a list is the first choice and its backups, in order. */
  readonly provider: LlmProvider | readonly [LlmProvider, ...ReadonlyArray<LlmProvider>]
  /** The system prompt. */
  readonly instructions?: string
  readonly model?: string
  readonly parameters?: LlmParameters
  /** The schema of the answer. The decoded answer is the `object` of the result. */
  readonly output?: Output
  readonly tools?: ReadonlyArray<AnyTool>
  readonly hooks?: ReadonlyArray<AgentHook<R>>
  /** More hooks, read when the agent is made: `hookSource()` of `@belay/hooks` finds those of hook files. */
  readonly hookSources?: ReadonlyArray<HookSource>
  readonly plugins?: ReadonlyArray<Plugin<R>>
  readonly policy?: RuntimePolicy
  readonly memory?: MemoryPlugin
  /** The turn strategy. Default: the tool loop. */
  readonly core?: AgentCore
  readonly limits?: Partial<Limits>
  /** Without it the window is unknown: compaction happens only when the provider reports an overflow. */
  readonly window?: WindowConfig
  readonly compactor?: Compactor
  /**
   * Default: the first provider's, otherwise four characters a token. The vendor's own figures are used where it
   * reports them.
   */
  readonly tokenizer?: Tokenizer
  /** Keeps sessions outside the process. */
  readonly store?: SessionStore
  /** Where artifacts are. Default: with the sessions, else in memory. */
  readonly artifacts?: ArtifactStore
  /** Sends the requests of `ctx.http`. Default: none, and `ctx.http` fails. */
  readonly http?: HttpClient
  /** Calls the servers of `ctx.mcp`. Default: none, and `ctx.mcp` fails. */
  readonly mcp?: McpAccessor
  /**
   * Answers questions to people in this process. Without it a question suspends the run, unless the hook that asks can
   * answer it.
   */
  readonly onAsk?: (
    ask: PendingAsk,
    options: { readonly signal: AbortSignal }
  ) => Decision | PromiseLike<Decision> | Effect.Effect<Decision, unknown>
  /** Keys for signed decisions, and the store of remembered approvals. */
  readonly approvals?: ApprovalConfig
  /**
   * With backups: a provider that failed this many times in a row (overload, rate limit, server, connection, timeout,
   * malformed) is not asked during the cooldown; then one call tries it. Default 5 failures, 30 seconds.
   */
  readonly breaker?: { readonly failures?: number; readonly cooldownMs?: number }
  /**
   * What happens when a model fails after some of its text was streamed: start over after a `retract` event, or fail.
   * Default `restart`.
   */
  readonly streamMode?: "restart" | "beforeFirstToken"
  /** Deep-freezes what hooks receive. Default: unless NODE_ENV is `production`. */
  readonly freeze?: boolean
  /** Keeps every decision record in the result. Default false. */
  readonly records?: boolean
  readonly cwd?: string
  readonly info?: AgentInfo
}
