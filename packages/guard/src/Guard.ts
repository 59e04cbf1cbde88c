/**
 * The guard of agents that are not written with Belay: the same hooks, inside the loop of another SDK.
 *
 * @since 0.2.0
 */
import { ConfigError } from "@belay/core/AgentError"
import * as Awaitable from "@belay/core/Awaitable"
import type { GuardedTool, GuardSessionOptions } from "@belay/core/Driver"
import * as GuardSession from "@belay/core/GuardSession"
import type { SideRequest } from "@belay/core/HookContext"
import { call, type LlmProvider } from "@belay/core/LlmProvider"
import { checkKinds, checkObject, type OptionKinds } from "@belay/core/OptionCheck"
import { askForObject } from "@belay/core/Output"
import type { Usage } from "@belay/core/Usage"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Driver, Row } from "./Coverage.ts"
import { coverageOf } from "./internal/coverage.ts"

/** Returns what a call costs in US dollars. `Prices` of `@belay/providers` is one. @category models @since 0.2.0 */
export interface Prices {
  readonly costOf: (usage: Usage, model: string, provider?: string) => number | undefined
}

/** The options of a guard. @category models @since 0.2.0 */
export interface GuardOptions extends GuardSession.GuardOptions {
  /** The models that hooks ask with `ctx.llm`, by name. The first is the default. Default: none. */
  readonly models?: { readonly [name: string]: LlmProvider }
  /** What model calls cost. Without it, only costs that the vendor reports are known. */
  readonly prices?: Prices
  /** The names of hooks that must hold, and may run in an SDK that cannot enforce them everywhere. Default: none. */
  readonly allowUnguarded?: ReadonlyArray<string>
}

/** A guard: its hooks, compiled once for any number of sessions. @category models @since 0.2.0 */
export interface Guard extends GuardSession.SessionGuard {
  readonly prices: Prices | undefined
  readonly allowUnguarded: ReadonlyArray<string>
  /** What a driver can do for each hook. The drivers are in the modules of the adapters. */
  readonly coverage: (driver: Driver) => ReadonlyArray<Row>
}

/** What is known about a tool beside its schema. @category models @since 0.2.0 */
export type ToolHints = Pick<GuardedTool, "readOnly" | "destructive" | "idempotent" | "openWorld">

/** The options of one guarded conversation in another SDK. @category models @since 0.2.0 */
export interface ConversationOptions extends Omit<GuardSessionOptions, "driver" | "seesRequests"> {
  /** What is known about the tools, by name. Without hints, nothing is assumed. */
  readonly hints?: { readonly [tool: string]: ToolHints }
  /** The name of the person who answers the questions in the SDK. Default: nobody is named. */
  readonly approvedBy?: string
}

/**
 * Makes a guard. Throws a `ConfigError` or a `ChainError` if the options are wrong.
 *
 * @example
 * ```ts
 * import { Guard } from "@belay/guard"
 * import { Hooks } from "@belay/hooks"
 *
 * const guard = Guard.make({ hooks: Hooks.safeDefaults() })
 * ```
 * @category constructors
 * @since 0.2.0
 */
export const make = (options: GuardOptions = {}): Guard => {
  Result.getOrThrow(checkObject("Guard.make", options, "options"))
  const { allowUnguarded = [], models, prices, ...rest } = options
  Result.getOrThrow(checkKinds("guard", options, optionKinds))
  checkMethod("prices", prices, "costOf")
  for (const [name, model] of Object.entries(models ?? {})) checkMethod(`models.${name}`, model, "complete")
  const llm = models === undefined ? rest.llm : askModels(models)
  const guard = GuardSession.guard(llm === undefined ? rest : { ...rest, llm })
  return { ...guard, prices, allowUnguarded, coverage: (driver) => coverageOf(guard.chain, driver) }
}

const optionKinds: OptionKinds<GuardOptions> = {
  ...GuardSession.optionKinds,
  allowUnguarded: "list",
  models: "object",
  prices: "object"
}

/** Throws a `ConfigError` for a part without its method: it would fail later, in the middle of a turn. */
const checkMethod = (key: string, part: unknown, method: string): void => {
  if (part === undefined || typeof Object(part)[method] === "function") return
  throw new ConfigError({ key: `guard.${key}`, message: `guard.${key}: expected an object with ${method}` })
}

const askModels = (models: NonNullable<GuardOptions["models"]>): NonNullable<GuardSession.GuardOptions["llm"]> => {
  const names = Object.keys(models)
  return (asked: SideRequest, hook: string) => {
    const { model: name = names[0] } = asked
    const provider = name === undefined || !Object.hasOwn(models, name) ? undefined : models[name]
    if (provider === undefined) {
      const message = `ctx.llm of ${hook}: no model is named "${name}": the models are ${names.join(", ") || "none"}`
      return Awaitable.make(Effect.fail(new ConfigError({ key: "models", message })))
    }
    return Awaitable.make(askForObject(asked, `ctx.llm of ${hook}`, (request) => complete(provider, request)))
  }
}

const complete = (
  provider: LlmProvider,
  { instructions, parameters = {}, prompt, tools = [] }: SideRequest
): ReturnType<LlmProvider["complete"]> =>
  call(provider, {
    messages: typeof prompt === "string" ? [{ role: "user", content: prompt }] : prompt,
    tools,
    parameters,
    ...(provider.model === undefined ? {} : { model: provider.model }),
    ...(instructions === undefined ? {} : { instructions })
  })
