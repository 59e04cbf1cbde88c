/**
 * The guard inside LangChain 1 and LangGraph: `createAgent` and graphs keep their loop, and the hooks of Belay decide
 * about every message, model call and tool call in it.
 *
 * @since 0.2.0
 */
import { ConfigError } from "@belay/core/AgentError"
import type { GuardSession } from "@belay/core/Driver"
import type { BaseChatModel } from "@langchain/core/language_models/chat_models"
import coreManifest from "@langchain/core/package.json" with { type: "json" }
import type { StructuredToolInterface } from "@langchain/core/tools"
import graphManifest from "@langchain/langgraph/package.json" with { type: "json" }
import { type AgentMiddleware, type AnyAgentMiddleware, createAgent, createMiddleware } from "langchain"
import manifest from "langchain/package.json" with { type: "json" }
import type { Driver } from "./Coverage.ts"
import type { ConversationOptions, Guard } from "./Guard.ts"
import { checkCovered, wholeLoop } from "./internal/coverage.ts"
import { GuardedCalls } from "./internal/langChain/model.ts"
import { checkPlain, guardTool, KnownTools, wrapToolCall } from "./internal/langChain/tools.ts"
import { checkOptions } from "./internal/options.ts"
import { Place } from "./internal/place.ts"
import { checkVersion } from "./internal/version.ts"

/** The options of one guarded conversation. @category models @since 0.2.0 */
export type LangChainOptions = ConversationOptions

/** One guarded conversation. @category models @since 0.2.0 */
export interface LangChain {
  readonly session: GuardSession
  /**
   * Creates an agent as `createAgent` of LangChain does, inside the guard. The guard comes after all other middleware,
   * so that nothing changes a call which the guard has allowed.
   */
  readonly createAgent: typeof createAgent
  /** The guard as middleware, for functions that create agents themselves. It must be the last one. */
  readonly middleware: AgentMiddleware
  /** Wraps a chat model that a graph calls itself, before tools are bound to it. */
  readonly model: (model: BaseChatModel) => BaseChatModel
  /** Wraps tools that a graph runs itself, for example with a `ToolNode`. Their types stay the same. */
  readonly tools: <const T extends ReadonlyArray<StructuredToolInterface>>(
    tools: T
  ) => { -readonly [K in keyof T]: T[K] }
}

/** What the guard can do in LangChain and LangGraph. @category models @since 0.2.0 */
export const driver: Driver = {
  name: "langchain",
  places: wholeLoop
}

const name = "belay-guard"

/**
 * Guards one conversation. Throws a `ConfigError` that names the hooks which must hold at a point that LangChain does
 * not have.
 *
 * @example
 * ```ts
 * import { defineHook, HookAction } from "@belay/core"
 * import { Guard } from "@belay/guard"
 * import * as LangChain from "@belay/guard/LangChain"
 * import { fakeModel, tool } from "langchain"
 * import * as z from "zod"
 *
 * const careful = defineHook({ name: "careful", tools: "delete_*", preToolCall: () => HookAction.reject("not here") })
 * const guarded = LangChain.make(Guard.make({ hooks: [careful] }))
 * const deleteFile = tool(({ path }) => `deleted ${path}`, {
 *   name: "delete_file",
 *   description: "Deletes a file",
 *   schema: z.object({ path: z.string() })
 * })
 * const agent = guarded.createAgent({ model: fakeModel(), tools: [deleteFile] })
 * const ask = (content: string) => agent.invoke({ messages: [{ role: "user", content }] })
 * ```
 * @category constructors
 * @since 0.2.0
 */
export const make = (guard: Guard, options: LangChainOptions = {}): LangChain => {
  checkOptions(driver.name, options)
  const { approvedBy, hints = {}, ...rest } = options
  checkVersion("langchain", manifest.version)
  checkVersion("@langchain/core", coreManifest.version)
  checkVersion("@langchain/langgraph", graphManifest.version)
  checkCovered(guard, driver)
  const session = guard.session({ ...rest, driver: driver.name })
  const known = new KnownTools()
  const place = new Place({ guard, session, hints, approvedBy, describe: known.describe })
  const calls = new GuardedCalls(place, known)
  const { wrapModelCall } = calls
  const middleware = createMiddleware({ name, wrapModelCall, wrapToolCall: wrapToolCall(place, known) })
  const guardedAgent = (params: Parameters<typeof createAgent>[0]) => {
    const { middleware: others = [], tools } = Object(params) as typeof params
    checkPlain(tools)
    if (!Array.isArray(others)) throw new ConfigError({ key: "middleware", message: "middleware: expected a list" })
    if (others.some((one) => Object(one).name === name)) {
      throw new ConfigError({ key: "middleware", message: "middleware: the agent is guarded already: wrap it once" })
    }
    const all: ReadonlyArray<AnyAgentMiddleware> = [...others, middleware]
    return createAgent({ ...params, middleware: all })
  }
  return {
    session,
    // It takes and returns what the function of LangChain does, which infers its types from the parameters.
    createAgent: guardedAgent as typeof createAgent,
    middleware,
    model: (model) => calls.model(model),
    // Each tool keeps its type, because only its `invoke` is another.
    tools: (tools) => listOf(tools).map((tool) => guardTool(place, known, tool)) as never
  }
}

const listOf = <T>(tools: ReadonlyArray<T>): ReadonlyArray<T> => {
  if (Array.isArray(tools)) return tools
  throw new ConfigError({ key: "tools", message: "tools: expected a list of tools" })
}
