/** The surroundings of a hook under test. It provides what a runtime would, and records what the hook does. */
import * as ArtifactStore from "@belay/core/ArtifactStore"
import { defined } from "@belay/core/Fields"
import type { Capabilities, HookContext, HookScope } from "@belay/core/HookContext"
import * as HookState from "@belay/core/HookState"
import * as Effect from "effect/Effect"
import { simulateCapabilities } from "./capabilities.ts"
import type { Mutable, Place, Seen, World } from "./world.ts"

/** The data of a session. */
interface Kept {
  readonly state: HookState.Store
  /** The local state of each agent, by its depth and name. */
  readonly locals: Map<string, HookState.Store>
  readonly durable: Capabilities["durable"]
}

export interface Stage {
  readonly seen: Seen
  /** The scope for the next event. */
  readonly scope: () => HookScope
  readonly move: (place: Place) => void
  readonly kept: () => Kept
  /** The local state of the agent that the hook runs for. */
  readonly local: () => HookState.Store
  readonly artifacts: ArtifactStore.ArtifactStore
  readonly sessionId: () => string
  readonly run: <A, E>(effect: Effect.Effect<A, E>) => Promise<A>
}

const emptySeen = (): Mutable<Seen> => ({
  injected: [],
  injections: [],
  warnings: [],
  notices: [],
  followUps: [],
  events: [],
  llmRequests: [],
  toolRequests: [],
  httpRequests: [],
  mcpRequests: [],
  budgets: [],
  rotations: [],
  failures: [],
  late: [],
  records: []
})

/** Creates the surroundings. With `freeze`, events are frozen before a hook receives them. */
export const make = (world: World, freeze = true): Stage => {
  const seen = emptySeen()
  const artifacts = ArtifactStore.inMemory()
  const sessions = new Map<string, Kept & { turn: number }>()
  const run = world.clock?.run ?? Effect.runPromise
  const abort = new AbortController()
  let place: Required<Place> = { sessionId: "session-1", turnNumber: 1, stepNumber: 1, agent: {}, cwd: "/workspace" }
  let contexts: Array<HookContext | undefined> = []

  const keptOf = (): Kept => {
    const { sessionId, turnNumber } = place
    const found = sessions.get(sessionId)
    if (found !== undefined && found.turn === turnNumber) return found
    const fresh = { ...keep(world.state, found), turn: turnNumber }
    sessions.set(sessionId, fresh)
    return fresh
  }
  const agentOf = () => ({ name: "agent", depth: 0, invokedBy: "main", ...place.agent }) as const
  const localOf = (): HookState.Store => {
    const { locals } = keptOf()
    const { depth, name } = agentOf()
    const agent = `${depth}/${name}`
    const local = locals.get(agent) ?? HookState.make()
    locals.set(agent, local)
    return local
  }
  const move = (to: Place): void => {
    place = { ...place, ...defined(to) }
    contexts = []
  }
  const { agent, cwd, sessionId, stepNumber, turnNumber } = world
  move(defined({ sessionId, turnNumber, stepNumber, agent, cwd }))
  return {
    seen,
    move,
    kept: keptOf,
    local: localOf,
    artifacts,
    sessionId: () => place.sessionId,
    run,
    scope: () => {
      const { cwd, sessionId, stepNumber, turnNumber } = place
      const { durable, state } = keptOf()
      return {
        sessionId,
        turnNumber,
        stepNumber,
        coreType: "tool-loop",
        agent: agentOf(),
        cwd,
        signal: abort.signal,
        state,
        local: localOf(),
        contexts,
        freeze,
        capabilities: simulateCapabilities({
          world,
          seen,
          artifacts,
          run,
          root: { sessionId, turnNumber, signal: abort.signal },
          durable
        }),
        active: () => true,
        emit: (name, payload, hook) => void seen.events.push({ hook, name, payload }),
        inject: (text, options, hook) => {
          seen.injected.push(text)
          seen.injections.push({ hook, text, ...options })
        },
        warn: (message) => void seen.warnings.push(message),
        notifyUser: (message) => void seen.notices.push(message),
        followUp: (message) => void seen.followUps.push(message),
        onRecord: (record) => void seen.records.push(record),
        onFailure: (failure) => void seen.failures.push(failure),
        onLate: (hook, what) => void seen.late.push(`${hook}: ${what}`)
      }
    }
  }
}

/** Starts a turn: the durable state of the last turn is dropped. */
const keep = (state: World["state"], before: Kept | undefined): Kept => {
  const calls = new Map<string, HookState.Store>()
  const call = before?.durable.call ?? ((id: string) => {
    const found = calls.get(id) ?? HookState.make()
    calls.set(id, found)
    return found
  })
  return {
    state: before?.state ?? HookState.make(state),
    locals: before?.locals ?? new Map(),
    durable: {
      conversation: before?.durable.conversation ?? HookState.make(),
      turn: HookState.make(),
      call
    }
  }
}
