/**
 * Approvals of tool calls: signed decisions, and approvals that are remembered.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type { Decision, PendingAsk } from "../data/RunState.ts"
import type { RuleStore, StandingRule } from "../data/StandingRule.ts"
import { signDecision } from "./internal/session/signature.ts"

/** A secret with which decisions are signed. @category models @since 0.1.0 */
export interface ApprovalKey {
  /** Names the key in signatures, so that keys can be replaced. */
  readonly id: string
  /** At least 16 bytes. */
  readonly secret: string | Uint8Array
}

export type { RuleStore, StandingRule }

/** @category models @since 0.1.0 */
export interface ApprovalConfig {
  /**
   * With keys, `resume` takes only signed decisions (`sign`), and only snapshots that nobody has changed. The first key
   * signs, all of them verify. A signature counts for one question. It counts only once when the agent has a session
   * store, which takes a step from one process only.
   */
  readonly keys?: readonly [ApprovalKey, ...ReadonlyArray<ApprovalKey>]
  /** Where rules of scope `project` are kept. Without it such a rule counts for the session only. */
  readonly rules?: RuleStore
}

/** What a decision is about. @category models @since 0.1.0 */
export interface Question {
  readonly sessionId: string
  readonly turnNumber: number
  readonly ask: PendingAsk
}

/**
 * Signs a decision about one open question, for an agent with the same key.
 *
 * @example
 * ```ts
 * import * as Approvals from "@belay/core/Approvals"
 * import type { Suspended } from "@belay/core/RunResult"
 *
 * const key = { id: "2026", secret: "not-a-real-secret-just-an-example" }
 * const approveAll = async ({ pending, sessionId, turnNumber }: Suspended) =>
 *   Object.fromEntries(await Promise.all(pending.map(async (ask) =>
 *     [ask.callId, await Approvals.sign(key, { sessionId, turnNumber, ask }, { type: "approve", by: "ada" })] as const
 *   )))
 * ```
 * @category signing
 * @since 0.1.0
 */
export const sign = async <D extends Decision>(key: ApprovalKey, question: Question, decision: D): Promise<D> => ({
  ...decision,
  signature: await signDecision(key, { question, decision })
})

/** Makes a store of rules that lives as long as the process. @category constructors @since 0.1.0 */
export const inMemoryRules = (): RuleStore => {
  const rules: Array<StandingRule> = []
  return { load: Effect.sync(() => [...rules]), add: (rule) => Effect.sync(() => void rules.push(rule)) }
}
