/**
 * The configuration of an agent.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type { LlmParameters } from "../data/LlmCall.ts"
import type { Decision, PendingAsk } from "../data/RunState.ts"
import type { ArgumentChange } from "../data/tool/Tool.ts"
import type { ApprovalConfig } from "../guard/Approvals.ts"
import type { HookSource } from "../guard/HookSource.ts"
import type { LogLine } from "../guard/internal/platform/logging.ts"
import type { AgentHook } from "../hook/AgentHook.ts"
import type { AskOptions } from "../hook/HookAction.ts"
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
import type { AnyTool } from "./defineTool.ts"
import type { Limits } from "./Limits.ts"
import type { Output } from "./Output.ts"
import type { Plugin } from "./Plugin.ts"

/** The size of the model's window, and when to compact the conversation. @category models @since 0.1.0 */
export interface WindowConfig {
  /** How many tokens fit into the window. */
  readonly tokens: number
  /** Compacts when the request reaches this fraction of the window. Default 0.8. */
  readonly compactAt?: number
  /** Compacts when there are more messages than this. Default: no limit. */
  readonly maxMessages?: number
  /** How many recent messages to keep. Default 20. */
  readonly keepRecent?: number
}

export type { LogLine }

export type { ArgumentChange }

/** The options of an agent. @category models @since 0.1.0 */
export interface AgentConfig<R = never> {
  /** Default `agent`. */
  readonly name?: string
  /** The model. In a list, the first provider is used and the others are its backups, in order. */
  readonly provider: LlmProvider | readonly [LlmProvider, ...ReadonlyArray<LlmProvider>]
  /**
   * Side models, by name: `ctx.llm({ model: "judge", ... })` of a hook calls the one with that name. They are not part
   * of the fallback chain, so they never answer the user. Sub-agents can use them too, unless they have their own with
   * the same name.
   */
  readonly models?: { readonly [name: string]: LlmProvider }
  /** The system prompt. */
  readonly instructions?: string
  readonly model?: string
  readonly parameters?: LlmParameters
  /** The schema of the answer. The result has the decoded answer as `object`. */
  readonly output?: Output
  readonly tools?: ReadonlyArray<AnyTool>
  readonly hooks?: ReadonlyArray<AgentHook<R>>
  /**
   * Sources of more hooks, loaded when the agent is made. `hookSource()` of `@belay/hooks` loads the hooks of hook
   * files.
   */
  readonly hookSources?: ReadonlyArray<HookSource>
  readonly plugins?: ReadonlyArray<Plugin<R>>
  readonly policy?: RuntimePolicy
  readonly memory?: MemoryPlugin
  /** The core, which decides how a turn runs. Default: the tool loop. */
  readonly core?: AgentCore
  readonly limits?: Partial<Limits>
  /** The model's window. Without it, compaction happens only when the provider reports an overflow. */
  readonly window?: WindowConfig
  readonly compactor?: Compactor
  /**
   * Estimates tokens. Default: the tokenizer of the first provider, or else four characters per token. When the vendor
   * reports numbers, those are used.
   */
  readonly tokenizer?: Tokenizer
  /** Stores sessions outside the process. Default: sessions are lost when the process ends. */
  readonly store?: SessionStore
  /** Where to store artifacts. Default: in the session store, or in memory if there is none. */
  readonly artifacts?: ArtifactStore
  /** Sends the requests of `ctx.http`. Default: none, and `ctx.http` fails. */
  readonly http?: HttpClient
  /** Calls the servers of `ctx.mcp`. Default: none, and `ctx.mcp` fails. */
  readonly mcp?: McpAccessor
  /**
   * Answers questions to people in this process, such as `TerminalApproval.ask()` of `@belay/hooks`. Without it, a
   * question suspends the run, unless the hook that asks can answer it.
   */
  readonly onAsk?: (
    ask: PendingAsk,
    options: AskOptions
  ) => Decision | PromiseLike<Decision> | Effect.Effect<Decision, unknown>
  /**
   * Writes the note that the model reads with the result of a call whose arguments a hook or a person changed. Returns
   * the text, or nothing to leave the note out. Default: an English sentence that names the tool and who changed it.
   */
  readonly changeNote?: (change: ArgumentChange) => string | undefined
  /** The keys for signed decisions, and the store of remembered approvals. */
  readonly approvals?: ApprovalConfig
  /**
   * When to stop calling a failing provider, if there are backups. After this many failures in a row (overload, rate
   * limit, server, connection, timeout, malformed), it is not called during the cooldown. After that, a single call
   * tries it. Default: 5 failures, 30 seconds.
   */
  readonly breaker?: { readonly failures?: number; readonly cooldownMs?: number }
  /**
   * What happens when a model fails after a part of its text was streamed: start again after a `retract` event, or
   * fail. Default `restart`.
   */
  readonly streamMode?: "restart" | "beforeFirstToken"
  /** Whether to deep-freeze the values that hooks receive. Default: true unless NODE_ENV is `production`. */
  readonly freeze?: boolean
  /** Whether results contain all decision records. Default false. */
  readonly records?: boolean
  /**
   * Receives the log lines of the agent: warnings about the configuration, failed hooks, failed memory. `false`
   * silences them. Default: standard error; in an Effect program, the loggers of the program. An error that it throws
   * is ignored.
   */
  readonly log?: false | ((line: LogLine) => void)
  readonly cwd?: string
  readonly info?: AgentInfo
}
