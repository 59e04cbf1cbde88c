/**
 * A hook that records every point, for tests of agents.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import { checked } from "@belay/core/ArgumentCheck"
import type { HookContext, ObservedOutcome } from "@belay/core/HookContext"
import { type HookPointName, type In, names } from "@belay/core/HookPoint"
import { checkPoint } from "./internal/kit/checks.ts"

/** One recorded point. @category models @since 0.1.0 */
export type Sighting = {
  readonly [P in HookPointName]: {
    readonly point: P
    readonly event: In<P>
    /** The decision of the other hooks. */
    readonly outcome: ObservedOutcome | undefined
    readonly sessionId: string
    readonly turnNumber: number
    readonly stepNumber: number
    /** Name of the agent. */
    readonly agent: string
  }
}[HookPointName]

/** A hook that records every point that runs. @category models @since 0.1.0 */
export interface RecordingHook extends AgentHook {
  /** All records in order. */
  readonly seen: ReadonlyArray<Sighting>
  /** The names of the points in order. */
  readonly points: () => ReadonlyArray<HookPointName>
  /** The events of one point. */
  readonly at: <P extends HookPointName>(point: P) => ReadonlyArray<In<P>>
}

/**
 * Creates an observer of all points, or of some. It runs after all other hooks and changes nothing. If `onLlmDelta` is
 * one of the points, the model streams if it can.
 *
 * @example
 * ```ts
 * import { createAgent } from "@belay/core"
 * import { recordingHook } from "@belay/testing/RecordingHook"
 * import * as Scripted from "@belay/testing/Scripted"
 *
 * const recorder = recordingHook({ points: ["preTurn", "postTurn"] })
 * const agent = createAgent({ provider: Scripted.make(["hi"]), hooks: [recorder] })
 * await agent.run("hello")
 * console.log(recorder.points(), recorder.at("preTurn")[0]?.message)
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const recordingHook = checked("recordingHook", ["options"], (
  options: { readonly name?: string; readonly points?: ReadonlyArray<HookPointName> } = {}
): RecordingHook => {
  const { name = "recording", points = names } = options
  for (const point of points) checkPoint("recordingHook", point, names)
  const seen: Array<Sighting> = []
  const write =
    (point: HookPointName) =>
    (event: never, { agent, outcome, sessionId, stepNumber, turnNumber }: HookContext): void =>
      // The event belongs to the point.
      void seen.push({ point, event, outcome, sessionId, turnNumber, stepNumber, agent: agent.name } as Sighting)
  return {
    ...Object.fromEntries(points.map((point) => [point, write(point)])),
    name,
    kind: "observer",
    seen,
    points: () => seen.map(({ point }) => point),
    // The filter selects the events of this point.
    at: (point) => {
      checkPoint("at", point, names)
      return seen.flatMap((one) => one.point === point ? [one.event as never] : [])
    }
  }
})
