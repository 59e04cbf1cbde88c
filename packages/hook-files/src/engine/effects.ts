/** The effects of a dialect: what its hook does at each point of the agent, and which events that is for. */
import type { AgentHook, HookMethod } from "@belay/core/AgentHook"
import type { HookPointName } from "@belay/core/HookPoint"
import * as Effect from "effect/Effect"

/** What a hook does at one point. */
export interface PointEffect<P extends HookPointName> {
  /** The hook implements the point only where there are entries of any of these events. */
  readonly events: ReadonlyArray<string>
  readonly run: HookMethod<P>
}

/** By point. A function is for every hook of the dialect, whatever entries there are. */
export type Effects = {
  readonly [P in HookPointName]?: HookMethod<P> | PointEffect<P> | undefined
}

/** The methods of a hook: the effects for whose events there are entries. */
export const methodsOf = (
  effects: Effects,
  has: (...events: ReadonlyArray<string>) => boolean
): Partial<AgentHook> =>
  // The compiler does not connect a point with its own method across a list of entries.
  Object.fromEntries(
    Object.entries(effects).flatMap(([point, effect]) => {
      if (effect === undefined) return []
      if (typeof effect === "function") return [[point, effect]]
      return has(...effect.events) ? [[point, effect.run]] : []
    })
  ) as Partial<AgentHook>

/** Continues with the verdict of an event; undefined where no entry ran. */
export const onVerdict = <V, A>(
  verdict: Effect.Effect<V> | undefined,
  effect: (verdict: V) => A
): Effect.Effect<A> | undefined => verdict === undefined ? undefined : Effect.map(verdict, effect)
