/**
 * Makes an agent with a promise API: `for await` reads events, an `AbortSignal` cancels, and `await using` closes.
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
import { checkKinds, checkOptions, type OptionKinds } from "../data/option/OptionCheck.ts"
import type { PendingAsk } from "../data/RunState.ts"
import type { TurnInput } from "../data/Turn.ts"
import type { TurnPartial } from "../data/TurnPartial.ts"
import type { Waiting } from "../data/Waiting.ts"
import { eventQueue } from "../guard/internal/event/eventQueue.ts"
import { withCallerFrames, withFramesAbove } from "../guard/internal/platform/callerFrames.ts"
import { loggingOf } from "../guard/internal/platform/logging.ts"
import type { RunResult } from "../guard/RunResult.ts"
import type { AnyHook } from "../hook/AgentHook.ts"
import type { HookState } from "../hook/HookState.ts"
import type { AgentConfig } from "./AgentConfig.ts"
import type { HookServices, PluginServices } from "./AgentRuntime.ts"
import type { InputSchema } from "./defineTool.ts"
import { resolveAgent } from "./internal/config/resolveAgent.ts"
import { type Delegatable, delegationTarget } from "./internal/definition/delegationTarget.ts"
import type { ResolvedAgent } from "./internal/definition/resolvedAgent.ts"
import { keepShapesWith } from "./internal/running/waitingTurns.ts"
import { type Runtime, startRuntime } from "./internal/session/runtime.ts"
import { CancelledTurn, reasonWithPartial } from "./internal/turn/partial.ts"
import type { Output, ResultOf } from "./Output.ts"
import type { AnyPlugin } from "./Plugin.ts"
import type { Decisions, ParkOptions, Session, SessionOptions, SteerOutcome, TurnOptions } from "./Session.ts"

/** Options of one turn of a session. @category models @since 0.1.0 */
export interface SessionRunOptions extends RunOptions, Pick<TurnOptions, "whenBusy"> {}

/** Options of a turn that is resumed, or that has its own session. @category models @since 0.1.0 */
export interface RunOptions {
  /**
   * Cancels the turn. The promise then rejects with the signal's reason. If the reason is an object, it has `partial`:
   * what the turn had said and spent before.
   */
  readonly signal?: AbortSignal
}

/**
 * A turn whose events can be read while it runs. Each event is read once: a second loop continues where the first one
 * stopped, and two loops at the same time share the events.
 *
 * @category models
 * @since 0.1.0
 */
export interface RunStream<Result extends RunResult = RunResult> extends AsyncIterable<AgentEvent> {
  /** The result of the turn. */
  readonly result: Promise<Result>
}

/** A conversation with an agent. @category models @since 0.1.0 */
export interface AgentSession<Result extends RunResult = RunResult> extends AsyncDisposable {
  readonly id: string
  readonly messages: ReadonlyArray<Message>
  readonly state: HookState
  readonly run: (input: string | TurnInput, options?: SessionRunOptions) => Promise<Result>
  readonly stream: (input: string | TurnInput, options?: SessionRunOptions) => RunStream<Result>
  /**
   * Sends a message to the running turn, which the model reads at the next step boundary: with its next call, or after
   * the answer that it is writing now, which then is not its last one. The `preTurn` hooks check the message (its
   * `steer` is true). Resolves when it is known whether the message was delivered. Messages that wait are in memory;
   * aborting `signal` withdraws one.
   */
  readonly steer: (input: string | TurnInput, options?: RunOptions) => Promise<SteerOutcome>
  readonly signal: (signal: HostSignal) => Promise<SignalAnswer>
  readonly compact: () => Promise<boolean>
  /**
   * What the session waits for: nothing, people, a process or a higher limit. It is current after each call, and after
   * `reload`.
   */
  readonly waiting: Waiting
  /** The open questions of the waiting turn. Empty if no turn waits. */
  readonly pending: ReadonlyArray<PendingAsk>
  /**
   * Loads the session again if another process has changed it. `run`, `resume` and the other calls do this themselves;
   * it is for reading `messages`, `pending` and `waiting`. It does nothing while a turn runs, and without a store.
   */
  readonly reload: () => Promise<void>
  /**
   * Stops a running turn at its next commit point, so that any process can `resume` it, and returns what the session
   * then waits for. After that, this process writes nothing of the session until it is used again.
   *
   * The turn stops before its next model call and before its next tool. A model call, a tool or a sub-agent's step that
   * is running ends first, so that its outcome is known. The turn ends with status `parked`; if it needed nothing more,
   * it ends as usual. Messages in line fail with a `SessionError`.
   */
  readonly park: (options?: ParkOptions) => Promise<Waiting>
  /**
   * Lets the session out of memory without ending it: no `onSessionEnd` hooks run. `agent.session({ id })` continues it
   * later. Rejects with a `SessionError` while a turn runs (park it first), or if the agent has no store.
   */
  readonly release: () => Promise<void>
  /**
   * Resumes the waiting turn: one that was suspended, reached a limit, or was interrupted by the end of its process.
   */
  readonly resume: (decisions?: Decisions, options?: RunOptions) => Promise<Result>
  /** Resumes the waiting turn, and returns its events as they happen. */
  readonly resumeStream: (decisions?: Decisions, options?: RunOptions) => RunStream<Result>
  /**
   * Ends the waiting turn without running it, as the next message would. Its open tool calls get the reason as their
   * error. Resolves to false if no turn waits. Rejects with a `SessionError` while a turn runs, here or in another
   * process.
   */
  readonly abandon: (reason?: string) => Promise<boolean>
  /**
   * Calls the listener with every event of this session and of the sub-agents that work for it, in this process. The
   * returned function removes the listener.
   */
  readonly on: (listener: (event: AgentEvent) => void) => () => void
  readonly close: () => Promise<void>
}

