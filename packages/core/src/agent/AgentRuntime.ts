/**
 * Runs an agent's turns. The face for Effect programs: a service, a layer, typed errors and requirements.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import {
  type AgentError,
  type ChainError,
  type ConfigError,
  PortFailed,
  SessionError,
  SnapshotError
} from "../data/AgentError.ts"
import type { AgentEvent } from "../data/AgentEvent.ts"
import type { HostSignal, SignalAnswer } from "../data/Delegation.ts"
import { messageOf } from "../data/ErrorMessage.ts"
import type { Message } from "../data/Message.ts"
import * as RunState from "../data/RunState.ts"
import type { OnSessionEndEvent } from "../data/Session.ts"
import type { TurnInput } from "../data/Turn.ts"
import type { AgentHook, AnyHook } from "../hook/AgentHook.ts"
import type { HookChain } from "../hook/HookChain.ts"
import type { HookState } from "../hook/HookState.ts"
import { LlmProvider } from "../port/LlmProvider.ts"
import type { AgentConfig } from "./AgentConfig.ts"
import { made } from "./internal/config/resolveAgent.ts"
import type { Resolved } from "./internal/config/resolvedAgent.ts"
import * as Compaction from "./internal/session/compact.ts"
import { reopened, resumable, stored } from "./internal/session/resume.ts"
import * as Sessions from "./internal/session/session.ts"
import { restore } from "./internal/session/snapshot.ts"
import { join } from "./internal/subagent/agentTree.ts"
import { decide, pendingOf } from "./internal/subagent/delegate.ts"
import { execute } from "./internal/turn/runTurn.ts"
import { Turn } from "./internal/turn/turn.ts"
import type { RunResult } from "./RunResult.ts"

/** One conversation. Its turns run one after the other. @category models @since 0.1.0 */
export interface Session {
  readonly id: string
  readonly messages: ReadonlyArray<Message>
  /** What the hooks of this session share. */
  readonly state: HookState
  /** Runs a turn. Interruption cancels it. */
  readonly run: (input: string | TurnInput) => Effect.Effect<RunResult, AgentError>
  /** Tells the hooks of something that happened in the host; false when one refused it. */
  readonly signal: (signal: HostSignal) => Effect.Effect<SignalAnswer>
  /** What the turn that waits is waiting for: nothing when none does. */
  readonly pending: ReadonlyArray<RunState.PendingAsk>
  /** Goes on with the turn that waits: suspended, limited, or left by a process that ended. */
  readonly resume: (decisions?: Decisions) => Effect.Effect<RunResult, AgentError>
  /** Compacts the conversation now; false when nothing could be removed. */
  readonly compact: Effect.Effect<boolean>
  /** Ends the session; its hooks are told once. */
  readonly close: (reason?: OnSessionEndEvent["reason"]) => Effect.Effect<void>
}

/** What a person decided, by tool call id. @category models @since 0.1.0 */
export type Decisions = { readonly [callId: string]: RunState.Decision }

/** @category models @since 0.1.0 */
export interface AgentRuntime {
  readonly chain: HookChain
  /**
   * Opens a session: a new one, or the one with this id, which may be in the store. With history, the session begins
   * with it.
   */
  readonly session: (
    options?: { readonly id?: string; readonly messages?: ReadonlyArray<Message> }
  ) => Effect.Effect<Session, SessionError | PortFailed | SnapshotError>
  /** Runs one turn in a session of its own. */
  readonly run: (input: string | TurnInput) => Effect.Effect<RunResult, AgentError>
  /** Goes on with a suspended or limited run, in this process or another. */
  readonly resume: (snapshot: unknown, decisions?: Decisions) => Effect.Effect<RunResult, AgentError>
  /** Hears every event until the returned function is called. */
  readonly listen: (listener: (event: AgentEvent) => void) => () => void
}

/** The runtime as a service. @category services @since 0.1.0 */
export const AgentRuntime = Context.Service<AgentRuntime>("@belay/core/agent/AgentRuntime")

/** The services that a list of hooks needs. @category type-level @since 0.1.0 */
export type HookServices<Hooks> = Hooks extends ReadonlyArray<infer H> ? H extends AgentHook<infer R> ? R : never
  : never

