/**
 * The second argument of hooks: where they run, and what they can do besides answering. One scope is built per turn; a
 * hook's context is a thin view of it.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type { AgentError, PortFailed } from "../data/AgentError.ts"
import type { Artifact } from "../data/Artifact.ts"
import type { BudgetLevel } from "../data/Compaction.ts"
import type { HttpRequest, HttpResponse } from "../data/Http.ts"
import type { Json, JsonObject } from "../data/Json.ts"
import type { LlmParameters, LlmResponse } from "../data/LlmCall.ts"
import type { McpResult, McpTool } from "../data/Mcp.ts"
import type { Message } from "../data/Message.ts"
import type { ToolMeta, ToolResult } from "../data/Tool.ts"
import type { Abort } from "./HookAction.ts"
import type { HookFailure, HookRecord } from "./HookRecord.ts"
import type * as HookState from "./HookState.ts"

/** The agent a hook runs for. @category models @since 0.1.0 */
export interface AgentInfo {
  readonly name: string
  /** 0 for the agent the host started, 1 for its sub-agents, and so on. */
  readonly depth: number
  readonly invokedBy: "main" | "subagent"
}

/** How injected text reaches the model. @category models @since 0.1.0 */
export interface InjectOptions {
  /**
   * Injections with the same key replace each other (`mode: "overwrite"`) or are both kept (`"append"`, the default).
   */
  readonly key?: string
  readonly mode?: "append" | "overwrite"
  /** Survives compaction. */
  readonly pinned?: boolean
}

/** What the chain decided, for observers. @category models @since 0.1.0 */
export interface ObservedOutcome {
  readonly action: HookRecord["action"]
  readonly reason?: string
  readonly decidedBy?: string
}

/** The second argument of every hook method. @category models @since 0.1.0 */
export interface HookContext {
  /** The hook's own name in this chain. */
  readonly hook: string
  readonly sessionId: string
  /** User messages so far in this session, from 1. 0 outside a turn. */
  readonly turnNumber: number
  /** LLM calls so far in this turn, from 1. 0 before the first. */
  readonly stepNumber: number
  readonly coreType: string
  readonly agent: AgentInfo
  readonly cwd: string
  /** Aborts when the turn is cancelled. */
  readonly signal: AbortSignal
  readonly events: EventSender
  /** The conversation this happens in, and its state: of a sub-agent, the one it works for. */
  readonly root: {
    readonly sessionId: string
    readonly turnNumber: number
    readonly state: Pick<HookState.HookState, "get" | "set" | "update">
  }
  readonly state: Pick<HookState.HookState, "get" | "set" | "update"> & { readonly durable: HookState.Durable }
  /** Texts outside the model's window, kept with the conversation. */
  readonly artifacts: Artifacts
  /**
   * Asks a model, for the hook alone: no other hook runs but those with `allowReentry`. Its cost counts like any other.
   */
  readonly llm: (request: SideRequest) => Effect.Effect<LlmResponse, AgentError>
  /** The tools of the agent. */
  readonly tools: ReadonlyArray<AgentTool>
  /**
   * Runs a tool of the agent, for the hook alone. The policy must allow it; a call that needs a person's approval
   * fails.
   */
  readonly callTool: (name: string, args: Json) => Effect.Effect<ToolResult, AgentError>
  /**
   * Sends an HTTP request with the agent's client, which decides what may be reached. Fails where the agent has none.
   */
  readonly http: (request: HttpRequest) => Effect.Effect<HttpResponse, PortFailed>
  /**
   * The MCP servers of the agent, for the hook alone: neither the policy nor hooks are asked. Its effects fail when the
   * agent has no servers.
   */
  readonly mcp: Mcp
  /**
   * Reports how much of a budget is used up to the `onBudget` hooks. Returns an Abort when one of them wants the turn
   * to end.
   */
  readonly reportBudget: (level: BudgetLevel) => Effect.Effect<Abort | undefined>
  /**
   * Continues the conversation in a fresh session before the model is asked again. Until then, large results are
   * replaced by references. Not for sub-agents.
   */
  readonly rotate: () => void
  /** Runs an Effect for async functions: `await ctx.promise(ctx.artifacts.read("draft"))`. */
  readonly promise: <A, E>(effect: Effect.Effect<A, E>) => Promise<A>
  /** For observers: what the chain decided. */
  readonly outcome: ObservedOutcome | undefined
  /**
   * Adds `text` as a separate message that the model reads before its next answer. The message names this hook. At most
   * 10,000 characters; longer text is cut, and the whole text becomes an artifact that the message names.
   */
  readonly inject: (text: string, options?: InjectOptions) => void
  /** Warns the developer: an event and a log line. */
  readonly warn: (message: string) => void
  /** Sends a notice for the user: an event. */
  readonly notifyUser: (message: string) => void
  /** At `preStop`: keeps the agent going with this message. */
  readonly followUp: (message: string) => void
}

