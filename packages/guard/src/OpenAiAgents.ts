/**
 * The guard inside the OpenAI Agents SDK: agents keep their loop, and the hooks of Belay decide about every message,
 * model call, tool call and handoff in it.
 *
 * @since 0.2.0
 */
import { ConfigError } from "@belay/core/AgentError"
import type { GuardSession } from "@belay/core/Driver"
import { Agent, type Model, type RunConfig, Runner } from "@openai/agents"
import type { Driver } from "./Coverage.ts"
import type { ConversationOptions, Guard } from "./Guard.ts"
import { checkCovered } from "./internal/coverage.ts"
import { installed } from "./internal/installed.ts"
import { checkRun, GuardedAgents } from "./internal/openAiAgents/agents.ts"
import { checkOptions } from "./internal/options.ts"
import { type Described, Place } from "./internal/place.ts"
import { checkVersion } from "./internal/version.ts"

/** The options of one guarded conversation. @category models @since 0.2.0 */
export type OpenAiAgentsOptions = ConversationOptions

/** One guarded conversation. @category models @since 0.2.0 */
export interface OpenAiAgents {
  readonly session: GuardSession
  /** Returns the agent inside the guard, with the agents to which it hands over. The given agent is not changed. */
  // oxlint-disable-next-line typescript/no-explicit-any -- the context and the output are those of the program
  readonly agent: <A extends Agent<any, any>>(agent: A) => A
  /** Returns a model inside the guard. Needed only for models that no guarded agent has. */
  readonly model: (model: Model) => Model
  /**
   * Makes the runner for agents whose models are names. With `run` alone, the guard would not see their models, and
   * their tools would not run. It rejects with a `ConfigError` if the agent is not guarded.
   */
  readonly runner: (config?: Partial<RunConfig>) => Runner
}

/** What the guard can do in the OpenAI Agents SDK. @category models @since 0.2.0 */
export const driver: Driver = {
  name: "openai-agents",
  places: {
    onSessionStart: "enforced",
    preTurn: "enforced",
    preLlmCall: "enforced",
    onLlmDelta: "enforced",
    postLlmCall: "enforced",
    wrapLlmCall: "enforced",
    onPermission: "enforced",
    preToolCall: "enforced",
    wrapToolCall: "enforced",
    postToolCall: "enforced",
    onToolDenied: "enforced",
    preDelegation: "enforced",
    onBudget: "enforced",
    postStep: "enforced",
    preStop: "enforced",
    postTurn: "enforced",
    revealText: "enforced",
    onSessionEnd: "enforced",
    // A handoff gives the conversation away, so no answer comes back. The program has its own memory and signals.
    postDelegation: "absent",
    preCompaction: "absent",
    postCompaction: "absent",
    concealMessages: "absent",
    onSignal: "absent"
  }
}

/**
 * Guards one conversation. Throws a `ConfigError` that names the hooks which must hold at a point that the SDK does not
 * have.
 *
 * @example
 * ```ts
 * import { defineHook, HookAction } from "@belay/core"
 * import { Guard } from "@belay/guard"
 * import * as OpenAiAgents from "@belay/guard/OpenAiAgents"
 * import { Agent, tool } from "@openai/agents"
 * import * as z from "zod"
 *
 * const careful = defineHook({ name: "careful", tools: "delete_*", preToolCall: () => HookAction.ask("really?") })
 * const guarded = OpenAiAgents.make(Guard.make({ hooks: [careful] }))
 * const deleteFile = tool({
 *   name: "delete_file",
 *   description: "Deletes a file",
 *   parameters: z.object({ path: z.string() }),
 *   execute: ({ path }) => `deleted ${path}`
 * })
 * const agent = guarded.agent(new Agent({ name: "helper", model: "gpt-4.1", tools: [deleteFile] }))
 * const ask = (text: string) => guarded.runner().run(agent, text)
 * ```
 * @category constructors
 * @since 0.2.0
 */
export const make = (guard: Guard, options: OpenAiAgentsOptions = {}): OpenAiAgents => {
  checkOptions(driver.name, options)
  const { approvedBy, hints = {}, ...rest } = options
  checkVersion("@openai/agents", installed("@openai/agents"))
  checkCovered(guard, driver)
  const session = guard.session({ ...rest, driver: driver.name })
  const known = new Map<string, Described>()
  const describe = (name: string) => Promise.resolve(known.get(name) ?? {})
  const agents = new GuardedAgents(new Place({ guard, session, hints, approvedBy, describe }), known)
  return {
    session,
    agent: (agent) => agents.agent(checked(agent)),
    model: (model) => agents.model(model),
    runner: (config = {}) => {
      const { model } = config
      // The SDK knows its default source of models.
      const { config: { modelProvider } } = new Runner(config)
      const runner = new Runner({
        ...config,
        ...(model === undefined || typeof model === "string" ? {} : { model: agents.model(model) }),
        modelProvider: agents.provider(modelProvider)
      })
      const run = runner.run.bind(runner)
      const value = async (...given: Parameters<typeof run>) => {
        checkRun(given[0], given[1], guard.allowUnguarded)
        return await run(...given)
      }
      return Object.defineProperty(runner, "run", { value })
    }
  }
}

/** Throws a `ConfigError` if this is not an agent of the SDK. */
const checked = <A>(agent: A): A => {
  if (agent instanceof Agent) return agent
  throw new ConfigError({ key: "agent", message: "agent: expected an Agent of @openai/agents" })
}