/** A configuration whose hooks may need services. @category models @since 0.1.0 */
export type LayerConfig<Hooks extends ReadonlyArray<AnyHook>> = Omit<AgentConfig, "hooks"> & { readonly hooks?: Hooks }

/**
 * Makes the runtime as a layer. It requires what its hooks require, and an `LlmProvider` when the configuration names
 * none.
 * Sessions that are still open are closed with the layer.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: {
  <const Hooks extends ReadonlyArray<AnyHook> = readonly []>(
    config: LayerConfig<Hooks>
  ): Layer.Layer<AgentRuntime, ConfigError | ChainError, HookServices<Hooks>>
  <const Hooks extends ReadonlyArray<AnyHook> = readonly []>(
    config: Omit<LayerConfig<Hooks>, "provider">
  ): Layer.Layer<AgentRuntime, ConfigError | ChainError, HookServices<Hooks> | LlmProvider>
} = (config: Partial<LayerConfig<ReadonlyArray<AnyHook>>>) =>
  Layer.effect(
    AgentRuntime,
    Effect.gen(function*() {
      const provider = config.provider ?? (yield* LlmProvider)
      return yield* make({ ...config, provider })
    })
  ) as never

/** Makes the runtime; hooks get the services that are in the context now. @category constructors @since 0.1.0 */
export const make = Effect.fnUntraced(
  function*<R = never>(
    config: AgentConfig<R>
  ): Effect.fn.Return<AgentRuntime, ConfigError | ChainError, R | Scope.Scope> {
    const host = yield* Effect.fromResult(made(config as unknown as AgentConfig))
    const context = yield* Effect.context<R>()
    for (const warning of host.warnings) yield* Effect.logWarning(warning)
    const { closeAll, runtime } = makeUnsafe(host, context as Context.Context<never>)
    yield* Effect.addFinalizer(() => closeAll)
    join(runtime, { host, services: Effect.succeed(context as Context.Context<never>) })
    return runtime
  }
)

/** Makes the runtime of a checked configuration; `closeAll` ends its sessions. @internal */
export const makeUnsafe = (
  host: Resolved,
  context: Context.Context<never> | undefined
): { readonly runtime: AgentRuntime; readonly closeAll: Effect.Effect<void> } => {
  const open = new Map<string, Session>()
  return {
    runtime: build(host, open, context),
    closeAll: Effect.suspend(() =>
      Effect.andThen(
        Effect.forEach([...open.values()], (session) => session.close("done"), { discard: true }),
        Effect.forEach(host.chain.hooks, letGo, { concurrency: "unbounded", discard: true })
      )
    )
  }
}

/** Has a hook end what it does, whatever comes of it. */
const letGo = (hook: AgentHook<never>): Effect.Effect<void> =>
  hook.close === undefined ? Effect.void : Effect.suspend(() => {
    const closing = hook.close!()
    return Effect.isEffect(closing) ? closing : Effect.promise(() => Promise.resolve(closing))
  }).pipe(
    Effect.timeout("30 seconds"),
    Effect.catchCause((cause) =>
      Effect.logWarning(`hook ${hook.name} could not be closed: ${messageOf(Cause.squash(cause))}`)
    ),
    Effect.asVoid
  )

/** Whether a resume failed before it did anything: the session is busy, or its store could not take the step. */
const isRepeatable = (error: unknown): boolean =>
  error instanceof SessionError || (error instanceof PortFailed && error.port === "store")

/** How many finished turns an agent remembers. */
const maxFinished = 10_000

