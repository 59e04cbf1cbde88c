/** Checks the configuration of a user and makes the agent from it. */
import * as Result from "effect/Result"
import type { ChainError, ConfigError } from "../../../data/AgentError.ts"
import { invalidOption, show } from "../../../data/option/OptionCheck.ts"
import { hookRoles } from "../../../guard/internal/definition/hookRoles.ts"
import { resolveHooks } from "../../../guard/internal/definition/resolveHooks.ts"
import { EventHub } from "../../../guard/internal/event/eventHub.ts"
import { isProduction, workingFolder } from "../../../guard/internal/platform/platform.ts"
import * as ArtifactStore from "../../../port/ArtifactStore.ts"
import type { AgentConfig } from "../../AgentConfig.ts"
import { defaultLimits, type Limits } from "../../Limits.ts"
import * as ToolLoop from "../../ToolLoop.ts"
import { checkDelegates } from "../definition/agentTree.ts"
import { withBackgroundTools } from "../definition/backgroundTools.ts"
import { ProviderHealth } from "../definition/providerHealth.ts"
import { type AgentParts, makeAgent, type ResolvedAgent } from "../definition/resolvedAgent.ts"
import { withOutput } from "../output/structuredOutput.ts"
import * as Dispatcher from "../tool/toolDispatcher.ts"
import { addPlugins } from "./addPlugins.ts"
import { addToolParts } from "./addToolParts.ts"
import { checkConfig } from "./checkConfig.ts"
import { oldNode } from "./oldNode.ts"

type Resolving<A> = Result.Result<A, ConfigError | ChainError>

/** Checks a configuration and all agents that it delegates to, and makes the agent. */
export const resolveAgent = (config: AgentConfig): Resolving<ResolvedAgent> =>
  checkConfig(config).pipe(
    Result.flatMap(addPlugins),
    Result.map(addToolParts),
    Result.flatMap(withOutput),
    Result.flatMap(partsOf),
    Result.map(makeAgent),
    Result.flatMap(checkDelegates),
    Result.map((agent) => {
      for (const { eventTypes, onEvent } of config.plugins ?? []) {
        if (onEvent !== undefined) agent.hub.listen(onEvent, eventTypes)
      }
      return agent
    })
  )

/** It stays the same while the process runs. */
const runtimeProblem = oldNode()

const partsOf = (config: AgentConfig): Resolving<AgentParts> =>
  Result.gen(function*() {
    const limits = yield* limitsOf(config.limits ?? {})
    const providers = yield* providersOf(config)
    const models = yield* modelsOf(config.models ?? {})
    const tools = withBackgroundTools(config.tools ?? [])
    const dispatcher = yield* Dispatcher.make(tools)
    const cwd = config.cwd ?? workingFolder()
    const { chain, warnings } = yield* resolveHooks(config, cwd)
    const { failures = 5, cooldownMs = 30_000 } = config.breaker ?? {}
    return {
      config: { ...config, limits },
      info: config.info ?? { name: config.name ?? "agent", depth: 0, invokedBy: "main" },
      ...hookRoles(chain),
      providers,
      models,
      health: new ProviderHealth({ failures, cooldownMs }),
      dispatcher,
      delegates: new Map(
        tools.flatMap(({ delegate, name }) => delegate === undefined ? [] : [[name, delegate] as const])
      ),
      runsBackground: tools.some(({ delegate }) => delegate?.background === true),
      tools: new Map(dispatcher.tools.map((tool) => [tool.name, tool])),
      shownTools: tools.some(({ deferred }) => deferred === true)
        ? dispatcher.tools.filter((_tool, index) => tools[index]!.deferred !== true)
        : dispatcher.tools,
      memory: config.memory,
      policy: config.policy,
      core: config.core ?? ToolLoop.make(),
      limits,
      hub: new EventHub(),
      artifacts: config.artifacts ?? config.store?.artifacts ?? ArtifactStore.inMemory(),
      http: config.http,
      mcp: config.mcp,
      freeze: config.freeze ?? !isProduction(),
      cwd,
      warnings: runtimeProblem === undefined ? [...warnings] : [runtimeProblem, ...warnings],
      hookNames: new Map()
    }
  })

const limitsOf = (given: Partial<Limits>): Result.Result<Limits, ConfigError> => {
  const known = Object.keys(defaultLimits)
  for (const [key, value] of Object.entries(given)) {
    if (!known.includes(key)) {
      return invalidOption(`limits.${key}`, `unknown limit "${key}": expected one of ${known.join(", ")}`)
    }
    const isNone = key === "failOpens" && value === 0
    if (value !== undefined && !isNone && !(typeof value === "number" && value > 0)) {
      return invalidOption(`limits.${key}`, `must be a number greater than 0, found ${show(value)}`)
    }
  }
  const present = Object.entries(given).filter(([, value]) => value !== undefined)
  return Result.succeed({ ...defaultLimits, ...Object.fromEntries(present) })
}

const providersOf = (config: AgentConfig): Result.Result<AgentParts["providers"], ConfigError> => {
  const all = isList(config.provider) ? config.provider : [config.provider]
  // Untyped callers may pass nothing, or a list with undefined items.
  const [first, ...backups] = all
  if (first === undefined || all.some((provider) => typeof provider?.complete !== "function")) {
    return invalidOption(
      "provider",
      "is missing: pass one with a name and a complete function, e.g. OpenAiCompatible.make({ ... })"
    )
  }
  const names = all.map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  return twice === undefined
    ? Result.succeed([first, ...backups])
    : invalidOption("provider", `two providers have the name "${twice}": give each its own name`)
}

const modelsOf = (models: NonNullable<AgentConfig["models"]>): Result.Result<AgentParts["models"], ConfigError> => {
  for (const [name, provider] of Object.entries(models)) {
    if (typeof provider?.complete !== "function") {
      return invalidOption(`models.${name}`, "must be a provider, e.g. OpenAiCompatible.make({ ... })")
    }
  }
  return Result.succeed(new Map(Object.entries(models)))
}

const isList = (provider: AgentConfig["provider"]): provider is AgentParts["providers"] => Array.isArray(provider)
