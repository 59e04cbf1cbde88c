/**
 * What a driver and the guard of a session say to each other. A driver is what has the loop: another SDK, a
 * command-line agent, or a loop of your own.
 *
 * @since 0.2.0
 */
import type { AgentError } from "../data/AgentError.ts"
import type { AgentEvent } from "../data/AgentEvent.ts"
import type { CompactionRequest, PostCompactionEvent } from "../data/Compaction.ts"
import type { Delegation, PostDelegationEvent } from "../data/Delegation.ts"
import type { Awaitable } from "../data/effect/Awaitable.ts"
import type { Json, JsonObject } from "../data/Json.ts"
import type { LlmDelta, LlmRequest, LlmResponse } from "../data/LlmCall.ts"
import type { Message } from "../data/Message.ts"
import type { Decision, PendingAsk } from "../data/RunState.ts"
import type { OnSessionEndEvent } from "../data/SessionEvent.ts"
import type { InputSchema } from "../data/tool/InputSchema.ts"
import type { ArgumentChange, ToolResult } from "../data/tool/Tool.ts"
import type { TurnInput } from "../data/Turn.ts"
import type { AgentHook } from "../hook/AgentHook.ts"
import type { AskOptions } from "../hook/HookAction.ts"
import type { HookChain } from "../hook/HookChain.ts"
import type { Capabilities } from "../hook/HookContext.ts"
import type { HookState } from "../hook/HookState.ts"
import type { ArtifactStore } from "../port/ArtifactStore.ts"
import type { HttpClient } from "../port/HttpClient.ts"
import type { McpAccessor } from "../port/McpAccessor.ts"
import type { RuntimePolicy } from "../port/RuntimePolicy.ts"
import type { SessionStore } from "../port/SessionStore.ts"
import type { ApprovalConfig } from "./Approvals.ts"
import type { HookSource } from "./HookSource.ts"
import type { LogLine } from "./internal/platform/logging.ts"
import type {
  CompactionVerdict,
  DelegationResultVerdict,
  DelegationVerdict,
  ModelAnswerVerdict,
  ModelDeltaVerdict,
  ModelRequestVerdict,
  StopVerdict,
  ToolCallVerdict,
  ToolResultVerdict,
  UserMessageVerdict
} from "./Verdict.ts"

/** A tool of the driver. What is absent counts as unknown. @category models @since 0.2.0 */
export interface GuardedTool {
  readonly name: string
  /** Default: empty. */
  readonly description?: string
  /** The JSON Schema of the arguments. Default: any object. */
  readonly inputSchema?: JsonObject
  /**
   * The schema with which the tool reads its arguments. With it, arguments are checked, and hooks and people see them
   * with their defaults. Without it, the driver checks them.
   */
  readonly input?: InputSchema
  readonly readOnly?: boolean
  readonly destructive?: boolean
  readonly idempotent?: boolean
  readonly openWorld?: boolean
}

/** The options of a guard. @category models @since 0.2.0 */
export interface GuardOptions {
  readonly hooks?: ReadonlyArray<AgentHook>
  /** Sources of more hooks, such as hook files. */
  readonly hookSources?: ReadonlyArray<HookSource>
  readonly policy?: RuntimePolicy
  /** The tools of the driver, with what is known about them. A call of another tool may bring its own description. */
  readonly tools?: ReadonlyArray<GuardedTool>
  /** What drives the session: `ctx.coreType` of the hooks. Default `guard`. */
  readonly driver?: string
  /**
   * Whether the driver passes every request to the model through `modelRequest` or `callModel`, which then add the
   * texts that hooks inject. Otherwise each verdict has them as its `context`. Default true.
   */
  readonly seesRequests?: boolean
  /** Answers questions to people in this process. Without it, a question is a verdict, and `decide` answers it. */
  readonly onAsk?: (ask: PendingAsk, options: AskOptions) => Decision | PromiseLike<Decision>
  /** The note for the model about changed arguments. See `changeNote` of `AgentConfig`. */
  readonly changeNote?: (change: ArgumentChange) => string | undefined
  /** The keys for signed decisions, and the store of remembered approvals. */
  readonly approvals?: ApprovalConfig
  /** Where to keep sessions, so that another process can continue them. Default: in this process only. */
  readonly store?: SessionStore
  /** Default: those of the store, or in memory. */
  readonly artifacts?: ArtifactStore
  readonly http?: HttpClient
  readonly mcp?: McpAccessor
  /** Answers `ctx.llm` of the hooks. Default: none, and `ctx.llm` fails. */
  readonly llm?: Capabilities["llm"]
  /** Whether to write decision records, which listeners and the store receive. Default false. */
  readonly records?: boolean
  /** How often `preStop` hooks may keep a turn going. Default 8. */
  readonly followUps?: number
  /** Where warnings go. Default: standard error. */
  readonly log?: false | ((line: LogLine) => void)
  /** Whether to deep-freeze the values that hooks receive. Default: true unless NODE_ENV is `production`. */
  readonly freeze?: boolean
  /** Default: the working folder. */
  readonly cwd?: string
}

/** The options of one session. @category models @since 0.2.0 */
export interface GuardSessionOptions {
  /** Default: a random id. In a store, the session with this id continues. */
  readonly id?: string
  /** What drives this session: `ctx.coreType` of the hooks. Default: that of the guard. */
  readonly driver?: string
  /** As `seesRequests` of the guard, for this session. Default: that of the guard. */
  readonly seesRequests?: boolean
  /** The name of the agent. Default `agent`. */
  readonly agent?: string
  /** The session of the agent that started this one. Both share their state, questions and limits. */
  readonly parent?: GuardSession
  /** The tool call with which it did. */
  readonly parentCall?: string
  readonly cwd?: string
}

