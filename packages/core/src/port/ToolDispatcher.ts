/**
 * Runs tools. The default dispatcher calls the functions of the agent's tools.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type { AgentError } from "../data/AgentError.ts"
import type { HostSignal, SignalAnswer } from "../data/Delegation.ts"
import type { Awaitable } from "../data/effect/Awaitable.ts"
import type { Json } from "../data/Json.ts"
import type { LlmResponse } from "../data/LlmCall.ts"
import type { ToolCall } from "../data/Message.ts"
import type { SideRequest } from "../data/SideRequest.ts"
import type { ExecutionGrant, ToolMeta, ToolResult } from "../data/tool/Tool.ts"
import type { ArtifactStore } from "./ArtifactStore.ts"

/** The result of decoding the arguments of a tool. @category models @since 0.1.0 */
export type Decoded = { readonly ok: true; readonly args: Json } | { readonly ok: false; readonly why: string }

/** The call for which a tool runs. @category models @since 0.1.0 */
export interface DispatchContext {
  readonly sessionId: string
  /** A key that stays the same when the call is repeated after a crash. */
  readonly idempotencyKey: string
  readonly cwd: string
  readonly artifacts: ArtifactStore
  /** The session that holds the artifacts. For a sub-agent, it is the session of the agent that delegated to it. */
  readonly rootSessionId: string
  /** The milliseconds after which the call fails. */
  readonly timeoutMs: number
  /** The maximum number of characters of the texts in the result. The dispatcher cuts what is longer. */
  readonly textLength: number
  /** Registers a function that is called when that time is up. Returns a function that cancels it. */
  readonly onTimeout: (expire: () => void) => () => void
  /** Sends a `tool-progress` event. The value is written like a result; without listeners it is not read. */
  readonly progress: (value: unknown) => void
  /** Calls a model for the tool. All hooks run, and the cost is part of the turn. */
  readonly llm: (request: SideRequest) => Awaitable<LlmResponse, AgentError>
  /** Runs the `onSignal` hooks, and returns their answer. */
  readonly sendSignal: (signal: HostSignal) => Awaitable<SignalAnswer>
  /** Warns the developer, with an event and a log line. */
  readonly warn: (message: string) => void
}

/** Runs tools. @category models @since 0.1.0 */
export interface ToolDispatcher {
  readonly tools: ReadonlyArray<ToolMeta>
  /** Checks arguments against the tool's schema. It is synchronous if the schema is. Never fails. */
  readonly decode: (tool: ToolMeta, args: Json) => Decoded | Effect.Effect<Decoded>
  /** Runs the tool. The failure of a tool is a result. Interruption cancels the tool. */
  readonly dispatch: (call: ToolCall, grant: ExecutionGrant, about: DispatchContext) => Effect.Effect<ToolResult>
  /**
   * Returns whether a call of this tool must run alone, without other calls of the same step. Default: no call must.
   */
  readonly exclusive?: (tool: string) => boolean
}