/**
 * A conversation with promises. `Result` is the result of its turns; with an `output`, its `object` is typed.
 *
 * @category models
 * @since 0.1.0
 */
export interface Agent<Result extends RunResult = RunResult> extends AsyncDisposable, Delegatable {
  /** Runs one turn in its own session. Rejects with an `AgentError`. Limits, questions and aborts are results. */
  readonly run: (input: string | TurnInput, options?: RunOptions) => Promise<Result>
  /** Runs one turn in its own session, and returns its events as they happen, with those of sub-agents. */
  readonly stream: (input: string | TurnInput, options?: RunOptions) => RunStream<Result>
  /** Opens a session for a conversation of several turns. */
  readonly session: (options?: SessionOptions) => Promise<AgentSession<Result>>
  /** Resumes a suspended or limited run. The snapshot is JSON, as a value or as text. */
  readonly resume: (snapshot: unknown, decisions?: Decisions, options?: RunOptions) => Promise<Result>
  /** Resumes a suspended or limited run, and returns its events as they happen. */
  readonly resumeStream: (
    snapshot: unknown,
    decisions?: Decisions,
    options?: RunOptions
  ) => RunStream<Result>
  /**
   * Calls the listener with every event. The returned function removes the listener. A listener that throws or rejects
   * is removed, and the log says why.
   */
  readonly on: (listener: (event: AgentEvent) => void) => () => void
  /** Closes all sessions and disposes all hooks. */
  readonly close: () => Promise<void>
}

/**
 * Options of an agent whose hooks or plugins need services: `layer` provides them.
 *
 * @category models
 * @since 0.1.0
 */
export type AgentOptions<Hooks extends ReadonlyArray<AnyHook>, Plugins extends ReadonlyArray<AnyPlugin> = readonly []> =
  & Omit<AgentConfig, "hooks" | "plugins">
  & {
    readonly hooks?: Hooks
    readonly plugins?: Plugins
    readonly layer: Layer.Layer<HookServices<Hooks> | PluginServices<Plugins>>
  }

