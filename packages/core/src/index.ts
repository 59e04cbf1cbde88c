/**
 * An agent runtime that runs a typed chain of hooks at every step.
 *
 * @since 0.1.0
 */
export type { AgentConfig } from "./agent/AgentConfig.ts"
export * as AgentRuntime from "./agent/AgentRuntime.ts"
export { agentTool } from "./agent/agentTool.ts"
export {
  type Agent,
  type AgentSession,
  createAgent,
  type RunOptions,
  type RunStream,
  type SessionRunOptions
} from "./agent/createAgent.ts"
export { defineTool, type Tool, type ToolContext } from "./agent/defineTool.ts"
export type { Plugin } from "./agent/Plugin.ts"
export type { Decisions, Session, SessionOptions } from "./agent/Session.ts"
export * as AgentError from "./data/AgentError.ts"
export type { AgentEvent } from "./data/AgentEvent.ts"
export * as Json from "./data/Json.ts"
export * as LlmCall from "./data/LlmCall.ts"
export * as Message from "./data/Message.ts"
export * as ProviderError from "./data/ProviderError.ts"
export type { Decision, PendingAsk } from "./data/RunState.ts"
export * as RunState from "./data/RunState.ts"
export type { ToolMeta, ToolResult } from "./data/tool/Tool.ts"
export type { TurnInput } from "./data/Turn.ts"
export * as Usage from "./data/Usage.ts"
export type { HookSource } from "./guard/HookSource.ts"
export type { RunResult } from "./guard/RunResult.ts"
export { type AgentHook, defineHook } from "./hook/AgentHook.ts"
export * as HookAction from "./hook/HookAction.ts"
export type { HookContext } from "./hook/HookContext.ts"
export * as HookPoint from "./hook/HookPoint.ts"
export * as HookRecord from "./hook/HookRecord.ts"
export * as HookState from "./hook/HookState.ts"
export * as LlmProvider from "./port/LlmProvider.ts"