/** A hook's request to a model. @category models @since 0.1.0 */
export interface SideRequest {
  /** One user message, or a whole conversation. */
  readonly prompt: string | ReadonlyArray<Message>
  readonly instructions?: string
  /** Default: the agent's. */
  readonly model?: string
  /** Name of one of the agent's providers. Default: as for the agent itself. */
  readonly provider?: string
  readonly parameters?: LlmParameters
  /** Tools that the model may call; the hook that asks has to run them. Default: nothing. */
  readonly tools?: ReadonlyArray<ToolMeta>
}

/** A tool of the agent. @category models @since 0.1.0 */
export interface AgentTool extends ToolMeta {
  /** Whether it delegates to another agent; `callTool` does not run such a tool. */
  readonly delegates: boolean
}

/** The MCP servers of an agent. @category models @since 0.1.0 */
export interface Mcp {
  /** Calls a tool by the name that its server gives it. A tool that failed is a result. */
  readonly callTool: (server: string, tool: string, args: JsonObject) => Effect.Effect<McpResult, PortFailed>
  /** The tools of one server, or of all. */
  readonly listTools: (server?: string) => Effect.Effect<ReadonlyArray<McpTool>, PortFailed>
}

/**
 * The artifacts of a conversation, as a hook sees them. Keys are the hooks' own (`hook:` goes before them); a key or
 * reference of a tool reads the tool's.
 *
 * @category models
 * @since 0.1.0
 */
export interface Artifacts {
  /** Writes a text, over the one that was there. Default `text/plain`. */
  readonly write: (key: string, content: string, options?: ArtifactOptions) => Effect.Effect<Artifact, PortFailed>
  /** Adds to the end of a text, which begins empty; of two that append at once, both are in it whole. */
  readonly append: (key: string, content: string, options?: ArtifactOptions) => Effect.Effect<Artifact, PortFailed>
  readonly read: (key: string) => Effect.Effect<string | undefined, PortFailed>
  readonly list: Effect.Effect<ReadonlyArray<Artifact>, PortFailed>
  readonly remove: (key: string) => Effect.Effect<boolean, PortFailed>
}

/** @category models @since 0.1.0 */
export interface ArtifactOptions {
  readonly mimeType?: string
  /** The tool call it belongs to. */
  readonly toolCallId?: string
}

/**
 * What the runtime can do for hooks in one turn, beyond what `HookScope` has itself. `hook` names the hook that asks.
 *
 * @category models
 * @since 0.1.0
 */
export interface Capabilities {
  /** The conversation of the agent that the host started. */
  readonly root: { readonly sessionId: string; readonly turnNumber: number; readonly state: HookState.Store }
  readonly durable: HookState.Durable<HookState.Store>
  readonly artifacts: (hook: string) => Artifacts
  readonly llm: (request: SideRequest, hook: string) => Effect.Effect<LlmResponse, AgentError>
  readonly callTool: (name: string, args: Json, hook: string) => Effect.Effect<ToolResult, AgentError>
  readonly http: (request: HttpRequest, hook: string) => Effect.Effect<HttpResponse, PortFailed>
  readonly mcp: (hook: string) => Mcp
  readonly tools: ReadonlyArray<AgentTool>
  readonly reportBudget: (level: BudgetLevel) => Effect.Effect<Abort | undefined>
  readonly rotate: (hook: string) => void
  readonly promise: <A, E>(effect: Effect.Effect<A, E>) => Promise<A>
}

/** Sends a hook's own events to whoever listens. @category models @since 0.1.0 */
export interface EventSender {
  /** Whether anybody listens: build costly payloads only then. */
  readonly active: boolean
  readonly emit: (name: string, payload: Json) => void
}

/** What a chain runs in: one turn, as its hooks see it. @category models @since 0.1.0 */
export interface HookScope {
  readonly sessionId: string
  readonly turnNumber: number
  readonly stepNumber: number
  readonly coreType: string
  readonly agent: AgentInfo
  readonly cwd: string
  readonly signal: AbortSignal
  readonly state: HookState.Store
  /** Absent where a chain runs without a runtime: a hook that uses one of them then fails. */
  readonly capabilities?: Capabilities
  /** One context a hook, filled by the chain; start with an empty array. */
  readonly contexts: Array<HookContext | undefined>
  /** Deep-freeze what hooks receive. */
  readonly freeze: boolean
  readonly active: () => boolean
  readonly emit: (name: string, payload: Json, hook: string) => void
  readonly inject: (text: string, options: InjectOptions | undefined, hook: string) => void
  readonly warn: (message: string, hook: string) => void
  readonly notifyUser: (message: string, hook: string) => void
  readonly followUp: (message: string, hook: string) => void
  /** Receives every record; absent when nobody wants them. */
  readonly onRecord?: ((record: HookRecord) => void) | undefined
  readonly onFailure: (failure: HookFailure) => void
  /** A hook settled, or wrote, after its timeout. */
  readonly onLate: (hook: string, what: string) => void
}
