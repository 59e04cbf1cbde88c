/** What a test sets for a hook, and what it reads afterwards. */
import type { BudgetLevel } from "@belay/core/Compaction"
import type { AgentInfo, AgentTool, InjectOptions, SideRequest } from "@belay/core/HookContext"
import type { HookFailure, HookRecord } from "@belay/core/HookRecord"
import type { HttpRequest, HttpResponse } from "@belay/core/Http"
import type { Json, JsonObject } from "@belay/core/Json"
import type { LlmResponse } from "@belay/core/LlmCall"
import type { McpResult, McpTool } from "@belay/core/Mcp"
import type { ProviderError } from "@belay/core/ProviderError"
import type { ToolResult } from "@belay/core/Tool"
import type { VirtualClock } from "../../VirtualClock.ts"

/** Where the hook runs. It stays the same until a test changes it. */
export interface Place {
  /** Default `session-1`. Each session has its own state and artifacts. */
  readonly sessionId?: string
  /** Default 1. */
  readonly turnNumber?: number
  /** Default 1. */
  readonly stepNumber?: number
  readonly agent?: Partial<AgentInfo>
  readonly cwd?: string
}

/** What a hook under test can use. */
export interface World extends Place {
  /** The initial state, by the names of its keys. */
  readonly state?: { readonly [name: string]: Json }
  /** Answers `ctx.llm`. */
  readonly llm?: (request: SideRequest, hook: string) => Answer<string | LlmResponse | ProviderError>
  /** Answers `ctx.callTool`. */
  readonly callTool?: (name: string, args: Json, hook: string) => Answer<ToolResult>
  /**
   * Answers `ctx.http`. Missing fields make an empty response with status 200. If it throws, the hook gets a
   * `PortFailed`.
   */
  readonly http?: (request: HttpRequest, hook: string) => Answer<Partial<HttpResponse>>
  /** Answers `ctx.mcp.callTool`. Missing fields make an empty result. If it throws, the hook gets a `PortFailed`. */
  readonly mcp?: (call: McpCall, hook: string) => Answer<Partial<McpResult>>
  /** The list for `ctx.mcp.listTools`. Default: empty. */
  readonly mcpTools?: ReadonlyArray<McpTool>
  /** The tools in `ctx.tools`. Default: none. */
  readonly tools?: ReadonlyArray<AgentTool>
  /** The clock. Default: the real one. */
  readonly clock?: VirtualClock
}

export type Answer<A> = A | PromiseLike<A>

/** A call of a tool of an MCP server. */
interface McpCall {
  readonly server: string
  readonly tool: string
  readonly args: JsonObject
}

/** A text for the model. */
export interface InjectionRecord extends InjectOptions {
  readonly hook: string
  readonly text: string
}

/** What hooks did in addition to their answers. */
export interface Seen {
  /** Injected texts. `injections` has them with their options. */
  readonly injected: ReadonlyArray<string>
  readonly injections: ReadonlyArray<InjectionRecord>
  readonly warnings: ReadonlyArray<string>
  readonly notices: ReadonlyArray<string>
  readonly followUps: ReadonlyArray<string>
  readonly events: ReadonlyArray<{ readonly hook: string; readonly name: string; readonly payload: Json }>
  /** Calls of `llm`, `callTool`, `http`, `mcp` and `reportBudget`. */
  readonly llmRequests: ReadonlyArray<SideRequest>
  readonly toolRequests: ReadonlyArray<{ readonly name: string; readonly args: Json }>
  readonly httpRequests: ReadonlyArray<HttpRequest>
  readonly mcpRequests: ReadonlyArray<McpCall>
  readonly budgets: ReadonlyArray<BudgetLevel>
  /** Hooks that requested a rotation. */
  readonly rotations: ReadonlyArray<string>
  readonly failures: ReadonlyArray<HookFailure>
  /** What hooks did after a timeout; it has no effect. */
  readonly late: ReadonlyArray<string>
  readonly records: ReadonlyArray<HookRecord>
}

/** The same with fields that can be changed. */
export type Mutable<A> = { -readonly [K in keyof A]: A[K] extends ReadonlyArray<infer Item> ? Array<Item> : A[K] }
