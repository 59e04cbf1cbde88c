/**
 * What an agent carries so that others can delegate to it. It is a property of the agent object itself: a copy
 * (`{ ...agent }`), a proxy, an object created from the agent, and a wrapper that forwards the property work as
 * sub-agents too.
 */
import type * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { ResolvedAgent } from "../config/resolvedAgent.ts"

/** The key of the property. In the registry of symbols, so that two copies of this package understand each other. */
export const delegationTarget: unique symbol = Symbol.for("@belay/core/delegationTarget")

/** What delegation needs of an agent. */
export interface DelegationTarget {
  readonly agent: ResolvedAgent
  /** The services of its hooks. */
  readonly services: Effect.Effect<Context.Context<never> | undefined>
}

/** An agent that others can delegate to. */
export interface Delegatable {
  readonly [delegationTarget]: DelegationTarget
}

/** What an object carries, if it is an agent. */
export const targetOf = (agent: object): DelegationTarget | undefined => {
  const target: unknown = delegationTarget in agent ? agent[delegationTarget] : undefined
  return isTarget(target) ? target : undefined
}

const isTarget = (value: unknown): value is DelegationTarget =>
  typeof value === "object" && value !== null && "agent" in value && "services" in value
