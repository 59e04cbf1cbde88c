/** A model call of a budget, from its plan to its settlement. */
import type { HookContext } from "@belay/core/HookContext"
import type { LlmRequest } from "@belay/core/LlmCall"
import type { Tokenizer } from "@belay/core/Tokenizer"
import * as Effect from "effect/Effect"
import * as Ledger from "../Ledger.ts"
import type { Charge } from "./budgetCharges.ts"
import type { OpenCalls } from "./openCalls.ts"

/** The options that accounts need. */
export interface AccountOptions {
  readonly assumeOutputTokens?: number
  readonly ledger?: Ledger.Ledger
  readonly onLimit?: "reject" | "abort"
  readonly onUnknownPrice?: "stop" | "count"
  readonly tokenizer?: Tokenizer
}

/** A call that has no reservation yet. */
export interface Plan {
  readonly id: string
  readonly request: LlmRequest
  /** The most that the call may cost. */
  readonly estimate: Ledger.Amount
  readonly ctx: HookContext
  /** The calls of the turn that have a reservation. */
  readonly open: OpenCalls
}

/** A call, from its reservation to its settlement. */
export interface Call extends Plan {
  readonly charges: ReadonlyArray<Charge>
}

/** What an account says about a call. */
export type Verdict = "reserved" | "wait" | { readonly reason: string }

export const areReserved = (verdicts: ReadonlyArray<Verdict>): boolean =>
  verdicts.every((verdict) => verdict === "reserved")

/** A call of which only the number counts. */
export const oneCall: Ledger.Amount = Object.freeze({ ...Ledger.nothing, calls: 1 })

export const toEffect = <A>(run: () => A | Effect.Effect<A, unknown>): Effect.Effect<A, unknown> =>
  Effect.suspend(() => {
    const result = run()
    return Effect.isEffect(result) ? result : Effect.succeed(result)
  })

/** Errors with which a vendor refuses a call before a model runs. */
export const freeErrors: ReadonlySet<string> = new Set([
  "RateLimited",
  "Overloaded",
  "ContextOverflow",
  "Auth",
  "NotFound",
  "InvalidRequest"
])
