/**
 * A hook that writes down every point it sees, for tests of what an agent does.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import type { HookContext, ObservedOutcome } from "@belay/core/HookContext"
import { type HookPointName, type In, names } from "@belay/core/HookPoint"

/** One point, as it was seen. @category models @since 0.1.0 */
export type Sighting = {
  readonly [P in HookPointName]: {
    readonly point: P
    readonly event: In<P>
    /** What the other hooks decided. */
    readonly outcome: ObservedOutcome | undefined
    readonly sessionId: string
    readonly turnNumber: number
    readonly stepNumber: number
    /** Name of the agent. */
    readonly agent: string
  }
}[HookPointName]

/** @category models @since 0.1.0 */
export interface RecordingHook extends AgentHook {
  /** Everything, in order. */
  readonly seen: ReadonlyArray<Sighting>
  /** The points alone. */
  readonly points: () => ReadonlyArray<HookPointName>
  /** The events of one point. */
  readonly at: <P extends HookPointName>(point: P) => ReadonlyArray<In<P>>
}

/**
 * Makes an observer of all points, or of some: it sees each after every other hook, and changes nothing. A model that
 * can stream is asked to, where `onLlmDelta` is among them.
 *
 * @example
 * ```ts
 * import { createAgent } from "@belay/core"
 * import { recordingHook } from "@belay/testing/RecordingHook"
 * import * as Scripted from "@belay/testing/Scripted"
 *
 * const recorder = recordingHook({ points: ["preTurn", "postTurn"] })
 * await using agent = createAgent({ provider: Scripted.make(["hi"]), hooks: [recorder] })
 * await agent.run("hello")
 * console.log(recorder.points(), recorder.at("preTurn")[0]?.message)
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const recordingHook = (
  options: { readonly name?: string; readonly points?: ReadonlyArray<HookPointName> } = {}
): RecordingHook => {
  const { name = "recording", points = names } = options
  const seen: Array<Sighting> = []
  const write =
    (point: HookPointName) =>
    (event: never, { agent, outcome, sessionId, stepNumber, turnNumber }: HookContext): void =>
      void seen.push({ point, event, outcome, sessionId, turnNumber, stepNumber, agent: agent.name } as Sighting)
  return {
    ...Object.fromEntries(points.map((point) => [point, write(point)])),
    name,
    kind: "observer",
    seen,
    points: () => seen.map(({ point }) => point),
    at: (point) => seen.flatMap((one) => one.point === point ? [one.event as never] : [])
  }
}
