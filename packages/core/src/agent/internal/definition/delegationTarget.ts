/**
 * The property of an agent object through which others delegate to it. Because it is a property, a copy (`{ ...agent
 * }`), a proxy, an object created from the agent, or a wrapper that forwards the property also works as a sub-agent.
 */
import type * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { ResolvedAgent } from "./resolvedAgent.ts"

/** The key of the property. It is a registered symbol, so that two copies of this package are compatible. */
export const delegationTarget: unique symbol = Symbol.for("@belay/core/delegationTarget")

/** The parts of an agent that delegation needs. */
export interface DelegationTarget {
  readonly agent: ResolvedAgent
  /** The services of its hooks. */
  readonly services: Effect.Effect<Context.Context<never> | undefined>
}

/** An agent that others can delegate to. */
export interface Delegatable {
  readonly [delegationTarget]: DelegationTarget
}

/** Returns the delegation target of an object, if it is an agent. */
export const targetOf = (agent: object): DelegationTarget | undefined => {
  const target: unknown = delegationTarget in agent ? agent[delegationTarget] : undefined
  return isTarget(target) ? target : undefined
}

const isTarget = (value: unknown): value is DelegationTarget =>
  typeof value === "object" && value !== null && "agent" in value && "services" in value
