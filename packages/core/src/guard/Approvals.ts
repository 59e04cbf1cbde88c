/**
 * Approvals of tool calls: signed decisions and remembered approvals.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type { Decision, PendingAsk } from "../data/RunState.ts"
import type { RuleStore, StandingRule } from "../data/tool/StandingRule.ts"
import { signDecision } from "./internal/state/signature.ts"

/** A secret key that signs decisions. @category models @since 0.1.0 */
export interface ApprovalKey {
  /** The name of the key in signatures, so that keys can be replaced. */
  readonly id: string
  /** At least 16 bytes. An agent with a shorter one, or without one, is a `ConfigError`. */
  readonly secret: string | Uint8Array
}

export type { RuleStore, StandingRule }

/** How decisions are signed, and where remembered approvals are stored. @category models @since 0.1.0 */
export interface ApprovalConfig {
  /**
   * The keys that sign and verify. With keys, `resume` accepts only signed decisions (see `sign`) and only unchanged
   * snapshots, messages included. Without keys, whoever can change a snapshot can change what runs. The first key
   * signs; all keys verify. A signature is valid for one question. With a session store it can be used only once,
   * because a store accepts each commit only once.
   */
  readonly keys?: readonly [ApprovalKey, ...ReadonlyArray<ApprovalKey>]
  /** Stores rules of scope `project`. Without it, such a rule is valid for the session only. */
  readonly rules?: RuleStore
}

/** What a signed decision is about. @category models @since 0.1.0 */
export interface Question {
  readonly sessionId: string
  readonly turnNumber: number
  readonly ask: PendingAsk
}

/**
 * Signs a decision about one open question. An agent with the same key accepts it.
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

/** Makes a store of rules in memory. Its content is lost when the process ends. @category constructors @since 0.1.0 */
export const inMemoryRules = (): RuleStore => {
  const rules: Array<StandingRule> = []
  return { load: Effect.sync(() => [...rules]), add: (rule) => Effect.sync(() => void rules.push(rule)) }
}
