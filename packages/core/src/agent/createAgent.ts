/**
 * The API with promises: `for await` over events, an `AbortSignal` to cancel, `await using` to close.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Result from "effect/Result"
import type { AgentEvent } from "../data/AgentEvent.ts"
import type { HostSignal, SignalAnswer } from "../data/Delegation.ts"
import type { Message } from "../data/Message.ts"
import type { PendingAsk } from "../data/RunState.ts"
import type { TurnInput } from "../data/Turn.ts"
import type { AnyHook } from "../hook/AgentHook.ts"
import type { HookState } from "../hook/HookState.ts"
import type { AgentConfig } from "./AgentConfig.ts"
import type { HookServices } from "./AgentRuntime.ts"
import type { InputSchema } from "./defineTool.ts"
import { logToStderr } from "./internal/config/logToStderr.ts"
import { resolveAgent } from "./internal/config/resolveAgent.ts"
import type { ResolvedAgent } from "./internal/config/resolvedAgent.ts"
import { type Runtime, startRuntime } from "./internal/session/runtime.ts"
import { type Delegatable, delegationTarget } from "./internal/subagent/delegationTarget.ts"
import { eventQueue } from "./internal/turn/eventQueue.ts"
import type { Output, ResultOf } from "./Output.ts"
import type { RunResult } from "./RunResult.ts"
import type { Decisions, Session, SessionOptions } from "./Session.ts"

/** @category models @since 0.1.0 */
export interface RunOptions {
  /** Cancels the turn; the promise then rejects with the signal's reason. */
  readonly signal?: AbortSignal
}

/** A turn whose events can be read while it runs. @category models @since 0.1.0 */
export interface RunStream<Result extends RunResult = RunResult> extends AsyncIterable<AgentEvent> {
  /** How it ended. */
  readonly result: Promise<Result>
}

/** @category models @since 0.1.0 */
export interface AgentSession<Result extends RunResult = RunResult> extends AsyncDisposable {
  readonly id: string
  readonly messages: ReadonlyArray<Message>
  readonly state: HookState
  readonly run: (input: string | TurnInput, options?: RunOptions) => Promise<Result>
  readonly stream: (input: string | TurnInput, options?: RunOptions) => RunStream<Result>
  readonly signal: (signal: HostSignal) => Promise<SignalAnswer>
  readonly compact: () => Promise<boolean>
  /** The open questions of the turn that waits; empty when none does. */
  readonly pending: ReadonlyArray<PendingAsk>
  /** Resumes the turn that waits: it was suspended, reached a limit, or was left by a process that ended. */
  readonly resume: (decisions?: Decisions, options?: RunOptions) => Promise<Result>
  readonly close: () => Promise<void>
}

/** `Result` is how its turns end: with an `output`, their object has a type. @category models @since 0.1.0 */
export interface Agent<Result extends RunResult = RunResult> extends AsyncDisposable, Delegatable {
  /** Runs one turn in its own session. Rejects with an `AgentError`; limits, asks and aborts are results. */
  readonly run: (input: string | TurnInput, options?: RunOptions) => Promise<Result>
  /** The same, with its events as they happen. */
  readonly stream: (input: string | TurnInput, options?: RunOptions) => RunStream<Result>
  /** Opens a conversation of several turns. */
  readonly session: (options?: SessionOptions) => Promise<AgentSession<Result>>
  /** Resumes a suspended or limited run; the snapshot is JSON, as a value or as text. */
  readonly resume: (snapshot: unknown, decisions?: Decisions, options?: RunOptions) => Promise<Result>
  /** Calls the listener with every event until the returned function is called. */
  readonly on: (listener: (event: AgentEvent) => void) => () => void
  /** Ends every session and releases what the hooks hold. */
  readonly close: () => Promise<void>
}

/** Options of an agent whose hooks need services: `layer` provides them. @category models @since 0.1.0 */
export type AgentOptions<Hooks extends ReadonlyArray<AnyHook>> = Omit<AgentConfig, "hooks"> & {
  readonly hooks: Hooks
  readonly layer: Layer.Layer<HookServices<Hooks>>
}

