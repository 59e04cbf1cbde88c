/**
 * An agent runtime that runs a typed chain of hooks at every step.
 *
 * @since 0.1.0
 */
export * as AgentRuntime from "./agent/AgentRuntime.ts"
export { agentTool } from "./agent/agentTool.ts"
export { createAgent } from "./agent/createAgent.ts"
export { defineTool, onTool } from "./agent/defineTool.ts"
export * as AgentError from "./data/AgentError.ts"
export * as Json from "./data/Json.ts"
export * as LlmCall from "./data/LlmCall.ts"
export * as Message from "./data/Message.ts"
export * as ProviderError from "./data/ProviderError.ts"
export * as RunState from "./data/RunState.ts"
export * as Usage from "./data/Usage.ts"
export { type AgentHook, defineHook } from "./hook/AgentHook.ts"
export * as HookAction from "./hook/HookAction.ts"
export * as HookPoint from "./hook/HookPoint.ts"
export * as HookRecord from "./hook/HookRecord.ts"
export * as HookState from "./hook/HookState.ts"
export * as LlmProvider from "./port/LlmProvider.ts"
