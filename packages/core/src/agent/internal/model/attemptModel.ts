/** One model call, with as many attempts as the hooks, the plan and the cap allow. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { type AgentError, HookRejected } from "../../../data/AgentError.ts"
import type { LlmRequest, LlmResponse, RetryDecision } from "../../../data/LlmCall.ts"
import * as ProviderError from "../../../data/ProviderError.ts"
import * as Usage from "../../../data/Usage.ts"
import type { LlmProvider } from "../../../port/LlmProvider.ts"
import type { TurnEnded } from "../../TurnEnded.ts"
import { compact } from "../session/compact.ts"
import { reachLimit } from "../turn/reachLimit.ts"
import type { Turn } from "../turn/turn.ts"
import { type FailedWrap, wrapAct } from "../turn/wrapAct.ts"
import type { Step } from "../turn/yieldable.ts"
import { type ModelAnswer, prepareRequest, requestOf } from "./modelRequest.ts"
import { chooseProvider, decideRetry, maxDelayMs } from "./retryPlan.ts"
import { streamModel } from "./streamModel.ts"

type Failure = AgentError | TurnEnded

/** Who is asked what. */
interface Target {
  readonly provider: LlmProvider
  readonly request: LlmRequest
}

/** Calls the model until one attempt succeeds. `named` asks for one of the agent's providers. */
export const attemptModel = function*(turn: Turn, request: LlmRequest, named?: string): Step<ModelAnswer, Failure> {
  const { providers } = turn.agent
  let target: Target = {
    request,
    provider: providers.find(({ name }) => name === named) ??
      (providers.length === 1 ? providers[0] : chooseProvider(turn, yield* Clock.currentTimeMillis))
  }
  for (let attempt = 1;; attempt++) {
    const startedAt = turn.io.hasListeners ? performance.now() : 0
    const result = yield* Effect.result(callOnce(turn, target, attempt))
    if (result._tag === "Success") {
      const durationMs = turn.io.hasListeners ? performance.now() - startedAt : 0
      const { name } = target.provider
      return acceptResponse(turn, { response: result.success, provider: name, attempt, executed: true, durationMs })
    }
    const { failure: error } = result
    if (!ProviderError.isProviderError(error)) return yield* Effect.fail(error)
    if (error.partial?.usage !== undefined) turn.state.usage = Usage.add(turn.state.usage, error.partial.usage)
    const shorter = yield* shortenRequest(turn, error)
    if (shorter === undefined) target = yield* nextTarget(turn, target, error, attempt)
    else if ("response" in shorter) return shorter
    else target = { ...target, request: shorter }
  }
}

/** One attempt, surrounded by the hooks that wrap it. */
const callOnce = (turn: Turn, { provider, request }: Target, attempt: number): Effect.Effect<LlmResponse, Failure> => {
  const { agent: { llmWrappers, streams }, io } = turn
  turn.state.llmCalls++
  if (io.hasListeners) {
    io.publish({ type: "llm-start", provider: provider.name, model: request.model ?? provider.model, attempt })
  }
  const act = (value: LlmRequest) =>
    streams || io.hasListeners ? streamModel(turn, provider, value) : provider.complete(value)
  return llmWrappers.length === 0
    ? act(request)
    : wrapAct({ turn, method: "wrapLlmCall", hooks: llmWrappers, act, failed: failedWrap(provider.name) })(request)
}

/** What the failure or the refusal of a `wrapLlmCall` hook means for the call. */
const failedWrap = (provider: string): FailedWrap<LlmResponse> => ({
  broken: (hook, message) =>
    Effect.fail(
      new ProviderError.InvalidRequest({ provider, message: `hook ${hook} failed at wrapLlmCall: ${message}` })
    ),
  refused: (hook, { reason, userMessage }) => {
    const fields = { hook, point: "wrapLlmCall", reason, message: `${hook} rejected wrapLlmCall: ${reason}` }
    return Effect.fail(new HookRejected(userMessage === undefined ? fields : { ...fields, userMessage }))
  }
})

const acceptResponse = (turn: Turn, answer: ModelAnswer): ModelAnswer => {
  const { agent: { health, providers }, state } = turn
  if (providers.length > 1) health.recordSuccess(answer.provider)
  const { usage } = answer.response
  if (usage !== undefined) state.usage = Usage.add(state.usage, usage)
  return answer
}

/** After an overflow of the model's window: compacts once a turn, and gives back the request of what is left. */
const shortenRequest = function*(
  turn: Turn,
  error: ProviderError.ProviderError
): Step<LlmRequest | ModelAnswer | undefined, Failure> {
  if (error._tag !== "ContextOverflow" || turn.window.compactedForOverflow) return undefined
  turn.window.compactedForOverflow = true
  if (!(yield* compact(turn, "overflow", error.limit))) return undefined
  turn.io.retract("context overflow")
  // It is another request, so the hooks see it like the first one.
  return yield* prepareRequest(turn, requestOf(turn))
}

/** After a failure: waits, chooses another provider or model, or gives up. */
const nextTarget = function*(
  turn: Turn,
  target: Target,
  error: ProviderError.ProviderError,
  attempt: number
): Step<Target, Failure> {
  const { agent: { health, limits }, io } = turn
  const { provider, request } = target
  const now = yield* Clock.currentTimeMillis
  if (ProviderError.isRetryable(error)) health.recordFailure(provider.name, now)
  const decision = yield* decideRetry(turn, { error, attempt, provider, request, now })
  const { _tag: kind, message } = error
  io.publish({ type: "llm-error", provider: provider.name, attempt, error: kind, message, decision })
  if (decision.type === "fail") return yield* error
  io.retract(kind)
  if (attempt >= limits.attempts) return yield* reachLimit(turn, "attempts", attempt, limits.attempts)
  if (decision.type === "fallback") return yield* fallBack(turn, target, decision, error)
  yield* Effect.sleep(Math.min(Math.max(decision.delayMs, 0), maxDelayMs))
  return target
}

const fallBack = function*(
  turn: Turn,
  { provider, request }: Target,
  decision: Extract<RetryDecision, { readonly type: "fallback" }>,
  error: ProviderError.ProviderError
): Step<Target, Failure> {
  const { providers } = turn.agent
  const next = decision.provider === undefined ? provider : providers.find(({ name }) => name === decision.provider)
  if (next === undefined) {
    const names = providers.map(({ name }) => name).join(", ")
    turn.io.warn(`fallback to "${decision.provider}", which is not among the providers ${names}`, "runtime")
    return yield* error
  }
  if (decision.model !== undefined) return { provider: next, request: { ...request, model: decision.model } }
  if (next === provider) return { provider, request }
  // Another provider has other models: unless the decision names one, it answers with its own.
  const { model: _model, ...rest } = request
  return { provider: next, request: rest }
}