const build = (
  host: Resolved,
  open: Map<string, Session>,
  context: Context.Context<never> | undefined
): AgentRuntime => {
  const data = new Map<string, Sessions.Session>()
  /** Turns that were resumed to their end: a snapshot of one is good for nothing any more. */
  const finished = new Set<string>()

  const inside: Inside = {
    forget: (id) => {
      open.delete(id)
      data.delete(id)
    },
    know: (session, face) => {
      session.owner = face
      data.set(session.id, session)
      open.set(session.id, face)
    },
    resume: (snapshot, decisions) => resume(snapshot, decisions)
  }

  const adopt = (session: Sessions.Session): Session => {
    const face = new SessionFace(host, session, context, inside)
    inside.know(session, face)
    return face
  }

  const resume = Effect.fnUntraced(
    function*(snapshot: unknown, decisions: Decisions = {}): Effect.fn.Return<RunResult, AgentError> {
      const state = yield* RunState.decode(snapshot)
      const id = `${state.sessionId}/${state.turnNumber}`
      if (finished.has(id)) {
        return yield* new SnapshotError({
          problem: "finished",
          message: `turn ${state.turnNumber} of session ${state.sessionId} was finished before`
        })
      }
      yield* resumable(host, state, data.get(state.sessionId), decisions)
      const session = data.get(state.sessionId) ?? reopened(state, false)
      if (!data.has(session.id)) adopt(session)
      const turn = restore(host, session, state)
      yield* decide(turn, decisions, yield* Clock.currentTimeMillis)
      const face = open.get(session.id)
      const run = Effect.onExit(within(context, execute(turn, true)), (exit) =>
        Effect.sync(() => {
          if (Exit.isSuccess(exit) && (exit.value.status === "suspended" || exit.value.status === "limited")) return
          if (Exit.isFailure(exit) && isRepeatable(Cause.squash(exit.cause))) return
          if (finished.size >= maxFinished) finished.delete(finished.values().next().value!)
          finished.add(id)
        }))
      return yield* face !== undefined && single.has(face) ? closing(face, run) : run
    }
  )

  const session: AgentRuntime["session"] = (options) =>
    Effect.suspend(() => {
      const id = options?.id ?? crypto.randomUUID()
      if (!/^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/.test(id)) {
        return new SessionError({
          sessionId: id.slice(0, 128),
          problem: "closed",
          message: `session id "${
            id.slice(0, 128)
          }" must be 1 to 128 letters, digits, "_", "-" or ".", and begin with a letter or digit`
        })
      }
      const { messages } = options ?? {}
      const known = open.get(id)
      if (known !== undefined) return Effect.succeed(known)
      const { store } = host.config
      const fresh = () =>
        open.get(id) ??
          adopt(new Sessions.Session(id, messages === undefined ? undefined : { messages, state: {}, turnNumber: 0 }))
      if (store === undefined || options?.id === undefined) return Effect.succeed(fresh())
      return Effect.flatMap(stored(store, id), (state) => {
        if (state === undefined) return Effect.succeed(fresh())
        if (messages !== undefined) {
          return new SessionError({
            sessionId: id,
            problem: "exists",
            message: `session ${id} is in the store already: it has messages of its own`
          })
        }
        return Effect.sync(() => open.get(id) ?? reopen(state))
      })
    })

  /** Opens a session as the store has it. A turn that waits can be resumed; a new turn closes it. */
  const reopen = (state: RunState.RunState): Session => {
    const session = reopened(state, true)
    const face = adopt(session)
    if (state.phase !== "ended") {
      session.parked = restore(host, session, state)
      session.resumable = state.turnNumber
    }
    return face
  }

  return {
    chain: host.chain,
    session,
    resume,
    run: (input) =>
      Effect.flatMap(
        session(),
        (one) => closing(one, one.run(input))
      ),
    listen: (listener) => {
      host.hub.listeners.add(listener)
      return () => void host.hub.listeners.delete(listener)
    }
  }
}

/** Sessions of one turn: they end with it, or with the resume that finishes it. */
const single = new WeakSet<Session>()

/** Closes a session of one turn, unless that turn can be resumed. @internal */
export const closing = (
  session: Session,
  turn: Effect.Effect<RunResult, AgentError>
): Effect.Effect<RunResult, AgentError> =>
  Effect.onExit(turn, (exit) => {
    single.add(session)
    if (Exit.isFailure(exit)) return session.close(Cause.hasInterruptsOnly(exit.cause) ? "abort" : "error")
    const { status } = exit.value
    if (status === "suspended" || status === "limited") return Effect.void
    return session.close(status === "aborted" ? "abort" : "done")
  })

/** What a session asks of its runtime. */
interface Inside {
  readonly forget: (id: string) => void
  readonly know: (session: Sessions.Session, face: SessionFace) => void
  readonly resume: AgentRuntime["resume"]
}