/**
 * Makes an agent. Throws a `ConfigError` or a `ChainError` if the agent cannot be made.
 *
 * @example
 * ```ts
 * import { createAgent } from "@belay/core"
 * import { textResponse } from "@belay/core/LlmCall"
 * import { fromPromise } from "@belay/core/LlmProvider"
 *
 * const provider = fromPromise({
 *   name: "echo",
 *   complete: async ({ messages }) => textResponse(`${messages.length} messages`)
 * })
 * const agent = createAgent({ provider })
 * const { text } = await agent.run("hello")
 * await agent.close()
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const createAgent: {
  <S extends InputSchema = never>(options: AgentConfig & { readonly output?: Output<S> }): Agent<ResultOf<S>>
  <
    const Hooks extends ReadonlyArray<AnyHook> = readonly [],
    const Plugins extends ReadonlyArray<AnyPlugin> = readonly [],
    S extends InputSchema = never
  >(
    options: AgentOptions<Hooks, Plugins> & { readonly output?: Output<S> }
  ): Agent<ResultOf<S>>
  // The first overload again: the compiler tries the first one first and shows the mistakes of the last one.
  <S extends InputSchema = never>(options: AgentConfig & { readonly output?: Output<S> }): Agent<ResultOf<S>>
} = (options: AgentConfig | AgentOptions<ReadonlyArray<AnyHook>, ReadonlyArray<AnyPlugin>>): Agent => {
  // The layer of `AgentOptions` provides the services that its hooks require.
  const resolved = resolveAgent(options as AgentConfig)
  if (Result.isFailure(resolved)) throw withFramesAbove(resolved.failure, createAgent)
  const agent = resolved.success
  const logging = loggingOf(options.log)
  for (const warning of agent.warnings) Effect.runForkWith(logging)(Effect.logWarning(warning))
  // A program without types may pass an undefined layer.
  const layer = "layer" in options ? options.layer as typeof options.layer | undefined : undefined
  const managed = layer === undefined ? undefined : ManagedRuntime.make(layer)
  const { close, run } = startEffects(agent, managed, logging)

  const stream: Streams = (start) => {
    const queue = eventQueue()
    const result = start(queue.push).finally(() => queue.end())
    result.catch(() => {})
    return { result, [Symbol.asyncIterator]: () => queue.iterate(result) }
  }

  // The layer's failure becomes a defect here. That changes its error type only, not its services.
  const services = managed === undefined ? Effect.undefined : Effect.orDie(managed.contextEffect)
  const promises: Promises = { run, stream, logging }
  return {
    run: (input, options) => run((runtime) => runtime.runOnce(input), options),
    stream: (input, options) => stream((onEvent) => run((runtime) => runtime.runOnce(input, { onEvent }), options)),
    session: async (sessionOptions) =>
      new PromiseSession(await run((runtime) => runtime.openSession(sessionOptions)), promises),
    resume: (snapshot, decisions, options) => run((runtime) => runtime.resume(snapshot, decisions), options),
    resumeStream: (snapshot, decisions, options) =>
      stream((onEvent) => run((runtime) => runtime.resume(snapshot, decisions, { onEvent }), options)),
    on: (listener) => agent.hub.listen(checkedListener(listener)),
    close,
    [Symbol.asyncDispose]: close,
    [delegationTarget]: { agent, services }
  }
}

keepShapesWith(createAgent)

type Run = <A, E>(
  use: (runtime: Runtime) => Effect.Effect<A, E>,
  options?: RunOptions,
  known?: OptionKinds<RunOptions>
) => Promise<A>
/** Makes a stream of a run, which starts at once and sends its events to the listener. */
type Streams = (start: (onEvent: (event: AgentEvent) => void) => Promise<RunResult>) => RunStream

/** How the sessions of an agent run Effects. */
interface Promises {
  readonly run: Run
  readonly stream: Streams
  readonly logging: Context.Context<never>
}

/** Runs Effects of the runtime as promises, after the services of its hooks have been built. */
const startEffects = (
  agent: ResolvedAgent,
  managed: ManagedRuntime.ManagedRuntime<unknown, never> | undefined,
  logging: Context.Context<never>
): { readonly run: Run; readonly close: () => Promise<void> } => {
  const withServices = managed?.context().then((context) =>
    // The context of the layer has the services of the hooks, so nothing else is required.
    startRuntime(agent, Context.merge(logging, context as Context.Context<never>))
  )
  withServices?.catch(() => {})
  const withoutServices = managed === undefined ? startRuntime(agent, undefined) : undefined
  let closed: Promise<void> | undefined

  const run: Run = async (use, options, known = runKinds) => {
    const signal = options === undefined ? undefined : signalOf(options, known)
    signal?.throwIfAborted()
    if (closed !== undefined) throw new DOMException("The agent is closed", "AbortError")
    const runtime = withoutServices ?? (await withServices!)
    signal?.throwIfAborted()
    const cancelled: { partial?: TurnPartial } = {}
    const exit = await Effect.runPromiseExitWith(Context.add(logging, CancelledTurn, cancelled))(
      use(runtime),
      signal === undefined ? undefined : { signal }
    )
    if (Exit.isSuccess(exit)) return exit.value
    if (!Cause.hasInterruptsOnly(exit.cause)) throw withCallerFrames(Cause.squash(exit.cause))
    const reason: unknown = signal?.aborted === true
      ? signal.reason
      : new DOMException("The agent was closed", "AbortError")
    throw reasonWithPartial(reason, cancelled.partial)
  }
  const closeAll = async (): Promise<void> => {
    // If the services could not be built, there are no sessions to close.
    const runtime = withoutServices ?? (await withServices!.catch(() => undefined))
    if (runtime !== undefined) await Effect.runPromiseWith(logging)(runtime.closeAll)
    await managed?.dispose()
  }
  return { run, close: () => closed ??= closeAll() }
}

