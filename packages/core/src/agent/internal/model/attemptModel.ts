/** Runs one model call, with as many attempts as the hooks, the retry plan and the limit allow. */
import * as Effect from "effect/Effect"
import type { AgentError } from "../../../data/AgentError.ts"
import * as Deadline from "../../../data/effect/Deadline.ts"
import type { LlmRequest, LlmResponse, RetryDecision } from "../../../data/LlmCall.ts"
import * as ProviderError from "../../../data/ProviderError.ts"
import { failedModelWrap, type ModelAnswer, prepareRequest } from "../../../guard/internal/point/modelCall.ts"
import { wrapAct } from "../../../guard/internal/point/wrapAct.ts"
import { type Step, toEffect } from "../../../guard/internal/state/yieldable.ts"
import type { TurnEnded } from "../../../guard/TurnEnded.ts"
import { parkBeforeModel } from "../running/parkRequest.ts"
import { reachLimit } from "../running/reachLimit.ts"
import type { ModelTurn } from "../running/turnParts.ts"
import { compact } from "../window/compact.ts"
import { callProvider, countAnswer, countCall, countFailure, requestOf, type Target } from "./callProvider.ts"
import { readResponse } from "./checkResponse.ts"
import { chooseProvider, decideRetry, maxDelayMs } from "./retryPlan.ts"

type Failure = AgentError | TurnEnded

/** Calls the model until one attempt succeeds. `named` is the name of the provider to use first. */
export const attemptModel = (
  turn: ModelTurn,
  request: LlmRequest,
  named?: string
): Effect.Effect<ModelAnswer, Failure> => {
  const { providers } = turn.agent
  const provider = providers.length === 1 ? providers[0] : providers.find(({ name }) => name === named)
  if (provider !== undefined) return attempt(turn, { provider, request }, 1)
  return Effect.flatMap(
    Deadline.now,
    (now) => attempt(turn, { provider: chooseProvider(turn, now), request }, 1)
  )
}

/** Runs one attempt, and the next one if it fails. Only a failed attempt needs a generator. */
const attempt = (turn: ModelTurn, target: Target, count: number): Effect.Effect<ModelAnswer, Failure> => {
  const { agent: { health, llmWrappers, providers }, io } = turn
  const startedAt = io.hasListeners ? performance.now() : 0
  // Behind wrappers, every call of the provider is counted for itself.
  const isCounted = llmWrappers.length > 0
  const onFailure = (failed: Failure): Effect.Effect<ModelAnswer, Failure> => {
    const error = isCounted ? failed : countFailure(turn, target, failed)
    return ProviderError.isProviderError(error)
      ? toEffect(() => attemptAgain(turn, target, error, count))
      : Effect.fail(error)
  }
  return Effect.matchEffect(callOnce(turn, target, count), {
    onFailure,
    onSuccess: (answered) => {
      const read = isCounted ? answered : readResponse(target.provider.name, answered, turn.agent.limits)
      if (read instanceof ProviderError.Malformed) return onFailure(read)
      const response = isCounted ? read : countAnswer(turn, target, read)
      const durationMs = io.hasListeners ? performance.now() - startedAt : 0
      const answer = { response, provider: target.provider.name, attempt: count, durationMs, executed: true }
      const { firstDeltaAt } = io
      if (providers.length > 1) health.recordSuccess(answer.provider)
      return Effect.succeed(firstDeltaAt === undefined ? answer : { ...answer, firstDeltaMs: firstDeltaAt - startedAt })
    }
  })
}

/**
 * Chooses the next attempt after a failure: a shorter request, another provider or model, or the same again after a
 * wait. Fails if there is no next attempt.
 */
const attemptAgain = function*(
  turn: ModelTurn,
  target: Target,
  error: ProviderError.ProviderError,
  count: number
): Step<ModelAnswer, Failure> {
  const shorter = yield* shortenRequest(turn, error)
  if (shorter !== undefined && "response" in shorter) return shorter
  const next = shorter === undefined
    ? yield* nextTarget(turn, target, error, count)
    : { ...target, request: shorter }
  return yield* attempt(turn, next, count + 1)
}

/** Runs one attempt inside the hooks that wrap it. */
const callOnce = (
  turn: ModelTurn,
  { provider, request }: Target,
  attempt: number
): Effect.Effect<LlmResponse, Failure> => {
  const { agent: { llmWrappers }, io } = turn
  turn.state.llmCalls++
  if (io.hasListeners) {
    io.firstDeltaAt = undefined
    io.publish({ type: "llm-start", provider: provider.name, model: request.model ?? provider.model, attempt })
  }
  if (llmWrappers.length === 0) return callProvider(turn, { provider, request })
  // A wrapper may call the model twice, later or never.
  const act = (value: LlmRequest) => countCall(turn, { provider, request: value })
  return wrapAct({ turn, method: "wrapLlmCall", hooks: llmWrappers, act, failed: failedModelWrap(provider.name) })(
    request
  )
}

/** After an overflow of the model's window: compacts, at most once per turn, and returns the shorter request. */
const shortenRequest = function*(
  turn: ModelTurn,
  error: ProviderError.ProviderError
): Step<LlmRequest | ModelAnswer | undefined, Failure> {
  if (error._tag !== "ContextOverflow" || turn.window.compactedForOverflow) return undefined
  turn.window.compactedForOverflow = true
  if (!(yield* compact(turn, "overflow", error.limit))) return undefined
  turn.io.retract("context overflow")
  // It is a new request, so the hooks run for it too.
  return yield* prepareRequest(turn, requestOf(turn))
}

/** After a failure: waits, chooses another provider or model, or fails. */
const nextTarget = function*(
  turn: ModelTurn,
  target: Target,
  error: ProviderError.ProviderError,
  attempt: number
): Step<Target, Failure> {
  const { agent: { health, limits }, io } = turn
  const { provider, request } = target
  const now = yield* Deadline.now
  if (ProviderError.isRetryable(error)) health.recordFailure(provider.name, now)
  const decision = yield* decideRetry(turn, { error, attempt, provider, request, now })
  const { _tag: kind, message } = error
  io.publish({ type: "llm-error", provider: provider.name, attempt, error: kind, message, decision })
  if (decision.type === "fail") return yield* error
  io.retract(kind)
  if (attempt >= limits.attempts) return yield* reachLimit(turn, "attempts", attempt, limits.attempts)
  if (decision.type === "fallback") return yield* fallBack(turn, target, decision, error)
  yield* Effect.raceFirst(Effect.sleep(Math.min(Math.max(decision.delayMs, 0), maxDelayMs)), turn.parkRequested)
  if (turn.isParking) return yield* parkBeforeModel(turn)
  return target
}

const fallBack = function*(
  turn: ModelTurn,
  { provider, request }: Target,
  decision: Extract<RetryDecision, { readonly type: "fallback" }>,
  error: ProviderError.ProviderError
): Step<Target, Failure> {
  const { providers } = turn.agent
  const next = decision.provider === undefined ? provider : providers.find(({ name }) => name === decision.provider)
  if (next === undefined) {
    const names = providers.map(({ name }) => name).join(", ")
    turn.io.warn(`fallback to "${decision.provider}", which is not one of the providers ${names}`, "runtime")
    return yield* error
  }
  if (decision.model !== undefined) return { provider: next, request: { ...request, model: decision.model } }
  if (next === provider) return { provider, request }
  // Another provider has other models. It uses its default model unless the decision names one.
  const { model: _model, ...rest } = request
  return { provider: next, request: rest }
}
