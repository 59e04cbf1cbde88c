/**
 * Plugins: named bundles of hooks, tools and other parts of an agent.
 *
 * @since 0.1.0
 */
import type { AgentEvent } from "../data/AgentEvent.ts"
import type { HookSource } from "../guard/HookSource.ts"
import type { AgentHook } from "../hook/AgentHook.ts"
import type { LlmProvider } from "../port/LlmProvider.ts"
import type { McpAccessor } from "../port/McpAccessor.ts"
import type { MemoryPlugin } from "../port/MemoryPlugin.ts"
import type { RuntimePolicy } from "../port/RuntimePolicy.ts"
import type { SessionStore } from "../port/SessionStore.ts"
import type { AnyTool } from "./defineTool.ts"

/**
 * A named bundle of parts for an agent. Hooks, hook sources and tools are added to those of the agent. Providers become
 * backups. Memory, policy, MCP servers and the store must each come from one place only: the agent or one plugin. If
 * hooks of the plugin need services (`R`), the `layer` of the agent provides them.
 *
 * @example
 * ```ts
 * import { createAgent, defineHook, defineTool, type Plugin } from "@belay/core"
 * import { textResponse } from "@belay/core/LlmCall"
 * import { fromPromise } from "@belay/core/LlmProvider"
 *
 * const clock: Plugin = {
 *   name: "clock",
 *   tools: [
 *     defineTool({
 *       name: "now",
 *       description: "The time",
 *       input: { type: "object" },
 *       execute: () => new Date().toISOString()
 *     })
 *   ],
 *   hooks: [defineHook({ name: "clock/usage", postToolCall: ({ call }) => console.log(`${call.name} was called`) })]
 * }
 * const provider = fromPromise({ name: "echo", complete: async () => textResponse("noon") })
 * const agent = createAgent({ provider, plugins: [clock] })
 * ```
 * @category models
 * @since 0.1.0
 */
export interface Plugin<out R = never> {
  /** Unique among the plugins of an agent. */
  readonly name: string
  readonly hooks?: ReadonlyArray<AgentHook<R>>
  readonly hookSources?: ReadonlyArray<HookSource>
  readonly tools?: ReadonlyArray<AnyTool>
  readonly providers?: ReadonlyArray<LlmProvider>
  readonly memory?: MemoryPlugin
  readonly policy?: RuntimePolicy
  readonly mcp?: McpAccessor
  readonly store?: SessionStore
  /** Receives the events of the agent and of its sub-agents. It must not throw. */
  readonly onEvent?: (event: AgentEvent) => void
  /** The types of the events that `onEvent` receives. Default: all. Without deltas, no answer is streamed for it. */
  readonly eventTypes?: ReadonlyArray<AgentEvent["type"]>
}

/** A plugin with any requirements. @category type-level @since 0.1.0 */
// oxlint-disable-next-line typescript/no-explicit-any -- the requirements are inferred from the plugin
export type AnyPlugin = Plugin<any>
