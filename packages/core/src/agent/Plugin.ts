/**
 * Plugins: named bundles of hooks, tools and other parts of an agent.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "../hook/AgentHook.ts"
import type { LlmProvider } from "../port/LlmProvider.ts"
import type { MemoryPlugin } from "../port/MemoryPlugin.ts"
import type { RuntimePolicy } from "../port/RuntimePolicy.ts"
import type { AnyTool } from "./defineTool.ts"

/**
 * A named bundle of parts for an agent. Hooks and tools are added to those of the agent. Providers become backups.
 * Memory and policy must each come from one place only.
 *
 * @category models
 * @since 0.1.0
 */
export interface Plugin<out R = never> {
  readonly name: string
  readonly hooks?: ReadonlyArray<AgentHook<R>>
  readonly tools?: ReadonlyArray<AnyTool>
  readonly providers?: ReadonlyArray<LlmProvider>
  readonly memory?: MemoryPlugin
  readonly policy?: RuntimePolicy
}
