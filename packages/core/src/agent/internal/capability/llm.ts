/** `ctx.llm`: calls a model for a hook. */
import * as Effect from "effect/Effect"
import type { AgentError } from "../../../data/AgentError.ts"
import type { Awaitable } from "../../../data/Awaitable.ts"
import type { LlmRequest, LlmResponse } from "../../../data/LlmCall.ts"
import type { SideRequest } from "../../../hook/HookContext.ts"
import { callModelForHook } from "../model/callModel.ts"
import type { Turn } from "../turn/turn.ts"
import { hookCall } from "./hookCall.ts"
import { awaitable } from "./runPromise.ts"

export const askModel = (turn: Turn, request: SideRequest, hook: string): Awaitable<LlmResponse, AgentError> =>
  awaitable(
    turn,
    hookCall(turn, { hook, method: "llm" }, (side) =>
      Effect.gen(function*() {
        const startedAt = performance.now()
        const response = yield* callModelForHook(side, requestOf(turn, request), request.provider)
        const { model, usage } = response
        turn.io.publish({ type: "hook-llm", hook, model, usage, durationMs: performance.now() - startedAt })
        return response
      }))
  )

const requestOf = ({ agent }: Turn, request: SideRequest): LlmRequest => {
  const { instructions, model = agent.config.model, parameters = {}, prompt, tools = [] } = request
  return {
    messages: typeof prompt === "string" ? [{ role: "user", content: prompt }] : prompt,
    tools,
    parameters,
    ...(model === undefined ? {} : { model }),
    ...(instructions === undefined ? {} : { instructions })
  }
}
