/**
 * The guard inside Mastra: agents keep their loop, and the hooks of Belay decide about every message, model call, tool
 * call and delegation in it.
 *
 * @since 0.2.0
 */
import { ConfigError } from "@belay/core/AgentError"
import type { GuardSession } from "@belay/core/Driver"
import type { Driver } from "./Coverage.ts"
import type { ConversationOptions, Guard } from "./Guard.ts"
import { checkCovered, wholeLoop } from "./internal/coverage.ts"
import { installed } from "./internal/installed.ts"
import { GuardedAgents } from "./internal/mastra/agents.ts"
import { GuardedTools } from "./internal/mastra/tools.ts"
import { checkOptions } from "./internal/options.ts"
import { Place } from "./internal/place.ts"
import { checkVersion } from "./internal/version.ts"

/** The options of one guarded conversation. @category models @since 0.2.0 */
export type MastraOptions = ConversationOptions

/** The parts of an agent's options that the guard wraps. */
interface Settings {
  readonly model?: unknown
  readonly tools?: unknown
  readonly agents?: unknown
}

/** One guarded conversation. @category models @since 0.2.0 */
export interface Mastra {
  readonly session: GuardSession
  /** Wraps the options of `new Agent(...)`: its model and its tools. Their types stay the same. */
  readonly config: <C extends Settings>(config: C) => C
  /** Wraps a model that a call chooses in place of the agent's. */
  readonly model: <M>(model: M) => M
  /** Wraps tools that a call adds, such as a toolset. Their types stay the same. */
  readonly tools: <T extends object>(tools: T) => T
}

/** What the guard can do in Mastra. @category models @since 0.2.0 */
export const driver: Driver = {
  name: "mastra",
  places: { ...wholeLoop, preDelegation: "enforced", postDelegation: "enforced" }
}

/**
 * Guards one conversation. Throws a `ConfigError` that names the hooks which must hold at a point that Mastra does not
 * have.
 *
 * @example
 * ```ts
 * import { defineHook, HookAction } from "@belay/core"
 * import { Guard } from "@belay/guard"
 * import * as Mastra from "@belay/guard/Mastra"
 *
 * const careful = defineHook({ name: "careful", tools: "delete_*", preToolCall: () => HookAction.ask("really?") })
 * const guarded = Mastra.make(Guard.make({ hooks: [careful] }))
 * // new Agent(guarded.config({ id, name, instructions, model, tools }))
 * ```
 * @category constructors
 * @since 0.2.0
 */
export const make = (guard: Guard, options: MastraOptions = {}): Mastra => {
  checkOptions(driver.name, options)
  const { approvedBy, hints = {}, ...rest } = options
  checkVersion("@mastra/core", installed("@mastra/core"))
  checkCovered(guard, driver)
  const session = guard.session({ ...rest, driver: driver.name })
  const known = new GuardedTools((describe) => new Place({ guard, session, hints, approvedBy, describe }))
  const agents = new GuardedAgents(known.place, known)
  return {
    session,
    model: (model) => agents.model(model),
    tools: (tools) => known.wrap(tools),
    config: (config) => {
      const { agents: others, model, tools } = checked(config)
      return {
        ...config,
        ...(model === undefined ? {} : { model: agents.model(model) }),
        ...(tools === undefined || tools === null ? {} : { tools: toolsOf(known, tools) }),
        ...(others === undefined ? {} : { agents: agents.agents(others) }),
        defaultNetworkOptions: noNetwork
      }
    }
  }
}

/** A network asks for these options first. It runs agents and workflows without any hook, so it does not begin. */
const noNetwork = (): never => {
  throw new ConfigError({
    key: "network",
    message: "network: a guarded agent cannot lead a network, because it chooses agents, tools and workflows without " +
      "the guard: use generate or stream, with guarded agents in agents"
  })
}

/** Throws a `ConfigError` if these are not the options of an agent. */
const checked = (config: Settings): Settings => {
  if (typeof config === "object" && config !== null) return config
  throw new ConfigError({ key: "config", message: "config: expected the options of an agent of Mastra" })
}

/** Wraps tools, or what a function chooses. */
const toolsOf = (known: GuardedTools, tools: unknown): unknown =>
  typeof tools === "function"
    ? async (options: unknown) => known.wrap(Object(await (tools as (options: unknown) => unknown)(options)) as object)
    : known.wrap(Object(tools) as object)
