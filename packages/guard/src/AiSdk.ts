/**
 * The guard inside the AI SDK 7: `generateText`, `streamText` and `ToolLoopAgent` keep their loop, and the hooks of
 * Belay decide about every message, model call and tool call in it.
 *
 * @since 0.2.0
 */
import type { LanguageModelV4 } from "@ai-sdk/provider"
import { ConfigError } from "@belay/core/AgentError"
import type { GuardSession } from "@belay/core/Driver"
import type { ToolApprovalStatus, ToolSet } from "ai"
import manifest from "ai/package.json" with { type: "json" }
import type { Driver } from "./Coverage.ts"
import type { ConversationOptions, Guard } from "./Guard.ts"
import { approvalFor, isGuardedApproval } from "./internal/aiSdk/approval.ts"
import { ClientCalls } from "./internal/aiSdk/clientCalls.ts"
import { DescribedTools } from "./internal/aiSdk/described.ts"
import { GuardedModel, guardedTwice } from "./internal/aiSdk/model.ts"
import { guardTools, isGuarded } from "./internal/aiSdk/tools.ts"
import { checkCovered, wholeLoop } from "./internal/coverage.ts"
import { checkOptions } from "./internal/options.ts"
import { Place } from "./internal/place.ts"
import { TurnInput } from "./internal/turnInput.ts"
import { checkVersion } from "./internal/version.ts"

/** The options of one guarded conversation. @category models @since 0.2.0 */
export type AiSdkOptions = ConversationOptions

/** The parts of a call of the AI SDK that the guard wraps. */
interface Settings {
  readonly model: unknown
  readonly tools?: ToolSet | undefined
  readonly toolApproval?: unknown
  readonly prepareStep?: unknown
  readonly prepareCall?: unknown
}

/** One guarded conversation. @category models @since 0.2.0 */
export interface AiSdk {
  readonly session: GuardSession
  /** Wraps the settings of `generateText`, `streamText` or `ToolLoopAgent`: their model, tools and approvals. */
  readonly settings: <S extends Settings>(settings: S) => S & { readonly toolApproval: ToolApproval }
  /** Wraps a model. */
  readonly model: (model: LanguageModelV4) => LanguageModelV4
  /** Wraps tools. Their types stay the same. */
  readonly tools: <T extends ToolSet>(tools: T) => T
  /** Answers the AI SDK whether a call needs approval. Calls that no hook asks about go to `other`. */
  readonly toolApproval: (other?: unknown) => ToolApproval
}

/** Decides whether a call needs approval, for any set of tools. @category models @since 0.2.0 */
// oxlint-disable-next-line typescript/no-explicit-any -- its parameter depends on the tools of the call
export type ToolApproval = (options: any) => Promise<ToolApprovalStatus>

/** What the guard can do in the AI SDK. @category models @since 0.2.0 */
export const driver: Driver = {
  name: "ai-sdk",
  places: wholeLoop
}

/**
 * Guards one conversation. Throws a `ConfigError` that names the hooks which must hold at a point that the AI SDK does
 * not have.
 *
 * @example
 * ```ts
 * import { defineHook, HookAction } from "@belay/core"
 * import { Guard } from "@belay/guard"
 * import * as AiSdk from "@belay/guard/AiSdk"
 * import { generateText, isStepCount, tool } from "ai"
 * import { MockLanguageModelV4 } from "ai/test"
 * import * as z from "zod"
 *
 * const careful = defineHook({ name: "careful", tools: "delete_*", preToolCall: () => HookAction.ask("really?") })
 * const guard = Guard.make({ hooks: [careful] })
 * const guarded = AiSdk.make(guard)
 * const { text } = await generateText(guarded.settings({
 *   model: new MockLanguageModelV4(),
 *   tools: {
 *     delete_file: tool({
 *       inputSchema: z.object({ path: z.string() }),
 *       execute: ({ path }) => `deleted ${path}`
 *     })
 *   },
 *   stopWhen: isStepCount(10),
 *   prompt: "Delete the file notes.tmp"
 * }))
 * ```
 * @category constructors
 * @since 0.2.0
 */
export const make = (guard: Guard, options: AiSdkOptions = {}): AiSdk => {
  checkOptions(driver.name, options)
  const { approvedBy, hints = {}, ...rest } = options
  checkVersion("ai", manifest.version)
  checkCovered(guard, driver)
  const session = guard.session({ ...rest, driver: driver.name })
  const described = new DescribedTools()
  const place = new Place({ guard, session, hints, approvedBy, describe: described.describe })
  const clients = new ClientCalls(place, described)
  const input = new TurnInput(place)
  const tools = <T extends ToolSet>(given: T): T => guardTools(place, described, given)
  const model = (given: LanguageModelV4): LanguageModelV4 =>
    new GuardedModel(place, input, checked(given), clients.check)
  const toolApproval = (other?: unknown): ToolApproval => approvalFor(place, clients, other)
  return {
    session,
    model,
    tools,
    toolApproval,
    settings: (settings) => ({
      ...settings,
      // The type of a model stays what the caller has given.
      model: model(Object(settings).model as LanguageModelV4) as (typeof settings)["model"],
      ...(settings.tools === undefined || settings.tools === null ? {} : { tools: tools(settings.tools) }),
      toolApproval: toolApproval(settings.toolApproval),
      ...prepared("prepareStep", settings.prepareStep, { model, tools }),
      ...prepared("prepareCall", settings.prepareCall, { model, tools, toolApproval })
    })
  }
}

/** Guards the model, the tools and the approvals that a function of the program chooses for a step or a call. */
const prepared = (
  name: "prepareStep" | "prepareCall",
  prepare: unknown,
  { model, toolApproval, tools }: Pick<AiSdk, "model" | "tools"> & Partial<Pick<AiSdk, "toolApproval">>
): { readonly [K in typeof name]?: (options: unknown) => Promise<unknown> } => {
  if (typeof prepare !== "function") return {}
  return {
    [name]: async (options: unknown) => {
      const given: unknown = await (prepare as (options: unknown) => unknown)(options)
      if (typeof given !== "object" || given === null) return given
      const { model: chosen, toolApproval: other, tools: found } = given as Partial<Settings>
      return {
        ...given,
        ...(chosen === undefined || chosen instanceof GuardedModel ? {} : { model: model(chosen as LanguageModelV4) }),
        ...(toolApproval === undefined || isGuardedApproval(other) ? {} : { toolApproval: toolApproval(other) }),
        ...(found === undefined ? {} : {
          tools: Object.fromEntries(
            Object.entries(found).map(([key, tool]) => [key, isGuarded(tool) ? tool : tools({ [key]: tool })[key]])
          )
        })
      }
    }
  }
}

/** Throws a `ConfigError` if this is not a model that can be wrapped. */
const checked = (model: unknown): LanguageModelV4 => {
  if (model instanceof GuardedModel) throw guardedTwice()
  const version = typeof model === "object" && model !== null && "specificationVersion" in model
    ? model.specificationVersion
    : undefined
  if (version === "v4") return model as LanguageModelV4
  const found = typeof model === "string"
    ? `the name "${model}"`
    : typeof version === "string"
    ? version
    : "something else"
  throw new ConfigError({
    key: "model",
    message: `model: expected a model of the AI SDK 7 (specification v4), found ${found}: ` +
      "pass the object that a provider makes, for example gateway(\"vendor/model\")"
  })
}
