/** The surroundings of a hook under test. It provides what a runtime would, and records what the hook does. */
import { type AgentError, PortFailed } from "@belay/core/AgentError"
import type { Artifact } from "@belay/core/Artifact"
import { keyOf } from "@belay/core/Artifact"
import * as ArtifactStore from "@belay/core/ArtifactStore"
import type { BudgetLevel } from "@belay/core/Compaction"
import type {
  AgentInfo,
  AgentTool,
  Capabilities,
  HookContext,
  HookScope,
  InjectOptions,
  SideRequest
} from "@belay/core/HookContext"
import type { HookFailure, HookRecord } from "@belay/core/HookRecord"
import * as HookState from "@belay/core/HookState"
import type { HttpRequest, HttpResponse } from "@belay/core/Http"
import type { Json, JsonObject } from "@belay/core/Json"
import { type LlmResponse, textResponse } from "@belay/core/LlmCall"
import type { McpResult, McpTool } from "@belay/core/Mcp"
import { isProviderError, type ProviderError } from "@belay/core/ProviderError"
import type { ToolResult } from "@belay/core/Tool"
import * as Effect from "effect/Effect"
import type { VirtualClock } from "../../VirtualClock.ts"

/** Where the hook runs. It stays the same until a test changes it. */
export interface Place {
  /** Default `session-1`. Each session has its own state and artifacts. */
  readonly sessionId?: string
  /** Default 1. */
  readonly turnNumber?: number
  /** Default 1. */
  readonly stepNumber?: number
  readonly agent?: Partial<AgentInfo>
  readonly cwd?: string
}

/** What a hook under test can use. */
export interface World extends Place {
  /** The initial state, by the names of its keys. */
  readonly state?: { readonly [name: string]: Json }
  /** Answers `ctx.llm`. */
  readonly llm?: (request: SideRequest, hook: string) => Said<string | LlmResponse | ProviderError>
  /** Answers `ctx.callTool`. */
  readonly callTool?: (name: string, args: Json, hook: string) => Said<ToolResult>
  /**
   * Answers `ctx.http`. Missing fields make an empty response with status 200. If it throws, the hook gets a
   * `PortFailed`.
   */
  readonly http?: (request: HttpRequest, hook: string) => Said<Partial<HttpResponse>>
  /** Answers `ctx.mcp.callTool`. Missing fields make an empty result. If it throws, the hook gets a `PortFailed`. */
  readonly mcp?: (call: McpCall, hook: string) => Said<Partial<McpResult>>
  /** The list for `ctx.mcp.listTools`. Default: empty. */
  readonly mcpTools?: ReadonlyArray<McpTool>
  /** The tools in `ctx.tools`. Default: none. */
  readonly tools?: ReadonlyArray<AgentTool>
  /** The clock. Default: the real one. */
  readonly clock?: VirtualClock
}

type Said<A> = A | PromiseLike<A>

/** A call of a tool of an MCP server. */
interface McpCall {
  readonly server: string
  readonly tool: string
  readonly args: JsonObject
}

/** A text for the model. */
export interface InjectionRecord extends InjectOptions {
  readonly hook: string
  readonly text: string
}

/** What hooks did in addition to their answers. */
export interface Seen {
  /** Injected texts. `injections` has them with their options. */
  readonly injected: ReadonlyArray<string>
  readonly injections: ReadonlyArray<InjectionRecord>
  readonly warnings: ReadonlyArray<string>
  readonly notices: ReadonlyArray<string>
  readonly followUps: ReadonlyArray<string>
  readonly events: ReadonlyArray<{ readonly hook: string; readonly name: string; readonly payload: Json }>
  /** Calls of `llm`, `callTool`, `http`, `mcp` and `reportBudget`. */
  readonly llmRequests: ReadonlyArray<SideRequest>
  readonly toolRequests: ReadonlyArray<{ readonly name: string; readonly args: Json }>
  readonly httpRequests: ReadonlyArray<HttpRequest>
  readonly mcpRequests: ReadonlyArray<McpCall>
  readonly budgets: ReadonlyArray<BudgetLevel>
  /** Hooks that requested a rotation. */
  readonly rotations: ReadonlyArray<string>
  readonly failures: ReadonlyArray<HookFailure>
  /** What hooks did after a timeout; it has no effect. */
  readonly late: ReadonlyArray<string>
  readonly records: ReadonlyArray<HookRecord>
}

/** The data of a session. */
interface Kept {
  readonly state: HookState.Store
  readonly durable: Capabilities["durable"]
}

type Mutable<A> = { -readonly [K in keyof A]: A[K] extends ReadonlyArray<infer Item> ? Array<Item> : A[K] }

export interface Stage {
  readonly seen: Seen
  /** The scope for the next event. */
  readonly scope: () => HookScope
  readonly move: (place: Place) => void
  readonly kept: () => Kept
  readonly artifacts: ArtifactStore.ArtifactStore
  readonly sessionId: () => string
  readonly run: <A, E>(effect: Effect.Effect<A, E>) => Promise<A>
}

