/** Decides what to do after a failed model call: the default plan, and the changes of the `onLlmError` hooks. */
import * as Random from "effect/Random"
import type { AgentError } from "../../../data/AgentError.ts"
import type { LlmRequest, RetryDecision } from "../../../data/LlmCall.ts"
import * as ProviderError from "../../../data/ProviderError.ts"
import { askHooks } from "../../../guard/internal/point/askHooks.ts"
import { stopOf } from "../../../guard/internal/state/turnEnd.ts"
import type { Step } from "../../../guard/internal/state/yieldable.ts"
import type { TurnEnded } from "../../../guard/TurnEnded.ts"
import type { LlmProvider } from "../../../port/LlmProvider.ts"
import type { AgentTurn } from "../running/turnParts.ts"

/** The longest wait before another attempt, in milliseconds. */
export const maxDelayMs = 60_000

/** The number of retries with the same provider before the next one is called. */
const maxRetries = 2

/** An attempt that failed. */
export interface FailedAttempt {
  readonly error: ProviderError.ProviderError
  readonly attempt: number
  readonly provider: LlmProvider
  readonly request: LlmRequest
  readonly now: number
}

/** Makes the default plan, then lets the hooks change it. */
export const decideRetry = function*(
  turn: AgentTurn,
  failed: FailedAttempt
): Step<RetryDecision, AgentError | TurnEnded> {
  const decision = plan(turn, failed, yield* Random.next)
  const { attempt, error, provider, request } = failed
  const providers = turn.agent.providers.map(({ name }) => name)
  const event = { error, attempt, provider: provider.name, providers, request, decision }
  const outcome = yield* askHooks(turn, "onLlmError", event)
  const stop = stopOf("onLlmError", outcome)
  if (stop !== undefined) return yield* stop
  return outcome === undefined ? decision : outcome.event.decision
}

/** The default plan: use the next provider, without one retry twice with a wait, then fail. */
const plan = (turn: AgentTurn, failed: FailedAttempt, chance: number): RetryDecision => {
  const { agent: { config, health, providers }, io } = turn
  const { attempt, error, now, provider } = failed
  if (config.streamMode === "beforeFirstToken" && io.shownText !== "") return { type: "fail" }
  const others = providers.slice(providers.indexOf(provider) + 1)
  if (error._tag === "ContextOverflow") return largerWindow(others, provider.contextWindow ?? error.limit ?? Infinity)
  const wait = ProviderError.retryAfterMs(error)
  const next = ProviderError.isFallbackable(error) ? others.find(({ name }) => health.allows(name, now)) : undefined
  if (next !== undefined) return { type: "fallback", provider: next.name }
  const canWait = wait === undefined || wait <= maxDelayMs
  if (!ProviderError.isRetryable(error) || attempt > maxRetries || !canWait) return { type: "fail" }
  return { type: "retry", delayMs: wait ?? backOffMs(attempt, chance) }
}

const largerWindow = (others: ReadonlyArray<LlmProvider>, tokens: number): RetryDecision => {
  const larger = others.find(({ contextWindow }) => contextWindow !== undefined && contextWindow > tokens)
  return larger === undefined ? { type: "fail" } : { type: "fallback", provider: larger.name }
}

/**
 * Waits 250 ms, then 500 ms, each reduced by a random part of up to a half, so that clients that fail together do not
 * retry together.
 */
const backOffMs = (attempt: number, chance: number): number => Math.round(250 * 2 ** (attempt - 1) * (0.5 + chance / 2))

/** Returns the first provider whose circuit is closed, or the first of all if there is none. */
export const chooseProvider = (turn: AgentTurn, now: number): LlmProvider => {
  const { health, providers } = turn.agent
  const found = providers.find(({ name }) => health.allows(name, now)) ?? providers[0]
  if (found !== providers[0]) {
    const message = `${providers[0].name} failed too often: ${found.name} is used instead`
    turn.io.publish({ type: "warning", hook: "runtime", message })
  }
  return found
}
