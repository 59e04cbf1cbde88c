/** A configuration with everything looked up, checked and defaulted. */
import type * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type AgentError, type ChainError, ConfigError } from "../../../data/AgentError.ts"
import { messageOf } from "../../../data/ErrorMessage.ts"
import type { ToolMeta } from "../../../data/Tool.ts"
import type { AgentHook } from "../../../hook/AgentHook.ts"
import * as HookChain from "../../../hook/HookChain.ts"
import type { AgentInfo, HookScope, Lent } from "../../../hook/HookContext.ts"
import * as ArtifactStore from "../../../port/ArtifactStore.ts"
import type { HttpClient } from "../../../port/HttpClient.ts"
import type { LlmProvider } from "../../../port/LlmProvider.ts"
import type { McpAccessor } from "../../../port/McpAccessor.ts"
import type { MemoryPlugin } from "../../../port/MemoryPlugin.ts"
import type { RuntimePolicy } from "../../../port/RuntimePolicy.ts"
import type { ToolDispatcher } from "../../../port/ToolDispatcher.ts"
import type { AgentConfig } from "../../AgentConfig.ts"
import type { AgentCore } from "../../AgentCore.ts"
import type { AnyTool } from "../../defineTool.ts"
import type { HookSource, SourcedHooks } from "../../HookSource.ts"
import { defaultLimits, type Limits } from "../../Limits.ts"
import type { Plugin } from "../../Plugin.ts"
import type { RunResult } from "../../RunResult.ts"
import * as ToolLoop from "../../ToolLoop.ts"
import { Health } from "../model/providerHealth.ts"
import * as Dispatcher from "../tool/toolDispatcher.ts"
import * as Events from "../turn/eventHub.ts"
import { folder, isProduction } from "./platform.ts"

/** What the phases need of the floors above them. */
export interface Upstairs {
  /** What hooks may borrow of a turn. */
  readonly lend: (scope: HookScope) => Lent
  /** Runs a turn to one of its endings. */
  readonly run: (scope: HookScope, resumed: boolean) => Effect.Effect<RunResult, AgentError>
}

/** Another agent, and how work is handed to it. */
export type Delegate = NonNullable<AnyTool["delegate"]>

/** What follows from a chain. */
interface Acting {
  readonly chain: HookChain.HookChain
  /** Hooks that surround acts, outermost first. */
  readonly llmWrappers: ReadonlyArray<AgentHook<never>>
  /** The same for tools; confidential ones are innermost. */
  readonly toolWrappers: ReadonlyArray<AgentHook<never>>
  /** Hooks that look at messages from elsewhere before they join the conversation. */
  readonly concealers: ReadonlyArray<AgentHook<never>>
  /** Hooks that give the user what nobody else may see. */
  readonly revealers: ReadonlyArray<AgentHook<never>>
  readonly streams: boolean
}

/** What every turn of an agent shares. */
export interface Resolved extends Acting, Upstairs {
  readonly config: AgentConfig<never> & { readonly limits: Limits }
  readonly info: AgentInfo
  readonly providers: readonly [LlmProvider, ...ReadonlyArray<LlmProvider>]
  readonly health: Health
  readonly dispatcher: ToolDispatcher
  readonly tools: ReadonlyMap<string, ToolMeta>
  /** Tools that hand over to another agent. */
  readonly delegates: ReadonlyMap<string, Delegate>
  readonly memory: MemoryPlugin | undefined
  readonly policy: RuntimePolicy | undefined
  readonly core: AgentCore
  readonly limits: Limits
  readonly hub: Events.Hub
  readonly freeze: boolean
  readonly cwd: string
  /** What the one who makes the agent should know. */
  readonly warnings: ReadonlyArray<string>
  readonly artifacts: ArtifactStore.ArtifactStore
  readonly http: HttpClient | undefined
  readonly mcp: McpAccessor | undefined
}

/** Checks a configuration and fills it up. */
export const resolve = (
  config: AgentConfig<never>,
  upstairs: Upstairs
): Result.Result<Resolved, ConfigError | ChainError> => {
  const plugins = config.plugins ?? []
  const limits = limitsOf(config.limits ?? {})
  if (Result.isFailure(limits)) return Result.fail(limits.failure)
  const providers = providersOf(config, plugins)
  if (Result.isFailure(providers)) return Result.fail(providers.failure)
  const tools = [...(config.tools ?? []), ...plugins.flatMap(({ tools }) => tools ?? [])]
  const dispatcher = Dispatcher.make(tools)
  if (Result.isFailure(dispatcher)) return Result.fail(dispatcher.failure)
  const cwd = config.cwd ?? folder()
  const sourced = sourcedHooks(config.hookSources ?? [], cwd)
  if (Result.isFailure(sourced)) return Result.fail(sourced.failure)
  const chain = HookChain.make([
    ...(config.hooks ?? []),
    ...plugins.flatMap(({ hooks }) => hooks ?? []),
    ...sourced.success.hooks
  ])
  if (Result.isFailure(chain)) return Result.fail(chain.failure)
  const reserved = chain.success.hooks.find(({ name }) => reservedNames.has(name))
  if (reserved !== undefined) {
    return Result.fail(
      new ConfigError({
        key: `hooks.${reserved.name}`,
        message: `a hook cannot be named "${reserved.name}": Belay speaks under that name`
      })
    )
  }
  const memory = only("memory", config.memory, plugins)
  if (Result.isFailure(memory)) return Result.fail(memory.failure)
  const policy = only("policy", config.policy, plugins)
  if (Result.isFailure(policy)) return Result.fail(policy.failure)
  return Result.succeed({
    config: { ...config, limits: limits.success },
    info: config.info ?? { name: config.name ?? "agent", depth: 0, invokedBy: "main" },
    ...acting(chain.success),
    ...upstairs,
    providers: providers.success,
    health: new Health({ failures: config.breaker?.failures ?? 5, cooldownMs: config.breaker?.cooldownMs ?? 30_000 }),
    dispatcher: dispatcher.success,
    delegates: new Map(
      tools.flatMap(({ delegate, name }) => delegate === undefined ? [] : [[name, delegate] as const])
    ),
    tools: new Map(dispatcher.success.tools.map((tool) => [tool.name, tool])),
    memory: memory.success,
    policy: policy.success,
    core: config.core ?? ToolLoop.make(),
    limits: limits.success,
    hub: new Events.Hub(),
    artifacts: config.artifacts ?? config.store?.artifacts ?? ArtifactStore.inMemory(),
    http: config.http,
    mcp: config.mcp,
    freeze: config.freeze ?? !isProduction(),
    cwd,
    warnings: [...sourced.success.warnings, ...chain.success.warnings]
  })
}

