/**
 * Runs an agent's turns. The API for Effect programs: a service, a layer, typed errors and requirements.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type {
  AgentError,
  ChainError,
  ConfigError,
  PortFailed,
  SessionError,
  SnapshotError
} from "../data/AgentError.ts"
import type { AgentEvent } from "../data/AgentEvent.ts"
import type { TurnInput } from "../data/Turn.ts"
import { loggingOf } from "../guard/internal/platform/logging.ts"
import type { RunResult } from "../guard/RunResult.ts"
import type { AgentHook, AnyHook } from "../hook/AgentHook.ts"
import type { HookChain } from "../hook/HookChain.ts"
import { LlmProvider } from "../port/LlmProvider.ts"
import type { AgentConfig } from "./AgentConfig.ts"
import { resolveAgent } from "./internal/config/resolveAgent.ts"
import { type Delegatable, delegationTarget } from "./internal/definition/delegationTarget.ts"
import { startRuntime } from "./internal/session/runtime.ts"
import type { AnyPlugin, Plugin } from "./Plugin.ts"
import type { Decisions, ResumeOptions, Session, SessionOptions } from "./Session.ts"

export type { Decisions, Session } from "./Session.ts"

/** @category models @since 0.1.0 */
export interface AgentRuntime extends Delegatable {
  readonly chain: HookChain
  /** Opens a session: a new one, or the one with this id, which is loaded from the store if it is there. */
  readonly session: (options?: SessionOptions) => Effect.Effect<Session, SessionError | PortFailed | SnapshotError>
  /** Runs one turn in its own session. */
  readonly run: (input: string | TurnInput, options?: ResumeOptions) => Effect.Effect<RunResult, AgentError>
  /** Resumes a suspended or limited run, which may come from another process. */
  readonly resume: (
    snapshot: unknown,
    decisions?: Decisions,
    options?: ResumeOptions
  ) => Effect.Effect<RunResult, AgentError>
  /** Calls the listener with every event. The returned function removes the listener. */
  readonly listen: (listener: (event: AgentEvent) => void) => () => void
}

/** The runtime as a service. @category services @since 0.1.0 */
export const AgentRuntime = Context.Service<AgentRuntime>("@belay/core/agent/AgentRuntime")

/** The services that a list of hooks needs. @category type-level @since 0.1.0 */
export type HookServices<Hooks> = Hooks extends ReadonlyArray<infer H> ? H extends AgentHook<infer R> ? R : never
  : never

/** The services that the hooks of a list of plugins need. @category type-level @since 0.1.0 */
export type PluginServices<Plugins> = Plugins extends ReadonlyArray<infer P> ? P extends Plugin<infer R> ? R : never
  : never

/** A configuration whose hooks and plugins may need services. @category models @since 0.1.0 */
export type LayerConfig<Hooks extends ReadonlyArray<AnyHook>, Plugins extends ReadonlyArray<AnyPlugin> = readonly []> =
  & Omit<AgentConfig, "hooks" | "plugins">
  & { readonly hooks?: Hooks; readonly plugins?: Plugins }

/**
 * Makes the runtime as a layer. The layer requires the services of the hooks, and an `LlmProvider` if the configuration
 * has none. Sessions that are still open are closed with the layer.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: {
  <
    const Hooks extends ReadonlyArray<AnyHook> = readonly [],
    const Plugins extends ReadonlyArray<AnyPlugin> = readonly []
  >(
    config: LayerConfig<Hooks, Plugins>
  ): Layer.Layer<AgentRuntime, ConfigError | ChainError, HookServices<Hooks> | PluginServices<Plugins>>
  <
    const Hooks extends ReadonlyArray<AnyHook> = readonly [],
    const Plugins extends ReadonlyArray<AnyPlugin> = readonly []
  >(
    config: Omit<LayerConfig<Hooks, Plugins>, "provider">
  ): Layer.Layer<AgentRuntime, ConfigError | ChainError, HookServices<Hooks> | PluginServices<Plugins> | LlmProvider>
} = (config: Partial<LayerConfig<ReadonlyArray<AnyHook>, ReadonlyArray<AnyPlugin>>>) =>
  Layer.effect(
    AgentRuntime,
    Effect.gen(function*() {
      const provider = config.provider ?? (yield* LlmProvider)
      return yield* make({ ...config, provider })
    })
    // One body cannot have the requirements of both overloads.
  ) as never

/**
 * Makes the runtime. Its hooks use the services that are in the context now. Fails with a `ConfigError` or a
 * `ChainError` if the agent cannot be made. The scope closes its sessions.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(
  function*<R = never>(
    config: AgentConfig<R>
  ): Effect.fn.Return<AgentRuntime, ConfigError | ChainError, R | Scope.Scope> {
    // All Effects of the hooks run in this context, so the runtime itself requires nothing.
    const agent = yield* Effect.fromResult(resolveAgent(config as unknown as AgentConfig))
    const given = (yield* Effect.context<R>()) as Context.Context<never>
    const context = config.log === undefined ? given : Context.merge(given, loggingOf(config.log))
    for (const warning of agent.warnings) yield* Effect.logWarning(warning)
    const { closeAll, listen, openSession, resume, runOnce } = startRuntime(agent, context)
    yield* Effect.addFinalizer(() => closeAll)
    return {
      chain: agent.chain,
      session: openSession,
      run: runOnce,
      resume,
      listen,
      [delegationTarget]: { agent, services: Effect.succeed(context) }
    }
  }
)