/** A class because there may be ten thousand sessions: its methods are shared. */
class SessionFace implements Session {
  private readonly host: Resolved
  private session: Sessions.Session
  private readonly context: Context.Context<never> | undefined
  private readonly runtime: Inside

  constructor(host: Resolved, session: Sessions.Session, context: Context.Context<never> | undefined, runtime: Inside) {
    this.host = host
    this.session = session
    this.context = context
    this.runtime = runtime
  }

  get id() {
    return this.session.id
  }

  /** The conversation goes on in another session. */
  follow(next: Sessions.Session): void {
    this.runtime.forget(this.session.id)
    this.session = next
    this.runtime.know(next, this)
  }
  get state() {
    return this.session.state
  }
  get messages() {
    return this.session.messages.slice()
  }
  get pending() {
    const { parked } = this.session
    return parked === undefined ? [] : pendingOf(parked as Turn)
  }

  resume(decisions?: Decisions): Effect.Effect<RunResult, AgentError> {
    return Effect.suspend(() => {
      const { id, parked, resumable } = this.session
      if (parked === undefined || resumable === undefined) {
        return new SnapshotError({ problem: "finished", message: `session ${id} has no turn that waits` })
      }
      const turn = parked as Turn
      return Effect.flatMap(turn.sealed(turn.snapshot()), (snapshot) => this.runtime.resume(snapshot, decisions))
    })
  }

  run(input: string | TurnInput): Effect.Effect<RunResult, AgentError> {
    const { host, session } = this
    return this.within(Effect.suspend(() => {
      if (session.status === "busy" || session.status === "closed") return execute(this.outside(), false)
      session.parked?.closeStep("not run: nobody decided before the next turn")
      session.parked = undefined
      session.resumable = undefined
      const turn = new Turn(host, session, typeof input === "string" ? { message: input } : input, ++session.turnNumber)
      return execute(turn, false)
    }))
  }

  signal(signal: HostSignal) {
    return this.within(
      Effect.map(
        this.host.chain.run("onSignal", signal, this.outside()),
        ({ action }): SignalAnswer => {
          if (action._tag === "Respond") return { allowed: true, answer: action.output }
          return action._tag === "Reject" && signal.blockable
            ? { allowed: false, reason: action.reason }
            : { allowed: true }
        }
      )
    )
  }

  get compact() {
    return this.within(Effect.gen(() => Compaction.compact(this.outside(), "manual")))
  }

  close(reason: OnSessionEndEvent["reason"] = "done"): Effect.Effect<void> {
    const { host: { chain, core, hub }, session } = this
    return this.within(Effect.suspend(() => {
      if (session.status === "closed") return Effect.void
      const started = session.status !== "new"
      const { stop = Effect.void } = session
      session.status = "closed"
      this.runtime.forget(session.id)
      if (!started || (!chain.has("onSessionEnd") && hub.listeners.size === 0 && core.shutdown === undefined)) {
        return stop
      }
      const turn = this.outside()
      const shutdown = core.shutdown === undefined
        ? Effect.void
        : Effect.catchCause(
          core.shutdown(session.id),
          (cause) =>
            Effect.sync(() => turn.warn(`shutdown of the core failed: ${messageOf(Cause.squash(cause))}`, "runtime"))
        )
      return Effect.asVoid(Effect.ensuring(
        Effect.andThen(stop, chain.run("onSessionEnd", { sessionId: session.id, reason }, turn)),
        Effect.andThen(shutdown, Effect.sync(() => turn.publish({ type: "session-end", reason })))
      ))
    }))
  }

  /** A turn that is none: what hooks see at the points outside turns. */
  private outside(): Turn {
    return new Turn(this.host, this.session, { message: "" }, this.session.turnNumber)
  }

  private within<A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> {
    return within(this.context, effect)
  }
}

/** Gives an effect the services of the runtime's making; what is there now (clock, tracer, span) stays. */
const within = <A, E>(context: Context.Context<never> | undefined, effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  context === undefined
    ? effect
    : Effect.updateContext(effect, (now: Context.Context<never>) => Context.merge(context, now))