/** Looks up what a chain's hooks do beside its points. */
export const acting = (chain: HookChain.HookChain): Acting => {
  const hooks = chain.hooks.filter(({ mode }) => mode !== "shadow")
  return {
    chain,
    llmWrappers: hooks.filter(({ wrapLlmCall }) => wrapLlmCall !== undefined),
    // What confidential hooks hand to a tool and take from it, no other wrapper sees.
    toolWrappers: [false, true].flatMap((last) =>
      hooks.filter(({ confidential = false, wrapToolCall }) => wrapToolCall !== undefined && confidential === last)
    ),
    concealers: hooks.filter(({ concealMessages }) => concealMessages !== undefined),
    revealers: hooks.filter(({ revealText }) => revealText !== undefined),
    streams: chain.has("onLlmDelta") || hooks.some(({ hold }) => hold !== undefined && hold !== "none")
  }
}

/** Who asks, denies and warns besides hooks: an answer to one of these must not count for another. */
const reservedNames: ReadonlySet<string> = new Set(["policy", "person", "runtime"])

const sourcedHooks = (
  sources: ReadonlyArray<HookSource>,
  cwd: string
): Result.Result<Required<SourcedHooks>, ConfigError> => {
  const found = { hooks: [] as Array<AgentHook>, warnings: [] as Array<string> }
  for (const source of sources) {
    const loaded = Result.try(() => source.load({ cwd }))
    if (Result.isFailure(loaded)) {
      const { failure: error } = loaded
      const key = `hookSources.${source.name}`
      return Result.fail(
        error instanceof ConfigError
          ? error
          : new ConfigError({ key, message: `${key} cannot be loaded: ${messageOf(error)}` })
      )
    }
    found.hooks.push(...loaded.success.hooks)
    found.warnings.push(...(loaded.success.warnings ?? []).map((warning) => `${source.name}: ${warning}`))
  }
  return Result.succeed(found)
}

const limitsOf = (given: Partial<Limits>): Result.Result<Limits, ConfigError> => {
  for (const [key, value] of Object.entries(given)) {
    if (!Object.hasOwn(defaultLimits, key)) {
      return Result.fail(
        new ConfigError({
          key: `limits.${key}`,
          message: `unknown limit "${key}": expected one of ${Object.keys(defaultLimits).join(", ")}`
        })
      )
    }
    if (value !== undefined && !(typeof value === "number" && value > 0)) {
      return Result.fail(
        new ConfigError({
          key: `limits.${key}`,
          message: `limit ${key} must be greater than 0, found ${String(value)}`
        })
      )
    }
  }
  return Result.succeed({
    ...defaultLimits,
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  })
}

const providersOf = (
  config: AgentConfig<never>,
  plugins: ReadonlyArray<Plugin>
): Result.Result<Resolved["providers"], ConfigError> => {
  const [first, ...rest] = [
    ...(Array.isArray(config.provider) ? config.provider : [config.provider]),
    ...plugins.flatMap(({ providers }) => providers ?? [])
  ] as ReadonlyArray<LlmProvider | undefined>
  if (typeof first?.complete !== "function" || rest.some((backup) => typeof backup?.complete !== "function")) {
    return Result.fail(
      new ConfigError({
        key: "provider",
        message:
          "provider is missing: pass one with a name and a complete function, e.g. OpenAiCompatible.make({ ... })"
      })
    )
  }
  const names = new Set<string>()
  for (const provider of [first, ...rest]) {
    if (names.has(provider!.name)) {
      return Result.fail(
        new ConfigError({
          key: "provider",
          message: `two providers are named "${provider!.name}": give one another name`
        })
      )
    }
    names.add(provider!.name)
  }
  return Result.succeed([first, ...(rest as ReadonlyArray<LlmProvider>)])
}

const only = <K extends "memory" | "policy">(
  key: K,
  own: AgentConfig[K],
  plugins: ReadonlyArray<Plugin>
): Result.Result<NonNullable<AgentConfig[K]> | undefined, ConfigError> => {
  const found = [
    ...(own === undefined ? [] : [{ name: "config", [key]: own } as Plugin]),
    ...plugins.filter((plugin) => plugin[key] !== undefined)
  ]
  return found.length > 1
    ? Result.fail(
      new ConfigError({
        key,
        message: `${key} comes from ${found.map(({ name }) => name).join(" and ")}: only one can provide it`
      })
    )
    : Result.succeed(found[0]?.[key] as NonNullable<AgentConfig[K]> | undefined)
}