export const make = (world: World, freeze = true): Stage => {
  const seen: Mutable<Seen> = {
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
  }
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
  const capabilities = (
    sessionId: string,
    turnNumber: number,
    state: Capabilities["root"]["state"],
    durable: Capabilities["durable"]
  ): Capabilities => ({
    root: { sessionId, turnNumber, state },
    durable,
    artifacts: (hook) => artifactsOf(artifacts, sessionId, hook),
    llm: (request, hook) =>
      Effect.suspend(() => {
        seen.llmRequests.push(request)
        if (world.llm === undefined) return Effect.die(new Error(`${hook} asked a model: give an \`llm\` that answers`))
        return Effect.flatMap(
          answerOf(() => world.llm!(request, hook)),
          (answer): Effect.Effect<LlmResponse, AgentError> =>
            typeof answer === "string"
              ? Effect.succeed(textResponse(answer, "side"))
              : isProviderError(answer)
              ? Effect.fail(answer)
              : Effect.succeed(answer)
        )
      }),
    callTool: (name, args, hook) =>
      Effect.suspend(() => {
        seen.toolRequests.push({ name, args })
        return world.callTool === undefined
          ? Effect.die(new Error(`${hook} called the tool ${name}: give a \`callTool\` that answers`))
          : answerOf(() => world.callTool!(name, args, hook))
      }),
    http: (request, hook) =>
      Effect.suspend(() => {
        seen.httpRequests.push(request)
        if (world.http === undefined) {
          return Effect.die(new Error(`${hook} sent a request: give an \`http\` that answers`))
        }
        return Effect.mapBoth(Effect.tryPromise(async () => world.http!(request, hook)), {
          onFailure: ({ cause }) =>
            new PortFailed({ port: "http", message: `http for ${hook}: ${String(cause)}`, cause }),
          onSuccess: (answer) => ({ status: 200, headers: {}, body: "", url: request.url, ...answer })
        })
      }),
    mcp: (hook) => ({
      callTool: (server, tool, args) =>
        Effect.suspend(() => {
          const asked = { server, tool, args }
          seen.mcpRequests.push(asked)
          if (world.mcp === undefined) {
            return Effect.die(new Error(`${hook} called ${tool} of ${server}: give an \`mcp\` that answers`))
          }
          return Effect.mapBoth(Effect.tryPromise(async () => world.mcp!(asked, hook)), {
            onFailure: ({ cause }) =>
              new PortFailed({ port: "mcp", message: `mcp for ${hook}: ${String(cause)}`, cause }),
            onSuccess: (answer) => ({ content: [], isError: false, ...answer })
          })
        }),
      listTools: (server) =>
        Effect.succeed((world.mcpTools ?? []).filter((tool) => server === undefined || tool.server === server))
    }),
    tools: world.tools ?? [],
    rotate: (hook) => void seen.rotations.push(hook),
    reportBudget: (level) => Effect.sync(() => void seen.budgets.push(level)),
    promise: run
  })
  const move = (to: Place): void => {
    place = { ...place, ...Object.fromEntries(Object.entries(to).filter(([, value]) => value !== undefined)) }
    contexts = []
  }
  move({
    ...world.sessionId === undefined ? {} : { sessionId: world.sessionId },
    ...world.turnNumber === undefined ? {} : { turnNumber: world.turnNumber },
    ...world.stepNumber === undefined ? {} : { stepNumber: world.stepNumber },
    ...world.agent === undefined ? {} : { agent: world.agent },
    ...world.cwd === undefined ? {} : { cwd: world.cwd }
  })
  return {
    seen,
    move,
    kept: keptOf,
    artifacts,
    sessionId: () => place.sessionId,
    run,
    scope: () => {
      const { agent, cwd, sessionId, stepNumber, turnNumber } = place
      const { durable, state } = keptOf()
      return {
        sessionId,
        turnNumber,
        stepNumber,
        coreType: "tool-loop",
        agent: { name: "agent", depth: 0, invokedBy: "main", ...agent },
        cwd,
        signal: abort.signal,
        state,
        contexts,
        freeze,
        capabilities: capabilities(sessionId, turnNumber, state, durable),
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
    durable: {
      conversation: before?.durable.conversation ?? HookState.make(),
      turn: HookState.make(),
      call
    }
  }
}

const answerOf = <A>(answer: () => Said<A>): Effect.Effect<A> => Effect.promise(async () => answer())

const artifactsOf = (store: ArtifactStore.ArtifactStore, sessionId: string, hook: string): HookContext["artifacts"] => {
  const mine = (key: string) => key.startsWith("hook:") ? key : `hook:${key}`
  const sure = <A>(effect: Effect.Effect<A, unknown>): Effect.Effect<A> => Effect.orDie(effect)
  return {
    write: (key, content, options) =>
      sure<Artifact>(store.write(sessionId, mine(key), content, { by: hook, ...options })),
    append: (key, content, options) =>
      sure<Artifact>(store.append(sessionId, mine(key), content, { by: hook, ...options })),
    read: (key) => {
      const wanted = keyOf(key)
      return sure(store.read(sessionId, wanted.startsWith("tool:") ? wanted : mine(wanted)))
    },
    list: sure(store.list(sessionId)),
    remove: (key) => sure(store.remove(sessionId, mine(key)))
  }
}