/** A tool call that a driver is about to make. @category models @since 0.2.0 */
export interface GivenCall {
  /** Identifies the call within the session until it is done. */
  readonly id: string
  readonly name: string
  /** Default: `{}`. */
  readonly args?: Json
  /** What is known about the tool, if it is not one of `tools`. */
  readonly tool?: Omit<GuardedTool, "name" | "input">
}

/** An answer of the model. @category models @since 0.2.0 */
export interface GivenAnswer {
  readonly response: LlmResponse
  /** The request that was answered. Default: the last one that `modelRequest` allowed. */
  readonly request?: LlmRequest
  /** The name of the vendor. Default `model`. */
  readonly provider?: string
}

/** A call whose tool has run. Its name and arguments are needed only if `toolCall` has not seen it. */
export type FinishedCall = Pick<GivenCall, "id"> & Partial<Omit<GivenCall, "id">> & {
  /** How long the tool ran, in milliseconds. Default: since the verdict. */
  readonly elapsedMs?: number
}

/** The end of a turn. @category models @since 0.2.0 */
export interface GivenEnd {
  /** The answer for the user. */
  readonly text: string
  /** The conversation, for hooks that read it. Default: none. */
  readonly messages?: ReadonlyArray<Message>
}

/**
 * The guard of one conversation. Every method returns a verdict, as an Effect that can be awaited. It fails only if the
 * guard itself cannot work, for example because its store does; the driver must then not go on.
 *
 * @category models
 * @since 0.2.0
 */
export interface GuardSession {
  readonly id: string
  /**
   * The state that hooks share (`ctx.state`), with the hooks of all agents of the tree. After each call of this session
   * it is up to date.
   */
  readonly state: HookState
  /** A message of the user, which begins a turn. Questions of an earlier turn that nobody answered are denied. */
  readonly userMessage: (input: string | TurnInput) => Awaitable<UserMessageVerdict, AgentError>
  /** Before the model is asked. */
  readonly modelRequest: (request: LlmRequest) => Awaitable<ModelRequestVerdict, AgentError>
  /** After the model has answered, before any of its tools run. */
  readonly modelAnswer: (answer: GivenAnswer) => Awaitable<ModelAnswerVerdict, AgentError>
  /** A piece of a streamed answer, before anybody sees it. */
  readonly modelDelta: (delta: LlmDelta) => Awaitable<ModelDeltaVerdict, AgentError>
  /**
   * Asks the model inside the hooks: `modelRequest`, the hooks that wrap model calls, `call`, then `modelAnswer`. If
   * `call` rejects, this rejects with the same error.
   */
  readonly callModel: (
    request: LlmRequest,
    call: (request: LlmRequest) => PromiseLike<LlmResponse>
  ) => Awaitable<Exclude<ModelAnswerVerdict, { readonly type: "again" }>, AgentError>
  /** Before a tool runs. Asking about the same call again gives the same verdict, or that after a person's decision. */
  readonly toolCall: (call: GivenCall) => Awaitable<ToolCallVerdict, AgentError>
  /** After a tool has run, before the model reads the result. */
  readonly toolResult: (call: FinishedCall, result: ToolResult) => Awaitable<ToolResultVerdict, AgentError>
  /**
   * Runs a tool inside the hooks: `toolCall`, the hooks that wrap tools, `run`, then `toolResult`. If `run` rejects,
   * the message of the error is the result. With `ToolWaits`, the call stays open.
   */
  readonly callTool: (
    call: GivenCall,
    run: (args: Json) => PromiseLike<Json> | Json
  ) => Awaitable<Exclude<ToolCallVerdict, { readonly type: "allow" | "respond" }> | ToolResultVerdict, AgentError>
  /**
   * Answers the question about a call. Returns the verdict that follows: the call may run, or is asked about again
   * because more people have to approve. Fails with a `SnapshotError` if the decision does not count.
   */
  readonly decide: (callId: string, decision: Decision) => Awaitable<ToolCallVerdict, AgentError>
  /** The open questions of this session and those below it. */
  readonly pending: () => Awaitable<ReadonlyArray<PendingAsk>, AgentError>
  /** Before another agent starts to work for this one. */
  readonly delegation: (delegation: Delegation) => Awaitable<DelegationVerdict, AgentError>
  /** After it has answered. */
  readonly delegationResult: (ended: PostDelegationEvent) => Awaitable<DelegationResultVerdict, AgentError>
  /** Before the driver shortens the conversation. */
  readonly compaction: (request: CompactionRequest) => Awaitable<CompactionVerdict, AgentError>
  /** After it has. */
  readonly compacted: (event: PostCompactionEvent) => Awaitable<void, AgentError>
  /** Before the turn ends with this answer. */
  readonly beforeStop: (end: GivenEnd) => Awaitable<StopVerdict, AgentError>
  /** The session has ended. Default reason `done`. */
  readonly end: (reason?: OnSessionEndEvent["reason"]) => Awaitable<void, AgentError>
}

/** The hooks of a driver, from which sessions are made. @category models @since 0.2.0 */
export interface SessionGuard {
  readonly chain: HookChain
  /** What the guard warns about: problems of hook sources and of the order of hooks. */
  readonly warnings: ReadonlyArray<string>
  readonly session: (options?: GuardSessionOptions) => GuardSession
  /** Adds a listener for events of all sessions, or for some types of them. The returned function removes it. */
  readonly listen: (listener: (event: AgentEvent) => unknown, types?: ReadonlyArray<AgentEvent["type"]>) => () => void
}
