/**
 * The context: the second argument of every hook method. It describes the turn and has the capabilities that hooks can
 * use. Every capability that takes time returns an `Awaitable`: `yield*` it in a generator, `await` it in an async
 * function. One scope is built per turn, and each hook's context is a thin view of it.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type { AgentError, PortFailed } from "../data/AgentError.ts"
import type { Artifact } from "../data/Artifact.ts"
import type { BudgetLevel } from "../data/Compaction.ts"
import type { Awaitable } from "../data/effect/Awaitable.ts"
import type { HttpRequest, HttpResponse } from "../data/Http.ts"
import type { Json, JsonObject } from "../data/Json.ts"
import type { LlmResponse } from "../data/LlmCall.ts"
import type { SideRequest } from "../data/SideRequest.ts"
import type { ArgsOf, InputSchema } from "../data/tool/InputSchema.ts"
import type { McpResult, McpTool } from "../data/tool/Mcp.ts"
import type { ToolMeta, ToolResult } from "../data/tool/Tool.ts"
import type { Abort } from "./HookAction.ts"
import type { HookFailure, HookRecord } from "./HookRecord.ts"
import type * as HookState from "./HookState.ts"

export type { SideRequest }

/** The agent a hook runs for. @category models @since 0.1.0 */
export interface AgentInfo {
  readonly name: string
  /** 0 for the agent that the host started, 1 for its sub-agents, and so on. */
  readonly depth: number
  readonly invokedBy: "main" | "subagent"
}

/** Options of injected text. @category models @since 0.1.0 */
export interface InjectOptions {
  /**
   * With `mode: "overwrite"`, an injection replaces the earlier one with the same key. With `"append"`, the default,
   * both are kept.
   */
  readonly key?: string
  readonly mode?: "append" | "overwrite"
  /** Whether the text survives compaction. Default false. */
  readonly pinned?: boolean
}

/** The decision of the chain, for observers. @category models @since 0.1.0 */
export interface ObservedOutcome {
  readonly action: HookRecord["action"]
  readonly reason?: string
  readonly decidedBy?: string
  /** The hooks that failed and without which the chain continued. Absent if none did. */
  readonly failedOpen?: ReadonlyArray<string>
}

