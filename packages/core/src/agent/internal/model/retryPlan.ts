/** What to do about a failed model call: the plan without hooks, and what the `onLlmError` hooks make of it. */
import * as Random from "effect/Random"
import type { AgentError } from "../../../data/AgentError.ts"
import type { LlmRequest, RetryDecision } from "../../../data/LlmCall.ts"
import * as ProviderError from "../../../data/ProviderError.ts"
import type { LlmProvider } from "../../../port/LlmProvider.ts"
import type { TurnEnded } from "../../TurnEnded.ts"
import { askHooks } from "../turn/askHooks.ts"
import type { Turn } from "../turn/turn.ts"
import { stopOf } from "../turn/turnEnd.ts"
import type { Step } from "../turn/yieldable.ts"

/** Longest wait before another attempt, in milliseconds. */
export const maxDelayMs = 60_000

/** Retries on the same provider before the next one is asked. */
const maxRetries = 2

/** An attempt that failed. */
export interface FailedAttempt {
  readonly error: ProviderError.ProviderError
  readonly attempt: number
  readonly provider: LlmProvider
  readonly request: LlmRequest
  readonly now: number
}

/** Plans, then lets the hooks decide. */
export const decideRetry = function*(turn: Turn, failed: FailedAttempt): Step<RetryDecision, AgentError | TurnEnded> {
  const decision = plan(turn, failed, yield* Random.next)
  const { attempt, error, provider, request } = failed
  const providers = turn.agent.providers.map(({ name }) => name)
  const event = { error, attempt, provider: provider.name, providers, request, decision }
  const outcome = yield* askHooks(turn, "onLlmError", event)
  const stop = stopOf("onLlmError", outcome)
  if (stop !== undefined) return yield* stop
  return outcome === undefined ? decision : outcome.event.decision
}

/** Without hooks: wait and retry twice, then ask the next provider, then fail. */
const plan = (turn: Turn, failed: FailedAttempt, chance: number): RetryDecision => {
  const { agent: { config, health, providers }, io } = turn
  const { attempt, error, now, provider } = failed
  if (config.streamMode === "beforeFirstToken" && io.shownText !== "") return { type: "fail" }
  const others = providers.slice(providers.indexOf(provider) + 1)
  if (error._tag === "ContextOverflow") return largerWindow(others, provider.contextWindow ?? error.limit ?? Infinity)
  const wait = ProviderError.retryAfterMs(error)
  const canWait = wait === undefined || wait <= maxDelayMs
  // Where the vendor does not say when to come back, a backup is quicker than waiting.
  const isWorthWaiting = others.length === 0 || wait !== undefined
  if (ProviderError.isRetryable(error) && attempt <= maxRetries && canWait && isWorthWaiting) {
    return { type: "retry", delayMs: wait ?? backOffMs(attempt, chance) }
  }
  const next = ProviderError.isFallbackable(error) ? others.find(({ name }) => health.allows(name, now)) : undefined
  return next === undefined ? { type: "fail" } : { type: "fallback", provider: next.name }
}

const largerWindow = (others: ReadonlyArray<LlmProvider>, tokens: number): RetryDecision => {
  const larger = others.find(({ contextWindow }) => contextWindow !== undefined && contextWindow > tokens)
  return larger === undefined ? { type: "fail" } : { type: "fallback", provider: larger.name }
}

/** 250 ms, then 500 ms, less up to a half: many clients that fail together do not come back together. */
const backOffMs = (attempt: number, chance: number): number => Math.round(250 * 2 ** (attempt - 1) * (0.5 + chance / 2))

/** The first provider that is worth trying; the first of all when none is. */
export const chooseProvider = (turn: Turn, now: number): LlmProvider => {
  const { health, providers } = turn.agent
  const found = providers.find(({ name }) => health.allows(name, now)) ?? providers[0]
  if (found !== providers[0]) {
    const message = `${providers[0].name} failed too often lately: ${found.name} is asked instead`
    turn.io.publish({ type: "warning", hook: "runtime", message })
  }
  return found
}
