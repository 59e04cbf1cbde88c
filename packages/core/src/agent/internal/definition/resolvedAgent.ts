/** The resolved configuration of an agent: checked and with all defaults. All turns share it. */
import type * as Result from "effect/Result"
import type { ChainError } from "../../../data/AgentError.ts"
import type { ToolMeta } from "../../../data/tool/Tool.ts"
import type { GuardedAgent } from "../../../guard/internal/definition/guardedAgent.ts"
import { hookRoles } from "../../../guard/internal/definition/hookRoles.ts"
import type { EventHub } from "../../../guard/internal/event/eventHub.ts"
import * as HookChain from "../../../hook/HookChain.ts"
import type { AgentInfo } from "../../../hook/HookContext.ts"
import type { ArtifactStore } from "../../../port/ArtifactStore.ts"
import type { HttpClient } from "../../../port/HttpClient.ts"
import type { LlmProvider } from "../../../port/LlmProvider.ts"
import type { McpAccessor } from "../../../port/McpAccessor.ts"
import type { MemoryPlugin } from "../../../port/MemoryPlugin.ts"
import type { RuntimePolicy } from "../../../port/RuntimePolicy.ts"
import type { ToolDispatcher } from "../../../port/ToolDispatcher.ts"
import type { AgentConfig } from "../../AgentConfig.ts"
import type { AgentCore } from "../../AgentCore.ts"
import type { AnyTool } from "../../defineTool.ts"
import type { Limits } from "../../Limits.ts"
import { ProviderHealth } from "./providerHealth.ts"

/** The agent to which a tool delegates, and how it delegates. */
export type Delegate = NonNullable<AnyTool["delegate"]>

/** The parts of an agent. */
export interface AgentParts extends GuardedAgent {
  readonly config: AgentConfig<never> & { readonly limits: Limits }
  readonly info: AgentInfo
  readonly providers: readonly [LlmProvider, ...ReadonlyArray<LlmProvider>]
  /** The side models of `ctx.llm`, by name. */
  readonly models: ReadonlyMap<string, LlmProvider>
  readonly health: ProviderHealth
  readonly dispatcher: ToolDispatcher
  readonly tools: ReadonlyMap<string, ToolMeta>
  /** The tools that requests to the model contain: all that are not deferred. */
  readonly shownTools: ReadonlyArray<ToolMeta>
  /** The names of the tools that the sender of the message runs. Absent if there are none. */
  readonly clientTools?: ReadonlySet<string>
  /** Tools that delegate to another agent, by tool name. */
  readonly delegates: ReadonlyMap<string, Delegate>
  /** Whether it has tools that start agents in the background. */
  readonly runsBackground?: boolean
  /** Whether it can hand the conversation back to the agent that handed it over. */
  readonly handsBack?: boolean
  readonly memory: MemoryPlugin | undefined
  readonly policy: RuntimePolicy | undefined
  readonly core: AgentCore
  readonly limits: Limits
  readonly hub: EventHub
  /** Whether to deep-freeze the values that hooks receive. */
  readonly freeze: boolean
  readonly cwd: string
  /** Warnings about the configuration. They are logged once, when the agent is made. */
  readonly warnings: Array<string>
  /** The names that hooks have in the agents in which they stand, by the names that they have in this tree. */
  readonly hookNames: ReadonlyMap<string, string>
  readonly artifacts: ArtifactStore
  readonly http: HttpClient | undefined
  readonly mcp: McpAccessor | undefined
}

/** An agent and the agents that are derived from it. */
export interface ResolvedAgent extends AgentParts {
  /**
   * The agent for `ctx.llm` and `ctx.callTool`: the same agent with only the hooks with `allowReentry`, and without
   * `onAsk`. With the name of a side model, its only provider is that model.
   */
  readonly forHookCalls: (model?: string) => ResolvedAgent
  /** The agent for `ctx.llm` of a tool: the same with all its hooks. */
  readonly forToolCalls: (model?: string) => ResolvedAgent
  /** The sub-agents derived for this agent, by the original agent. `subagent/agentTree` fills it. */
  readonly subAgents: Map<ResolvedAgent, Result.Result<ResolvedAgent, ChainError>>
}

/** Makes an agent from its parts. */
export const makeAgent = (parts: AgentParts): ResolvedAgent => {
  const agent: ResolvedAgent = {
    ...parts,
    forHookCalls: byModel(() =>
      agentForCalls(agent, agent.chain.hooks.filter(({ allowReentry }) => allowReentry === true))
    ),
    forToolCalls: byModel(() => agentForCalls(agent, agent.chain.hooks)),
    subAgents: new Map()
  }
  return agent
}

/** Makes each agent once, when it is first needed. */
const byModel = (make: () => ResolvedAgent): (model?: string) => ResolvedAgent => {
  const agents = new Map<string | undefined, ResolvedAgent>()
  const agentFor = (model?: string): ResolvedAgent => {
    const known = agents.get(model)
    if (known !== undefined) return known
    const made = model === undefined ? make() : withSideModel(agentFor(), model)
    agents.set(model, made)
    return made
  }
  return agentFor
}

const agentForCalls = (agent: ResolvedAgent, hooks: HookChain.HookChain["hooks"]): ResolvedAgent => {
  const { onAsk: _onAsk, store: _store, window: _window, ...config } = agent.config
  return makeAgent({ ...agent, ...hookRoles(HookChain.makeUnsafe(hooks)), config, streams: false })
}

/** Failures of the side model do not count for the providers of the agent, which may have the same name. */
const withSideModel = (agent: ResolvedAgent, model: string): ResolvedAgent => {
  const provider = agent.models.get(model)
  return provider === undefined
    ? agent
    : makeAgent({ ...agent, providers: [provider], health: new ProviderHealth({ failures: Infinity, cooldownMs: 0 }) })
}