/** The second argument of every hook method. @category models @since 0.1.0 */
export interface HookContext {
  /** The hook's own name in this chain. */
  readonly hook: string
  readonly sessionId: string
  /** The number of user messages so far in this session; 0 outside of a turn. */
  readonly turnNumber: number
  /** The number of LLM calls so far in this turn; 0 before the first. */
  readonly stepNumber: number
  readonly coreType: string
  readonly agent: AgentInfo
  readonly cwd: string
  /** Aborts when the turn is cancelled. */
  readonly signal: AbortSignal
  readonly events: EventSender
  /**
   * The session and the turn of the agent that the host started. Its sub-agents at any depth see the same. `signal`
   * aborts when that turn is cancelled; a turn that is resumed has another one.
   */
  readonly root: { readonly sessionId: string; readonly turnNumber: number; readonly signal: AbortSignal }
  /**
   * The hook that makes the current call with `ctx.llm` or `ctx.callTool`. Only hooks with `allowReentry` see it;
   * `undefined` for the calls of the agent itself.
   */
  readonly caller: string | undefined
  /**
   * The state of the conversation. The agent that the host started and its sub-agents at any depth read and write the
   * same keys. Use it for what holds for all of them, such as a limit or a warning.
   */
  readonly state: Pick<HookState.HookState, "get" | "all" | "set" | "update"> & { readonly durable: HookState.Durable }
  /**
   * The state of this agent alone. Use it for what concerns no other agent, such as its last steps. It is stored like
   * `state`. Each delegation to a sub-agent begins with an empty one.
   */
  readonly local: Pick<HookState.HookState, "get" | "all" | "set" | "update">
  /** Texts that are stored with the conversation but are not sent to the model. */
  readonly artifacts: Artifacts
  /**
   * Calls a model for the hook. Only hooks with `allowReentry` run for this call. Its cost counts like that of any
   * other call. With a `schema`, the answer is decoded: `object` of the response.
   */
  readonly llm: AskModel
  /** The tools of the agent. */
  readonly tools: ReadonlyArray<AgentTool>
  /**
   * Runs a tool of the agent for the hook. Only hooks with `allowReentry` run for this call. The policy must allow it,
   * and a call that needs a person's approval fails.
   */
  readonly callTool: (name: string, args: Json) => Awaitable<ToolResult, AgentError>
  /**
   * Sends an HTTP request with the agent's client, which decides which addresses are allowed. Fails when the agent has
   * no client.
   */
  readonly http: (request: HttpRequest) => Awaitable<HttpResponse, PortFailed>
  /**
   * Calls the MCP servers of the agent. Neither the policy nor hooks check these calls. The Effects fail when the agent
   * has no servers.
   */
  readonly mcp: Mcp
  /**
   * Reports to the `onBudget` hooks how much of a budget is used up. Returns an Abort when one of them wants to end the
   * turn.
   */
  readonly reportBudget: (level: BudgetLevel) => Awaitable<Abort | undefined>
  /**
   * Continues the conversation in a fresh session before the next model call. Until then, large results are replaced by
   * references. Sub-agents cannot use it.
   */
  readonly rotate: () => void
  /**
   * Runs any Effect as a promise, for async functions. The capabilities of `ctx` do not need it: they can be awaited.
   */
  readonly promise: <A, E>(effect: Effect.Effect<A, E>) => Promise<A>
  /**
   * Whether this hook is asked again about the same operation: because a later hook changed the value (it can then only
   * reject, abort, respond or ask), or because a person changed the arguments of a tool call. Use it for effects that
   * must not happen twice. Writes to `ctx.state` need it only for changes by a person, and with `reinvoke: "reapply"`:
   * otherwise they replace the earlier ones after a change by a hook.
   */
  readonly askedAgain: boolean
  /** For observers: the decision of the chain. */
  readonly outcome: ObservedOutcome | undefined
  /**
   * Adds `text` as a separate message that the model reads before its next answer. The message names this hook. A text
   * of more than 10,000 characters is cut; the whole text becomes an artifact, and the message refers to it.
   */
  readonly inject: (text: string, options?: InjectOptions) => void
  /** Warns the developer with an event and a log line. */
  readonly warn: (message: string) => void
  /** Sends an event with a notice for the user. */
  readonly notifyUser: (message: string) => void
  /** At `preStop`: adds this message to the conversation and keeps the agent going. */
  readonly followUp: (message: string) => void
}

/**
 * Calls a model for a hook. Fails with an `OutputMismatch` if the answer does not fit the schema, and with a
 * `ConfigError` if no model has the name.
 *
 * @category models
 * @since 0.1.0
 */
export interface AskModel {
  <S extends InputSchema>(request: SideRequest & { readonly schema: S }): Awaitable<ObjectResponse<S>, AgentError>
  (request: SideRequest): Awaitable<LlmResponse, AgentError>
}

/** A response whose text was decoded. @category models @since 0.1.0 */
export interface ObjectResponse<S extends InputSchema = InputSchema> extends LlmResponse {
  /** The decoded answer. Undefined only if the model requests tools instead. */
  readonly object: ArgsOf<S>
}

/** A tool of the agent. @category models @since 0.1.0 */
export interface AgentTool extends ToolMeta {
  /**
   * Whether the tool delegates to another agent, which `callTool` cannot do, or is one of those for agents in the
   * background, such as `await_agent`.
   */
  readonly delegates: boolean
}

/** The MCP servers of an agent. @category models @since 0.1.0 */
export interface Mcp {
  /** Calls a tool by its name on the server. The failure of a tool is a result with `isError`. */
  readonly callTool: (server: string, tool: string, args: JsonObject) => Awaitable<McpResult, PortFailed>
  /** Lists the tools of one server, or of all servers. */
  readonly listTools: (server?: string) => Awaitable<ReadonlyArray<McpTool>, PortFailed>
}

