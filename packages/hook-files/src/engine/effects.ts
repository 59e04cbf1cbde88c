/** Connects the points of the agent with the events of a dialect. */
import type { AgentHook, HookMethod } from "@belay/core/AgentHook"
import { checked } from "@belay/core/ArgumentCheck"
import type { HookPointName } from "@belay/core/HookPoint"
import * as HookDefaults from "@belay/hooks/HookDefaults"
import * as Effect from "effect/Effect"
import type { Engine } from "./runEntries.ts"

/** What a hook does at one point of the agent, and for which events. */
export interface PointEffect<P extends HookPointName> {
  /** The hook implements the point only if it has an entry for one of these events. */
  readonly events: ReadonlyArray<string>
  readonly run: HookMethod<P>
}

/**
 * What the hooks of a dialect do at each point. Every hook implements a point whose value is a function. It implements
 * a point whose value is a `PointEffect` only if it has entries for its events.
 */
export type Effects = {
  readonly [P in HookPointName]?: HookMethod<P> | PointEffect<P> | undefined
}

/**
 * Returns the methods of a hook: only the points for which it has entries. `has` returns whether there is an entry for
 * one of some events.
 */
export const methodsOf = checked("Engine.methodsOf", ["effects", "has"], (
  effects: Effects,
  has: (...events: ReadonlyArray<string>) => boolean
): Partial<AgentHook> =>
  // `Object.entries` loses the connection between the name of a point and the type of its method.
  Object.fromEntries(
    Object.entries(effects).flatMap(([point, effect]) => {
      if (effect === undefined) return []
      if (typeof effect === "function") return [[point, effect]]
      return has(...effect.events) ? [[point, effect.run]] : []
    })
  ) as Partial<AgentHook>)

/**
 * The priority of hook files. They run after hooks that change values, so that a script rarely has to run again because
 * a later hook has changed what it saw.
 */
export const filePriority = 200

/** The priority of systems whose entries usually change values. They come before those that usually check them. */
export const changingPriority = 150

/**
 * Makes the hook of an engine. It is asked again about a call that another hook has changed, and entries have their own
 * timeouts.
 */
export const hookOf = (
  name: string,
  options: HookDefaults.HookDefaults,
  engine: Pick<Engine<never, never, never, never>, "drained" | "has">,
  effects: Effects,
  more: Pick<AgentHook, "hold" | "priority"> = {}
): AgentHook =>
  HookDefaults.apply(options, {
    priority: filePriority,
    ...more,
    name,
    kind: "policy",
    timeout: "none",
    reinvoke: "ifChanged",
    close: () => engine.drained,
    ...methodsOf(effects, engine.has)
  })

/** Applies a function to the verdict of an event. Returns undefined if no entry runs. */
export const onVerdict = <V, A>(
  verdict: Effect.Effect<V> | undefined,
  effect: (verdict: V) => A
): Effect.Effect<A> | undefined => verdict === undefined ? undefined : Effect.map(verdict, effect)