/** Returns the signal of the options of a run. Throws a `ConfigError` if an option is unknown or wrong. */
const signalOf = (options: RunOptions, known: OptionKinds<RunOptions>): AbortSignal | undefined => {
  Result.getOrThrow(checkKinds("run", options, known))
  Result.getOrThrow(checkOptions("run", [
    "signal",
    options.signal,
    (signal: object) => "aborted" in signal && "addEventListener" in signal,
    "an AbortSignal"
  ]))
  return options.signal
}

/** Returns the listener. Throws a `ConfigError` if it is not a function. */
const checkedListener = (listener: (event: AgentEvent) => void): typeof listener => {
  const isFunction = (value: unknown) => typeof value === "function"
  Result.getOrThrow(checkOptions("on", ["listener", listener ?? null, isFunction, "a function"]))
  return listener
}

const runKinds: OptionKinds<RunOptions> = { signal: "object" }
const sessionRunKinds: OptionKinds<SessionRunOptions> = { signal: "object", whenBusy: "text" }

const parkKinds: OptionKinds<ParkOptions> = { withinMs: "number" }

const turnOptions = (options: SessionRunOptions = {}): TurnOptions =>
  options.whenBusy === undefined ? {} : { whenBusy: options.whenBusy }

/** A class, so that thousands of sessions share their methods. */
class PromiseSession implements AgentSession {
  private readonly session: Session
  private readonly promises: Promises

  constructor(session: Session, promises: Promises) {
    this.session = session
    this.promises = promises
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
  run(input: string | TurnInput, options?: SessionRunOptions) {
    return this.promises.run(() => this.session.run(input, turnOptions(options)), options, sessionRunKinds)
  }
  stream(input: string | TurnInput, options?: SessionRunOptions) {
    return this.promises.stream((onEvent) =>
      this.promises.run(() => this.session.run(input, { ...turnOptions(options), onEvent }), options, sessionRunKinds)
    )
  }
  on(listener: (event: AgentEvent) => void) {
    return this.session.listen(checkedListener(listener))
  }
  steer(input: string | TurnInput, options?: RunOptions) {
    return this.promises.run(() => this.session.steer(input), options)
  }
  signal(signal: HostSignal) {
    return this.promises.run(() => this.session.signal(signal))
  }
  get pending() {
    return this.session.pending
  }
  get waiting() {
    return this.session.waiting
  }
  reload() {
    return this.promises.run(() => this.session.reload)
  }
  park(options?: ParkOptions) {
    return this.promises.run(() => {
      if (options !== undefined) Result.getOrThrow(checkKinds("park", options, parkKinds))
      return this.session.park(options)
    })
  }
  release() {
    return this.promises.run(() => this.session.release)
  }
  resume(decisions?: Decisions, options?: RunOptions) {
    return this.promises.run(() => this.session.resume(decisions), options)
  }
  resumeStream(decisions?: Decisions, options?: RunOptions) {
    return this.promises.stream((onEvent) =>
      this.promises.run(() => this.session.resume(decisions, { onEvent }), options)
    )
  }
  abandon(reason?: string) {
    return this.promises.run(() => this.session.abandon(reason))
  }
  compact() {
    return this.promises.run(() => this.session.compact)
  }
  close() {
    return Effect.runPromiseWith(this.promises.logging)(this.session.close())
  }
  [Symbol.asyncDispose]() {
    return this.close()
  }
}