/**
 * Makes an agent. Throws a `ConfigError` or `ChainError` at once when it cannot be made.
 *
 * @example
 * ```ts
 * import { createAgent } from "@belay/core"
 * import { textResponse } from "@belay/core/LlmCall"
 * import { fromPromise } from "@belay/core/LlmProvider"
 *
 * const provider = fromPromise({ name: "echo", complete: async ({ messages }) => textResponse(`${messages.length} messages`) })
 * await using agent = createAgent({ provider })
 * const { text } = await agent.run("hello")
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const createAgent: {
  <S extends InputSchema = never>(options: AgentConfig & { readonly output?: Output<S> }): Agent<ResultOf<S>>
  <const Hooks extends ReadonlyArray<AnyHook>, S extends InputSchema = never>(
    options: AgentOptions<Hooks> & { readonly output?: Output<S> }
  ): Agent<ResultOf<S>>
} = (options: AgentConfig | AgentOptions<ReadonlyArray<AnyHook>>): Agent => {
  // The hooks of `AgentOptions` require the services that its layer provides.
  const agent = Result.getOrThrow(resolveAgent(options as AgentConfig))
  for (const warning of agent.warnings) Effect.runForkWith(logToStderr)(Effect.logWarning(warning))
  const managed = "layer" in options ? ManagedRuntime.make(options.layer) : undefined
  const { close, run } = startEffects(agent, managed)

  const stream = (start: () => Promise<RunResult>, sessionId: () => string | undefined): RunStream => {
    const queue = eventQueue()
    const listener = (event: AgentEvent) => void (event.sessionId === sessionId() && queue.push(event))
    agent.hub.listeners.add(listener)
    const result = start().finally(() => {
      agent.hub.listeners.delete(listener)
      queue.end()
    })
    result.catch(() => {})
    return { result, [Symbol.asyncIterator]: () => queue.iterate(result) }
  }

  // Typed by its errors only: that the layer's own failure is a defect here changes nothing for the services.
  const services = managed === undefined ? Effect.undefined : Effect.orDie(managed.contextEffect)
  return {
    run: (input, { signal } = {}) => run((runtime) => runtime.runOnce(input), signal),
    stream: (input, { signal } = {}) => {
      let opened: Session | undefined
      const start = () => run((runtime) => runtime.runOnce(input, (session) => opened = session), signal)
      return stream(start, () => opened?.id)
    },
    session: async (sessionOptions) =>
      new PromiseSession(await run((runtime) => runtime.openSession(sessionOptions)), run, stream),
    resume: (snapshot, decisions, { signal } = {}) => run((runtime) => runtime.resume(snapshot, decisions), signal),
    on: (listener) => {
      agent.hub.listeners.add(listener)
      return () => void agent.hub.listeners.delete(listener)
    },
    close,
    [Symbol.asyncDispose]: close,
    [delegationTarget]: { agent, services }
  }
}

type Run = <A, E>(use: (runtime: Runtime) => Effect.Effect<A, E>, signal?: AbortSignal) => Promise<A>
type Streams = (start: () => Promise<RunResult>, sessionId: () => string | undefined) => RunStream

/** Runs effects of the runtime as promises, once the services of its hooks are there. */
const startEffects = (
  agent: ResolvedAgent,
  managed: ManagedRuntime.ManagedRuntime<unknown, never> | undefined
): { readonly run: Run; readonly close: () => Promise<void> } => {
  const withServices = managed?.context().then((context) =>
    // What the hooks require is in the layer's context; inside nothing is required.
    startRuntime(agent, Context.merge(logToStderr, context as Context.Context<never>))
  )
  withServices?.catch(() => {})
  const withoutServices = managed === undefined ? startRuntime(agent, undefined) : undefined
  let closed: Promise<void> | undefined

  const run: Run = async (use, signal) => {
    signal?.throwIfAborted()
    if (closed !== undefined) throw new DOMException("The agent is closed", "AbortError")
    const runtime = withoutServices ?? (await withServices!)
    signal?.throwIfAborted()
    const exit = await Effect.runPromiseExitWith(logToStderr)(
      use(runtime),
      signal === undefined ? undefined : { signal }
    )
    if (Exit.isSuccess(exit)) return exit.value
    if (!Cause.hasInterruptsOnly(exit.cause)) throw Cause.squash(exit.cause)
    throw signal?.aborted === true ? signal.reason : new DOMException("The agent was closed", "AbortError")
  }
  const closeAll = async (): Promise<void> => {
    // When the services could not be made there are no sessions.
    const runtime = withoutServices ?? (await withServices!.catch(() => undefined))
    if (runtime !== undefined) await Effect.runPromiseWith(logToStderr)(runtime.closeAll)
    await managed?.dispose()
  }
  return { run, close: () => closed ??= closeAll() }
}

/** A class because there may be ten thousand sessions: its methods are shared. */
class PromiseSession implements AgentSession {
  private readonly session: Session
  private readonly effects: Run
  private readonly streams: Streams

  constructor(session: Session, effects: Run, streams: Streams) {
    this.session = session
    this.effects = effects
    this.streams = streams
  }

  get id() {
    return this.session.id
  }
  get state() {
    return this.session.state
  }
  get messages() {
    return this.session.messages
  }
  run(input: string | TurnInput, options?: RunOptions) {
    return this.effects(() => this.session.run(input), options?.signal)
  }
  stream(input: string | TurnInput, options?: RunOptions) {
    return this.streams(() => this.run(input, options), () => this.id)
  }
  signal(signal: HostSignal) {
    return this.effects(() => this.session.signal(signal))
  }
  get pending() {
    return this.session.pending
  }
  resume(decisions?: Decisions, options?: RunOptions) {
    return this.effects(() => this.session.resume(decisions), options?.signal)
  }
  compact() {
    return this.effects(() => this.session.compact)
  }
  close() {
    return Effect.runPromiseWith(logToStderr)(this.session.close())
  }
  [Symbol.asyncDispose]() {
    return this.close()
  }
}