/**
 * The artifacts of a conversation, for hooks. `hook:` is put before each key. To read an artifact of a tool, pass its
 * whole key (`tool:...`) or its reference.
 *
 * @category models
 * @since 0.1.0
 */
export interface Artifacts {
  /** Writes a text and replaces an earlier one with the same key. The default media type is `text/plain`. */
  readonly write: (key: string, content: string, options?: ArtifactOptions) => Awaitable<Artifact, PortFailed>
  /**
   * Appends to a text, and creates it if there is none. When two callers append at the same time, both texts are kept
   * whole.
   */
  readonly append: (key: string, content: string, options?: ArtifactOptions) => Awaitable<Artifact, PortFailed>
  readonly read: (key: string) => Awaitable<string | undefined, PortFailed>
  readonly list: () => Awaitable<ReadonlyArray<Artifact>, PortFailed>
  readonly remove: (key: string) => Awaitable<boolean, PortFailed>
}

/** What is known about an artifact. @category models @since 0.1.0 */
export interface ArtifactOptions {
  readonly mimeType?: string
  /** The tool call that it belongs to. */
  readonly toolCallId?: string
}

/**
 * The capabilities that the runtime gives to hooks in one turn. `hook` is the name of the hook that uses one.
 *
 * @category models
 * @since 0.1.0
 */
export interface Capabilities {
  /** The conversation of the agent that the host started. */
  readonly root: HookContext["root"]
  readonly durable: HookState.Durable<HookState.Store>
  readonly artifacts: (hook: string) => Artifacts
  readonly llm: (request: SideRequest, hook: string) => Awaitable<LlmResponse, AgentError>
  readonly callTool: (name: string, args: Json, hook: string) => Awaitable<ToolResult, AgentError>
  readonly http: (request: HttpRequest, hook: string) => Awaitable<HttpResponse, PortFailed>
  readonly mcp: (hook: string) => Mcp
  readonly tools: ReadonlyArray<AgentTool>
  readonly reportBudget: (level: BudgetLevel) => Awaitable<Abort | undefined>
  readonly rotate: (hook: string) => void
  readonly promise: <A, E>(effect: Effect.Effect<A, E>) => Promise<A>
}

/** Sends a hook's own event to the listeners. @category models @since 0.1.0 */
export interface EventSender {
  /** Whether there are listeners. Build a costly payload only if there are. */
  readonly active: boolean
  readonly emit: (name: string, payload: Json) => void
}

/** The turn in which a chain runs, as hooks see it. @category models @since 0.1.0 */
export interface HookScope {
  readonly sessionId: string
  readonly turnNumber: number
  readonly stepNumber: number
  readonly coreType: string
  readonly agent: AgentInfo
  readonly cwd: string
  readonly signal: AbortSignal
  readonly state: HookState.Store
  readonly local: HookState.Store
  /** The hook that makes the current call. Absent for calls of the agent. */
  readonly caller?: string | undefined
  /** Absent when a chain runs without a runtime. A hook that uses one of them then fails. */
  readonly capabilities?: Capabilities
  /** The contexts, one per hook. Start with an empty array; the chain fills it. */
  readonly contexts: Array<HookContext | undefined>
  /** Whether to deep-freeze the values that hooks receive. */
  readonly freeze: boolean
  readonly active: () => boolean
  readonly emit: (name: string, payload: Json, hook: string) => void
  readonly inject: (text: string, options: InjectOptions | undefined, hook: string) => void
  readonly warn: (message: string, hook: string) => void
  readonly notifyUser: (message: string, hook: string) => void
  readonly followUp: (message: string, hook: string) => void
  /** Receives every decision record. Without it, no records are written. */
  readonly onRecord?: ((record: HookRecord) => void) | undefined
  readonly onFailure: (failure: HookFailure) => void
  /** Called when a hook settles or writes after its timeout. */
  readonly onLate: (hook: string, what: string) => void
}
