/** `ctx.llm`: calls a model for a hook or a tool. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type AgentError, ConfigError } from "../../../data/AgentError.ts"
import type { Awaitable } from "../../../data/effect/Awaitable.ts"
import type { LlmRequest, LlmResponse } from "../../../data/LlmCall.ts"
import type { SideRequest } from "../../../data/SideRequest.ts"
import { nearest } from "../../../data/text/NamePattern.ts"
import { awaitable } from "../../../guard/internal/capability/runPromise.ts"
import { askForObject } from "../../Output.ts"
import type { ResolvedAgent } from "../definition/resolvedAgent.ts"
import { callModelForHook } from "../model/callModel.ts"
import type { Turn } from "../running/turn.ts"
import { type Caller, hookCall } from "./hookCall.ts"

export const askModel = (turn: Turn, asked: SideRequest, hook: string): Awaitable<LlmResponse, AgentError> =>
  askFor(turn, asked, { hook, method: "llm" })

/** A tool is not a hook, so all hooks run for its call. */
export const askModelForTool = (turn: Turn, asked: SideRequest, tool: string): Awaitable<LlmResponse, AgentError> =>
  askFor(turn, asked, { hook: tool, method: "llm", isTool: true })

const askFor = (turn: Turn, asked: SideRequest, caller: Caller): Awaitable<LlmResponse, AgentError> =>
  awaitable(
    turn,
    Effect.suspend(() => {
      const { hook } = caller
      const side = sideModelOf(turn.agent, asked, hook)
      return Result.isFailure(side)
        ? Effect.fail(side.failure)
        : askForObject(asked, `ctx.llm of ${hook}`, (request) =>
          callOnce(turn, request, { ...caller, model: side.success }))
    })
  )

const callOnce = (turn: Turn, request: SideRequest, caller: Caller) =>
  hookCall(turn, caller, (side) =>
    Effect.gen(function*() {
      const startedAt = performance.now()
      const response = yield* callModelForHook(side, requestOf(side.agent, request, caller.model), request.provider)
      const { model: answered, usage } = response
      turn.io.publish({
        type: "hook-llm",
        hook: caller.hook,
        model: answered,
        usage,
        durationMs: performance.now() - startedAt
      })
      return response
    }))

/**
 * Returns the name of the side model that the request names, if it names one. Fails for a name that the agent does not
 * know, because another model must not answer instead.
 */
const sideModelOf = (
  { config, models, providers }: ResolvedAgent,
  { model, provider }: SideRequest,
  hook: string
): Result.Result<string | undefined, ConfigError> => {
  if (model === undefined || provider !== undefined || models.size === 0) return Result.succeed(undefined)
  if (models.has(model)) return Result.succeed(model)
  if (model === config.model || providers.some((one) => one.model === model)) return Result.succeed(undefined)
  const names = [...models.keys()]
  const meant = nearest(model, names)
  const suggestion = meant === undefined ? "" : `did you mean "${meant}"? `
  return Result.fail(
    new ConfigError({
      key: "models",
      message: `ctx.llm of ${hook}: no model is named "${model}": ${suggestion}The side models are ${
        names.join(", ")
      }. For another model of a provider, name the provider too: provider: "${providers[0].name}"`
    })
  )
}

const requestOf = (agent: ResolvedAgent, request: SideRequest, sideModel: string | undefined): LlmRequest => {
  const { instructions, parameters = {}, prompt, tools = [] } = request
  const model = sideModel === undefined ? request.model ?? agent.config.model : agent.providers[0].model
  return {
    messages: typeof prompt === "string" ? [{ role: "user", content: prompt }] : prompt,
    tools,
    parameters,
    ...(model === undefined ? {} : { model }),
    ...(instructions === undefined ? {} : { instructions })
  }
}
