/**
 * The face for everyone else: promises, `for await` over events, an `AbortSignal` to cancel, `await using` to let go.
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
import * as AgentRuntime from "./AgentRuntime.ts"
import type { InputSchema } from "./defineTool.ts"
import { toStderr } from "./internal/config/logToStderr.ts"
import { made } from "./internal/config/resolveAgent.ts"
import { join } from "./internal/subagent/agentTree.ts"
import { eventQueue } from "./internal/turn/eventQueue.ts"
import type { Output, ResultOf } from "./Output.ts"
import type { RunResult } from "./RunResult.ts"

/** @category models @since 0.1.0 */
export interface RunOptions {
  /** Cancels the turn; the promise then rejects with the signal's reason. */
  readonly signal?: AbortSignal
}

/** A turn whose events can be read while it goes on. @category models @since 0.1.0 */
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
  /** What the turn that waits is waiting for: nothing when none does. */
  readonly pending: ReadonlyArray<PendingAsk>
  /** Goes on with the turn that waits: suspended, limited, or left by a process that ended. */
  readonly resume: (decisions?: AgentRuntime.Decisions, options?: RunOptions) => Promise<Result>
  readonly close: () => Promise<void>
}

/** `Result` is how its turns end: with an `output`, their object has a type. @category models @since 0.1.0 */
export interface Agent<Result extends RunResult = RunResult> extends AsyncDisposable {
  /** Runs one turn in a session of its own. Rejects with an `AgentError`; limits, asks and aborts are results. */
  readonly run: (input: string | TurnInput, options?: RunOptions) => Promise<Result>
  /** The same, with its events as they happen. */
  readonly stream: (input: string | TurnInput, options?: RunOptions) => RunStream<Result>
  /** Opens a conversation of several turns. */
  readonly session: (
    options?: { readonly id?: string; readonly messages?: ReadonlyArray<Message> }
  ) => Promise<AgentSession<Result>>
  /** Goes on with a suspended or limited run; the snapshot is JSON, as a value or as text. */
  readonly resume: (snapshot: unknown, decisions?: AgentRuntime.Decisions, options?: RunOptions) => Promise<Result>
  /** Hears every event until the returned function is called. */
  readonly on: (listener: (event: AgentEvent) => void) => () => void
  /** Ends every session and releases what the hooks hold. */
  readonly close: () => Promise<void>
}

/** Options of an agent whose hooks need services: `layer` provides them. @category models @since 0.1.0 */
export type AgentOptions<Hooks extends ReadonlyArray<AnyHook>> = Omit<AgentConfig, "hooks"> & {
  readonly hooks: Hooks
  readonly layer: Layer.Layer<AgentRuntime.HookServices<Hooks>>
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
  // What cannot work is said now, not at the first turn.
  const host = Result.getOrThrow(made(options as AgentConfig))
  for (const warning of host.warnings) Effect.runForkWith(toStderr)(Effect.logWarning(warning))
  const managed = "layer" in options ? ManagedRuntime.make(options.layer) : undefined
  const withServices = managed?.context().then((context) =>
    AgentRuntime.makeUnsafe(host, Context.merge(toStderr, context))
  )
  withServices?.catch(() => {})
  const bare = managed === undefined ? AgentRuntime.makeUnsafe(host, undefined) : undefined

  const run = async <A, E>(
    use: (runtime: AgentRuntime.AgentRuntime) => Effect.Effect<A, E>,
    signal?: AbortSignal
  ): Promise<A> => {
    signal?.throwIfAborted()
    if (closed !== undefined) throw new DOMException("The agent is closed", "AbortError")
    const { runtime } = bare ?? (await withServices!)
    signal?.throwIfAborted()
    const exit = await Effect.runPromiseExitWith(toStderr)(use(runtime), signal === undefined ? undefined : { signal })
    if (Exit.isSuccess(exit)) return exit.value
    if (Cause.hasInterruptsOnly(exit.cause)) {
      throw signal?.aborted === true
        ? signal.reason
        : new DOMException("The agent was closed", "AbortError")
    }
    throw Cause.squash(exit.cause)
  }
  let closed: Promise<void> | undefined
  const letGo = async (): Promise<void> => {
    // Services that could not be made hold no sessions.
    const made = bare ?? (await withServices!.catch(() => undefined))
    if (made !== undefined) await Effect.runPromiseWith(toStderr)(made.closeAll)
    await managed?.dispose()
  }
  const close = (): Promise<void> => closed ??= letGo()

  const stream = (start: () => Promise<RunResult>, sessionId: () => string | undefined): RunStream => {
    const queue = eventQueue()
    const listener = (event: AgentEvent) => void (event.sessionId === sessionId() && queue.push(event))
    host.hub.listeners.add(listener)
    const result = start().finally(() => {
      host.hub.listeners.delete(listener)
      queue.end()
    })
    result.catch(() => {})
    return { result, [Symbol.asyncIterator]: () => queue.iterate(result) }
  }

  const agent: Agent = {
    run: (input, options) => run((runtime) => runtime.run(input), options?.signal),
    stream: (input, options) => {
      let opened: AgentRuntime.Session | undefined
      return stream(
        () =>
          run(
            (runtime) =>
              Effect.flatMap(runtime.session(), (session) => {
                opened = session
                return AgentRuntime.closing(session, session.run(input))
              }),
            options?.signal
          ),
        () => opened?.id
      )
    },
    session: async (options) => new Face(await run((runtime) => runtime.session(options)), run, stream),
    resume: (snapshot, decisions, options) => run((runtime) => runtime.resume(snapshot, decisions), options?.signal),
    on: (listener) => {
      host.hub.listeners.add(listener)
      return () => void host.hub.listeners.delete(listener)
    },
    close,
    [Symbol.asyncDispose]: close
  }
  const services = managed === undefined ? Effect.undefined : Effect.orDie(managed.contextEffect)
  join(agent, { host, services: services as Effect.Effect<Context.Context<never> | undefined> })
  return agent
}

type Run = <A, E>(use: (runtime: AgentRuntime.AgentRuntime) => Effect.Effect<A, E>, signal?: AbortSignal) => Promise<A>
type Streams = (start: () => Promise<RunResult>, sessionId: () => string | undefined) => RunStream

/** A class because there may be ten thousand sessions: its methods are shared. */
class Face implements AgentSession {
  private readonly session: AgentRuntime.Session
  private readonly effects: Run
  private readonly streams: Streams

  constructor(session: AgentRuntime.Session, effects: Run, streams: Streams) {
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
  resume(decisions?: AgentRuntime.Decisions, options?: RunOptions) {
    return this.effects(() => this.session.resume(decisions), options?.signal)
  }
  compact() {
    return this.effects(() => this.session.compact)
  }
  close() {
    return Effect.runPromiseWith(toStderr)(this.session.close())
  }
  [Symbol.asyncDispose]() {
    return this.close()
  }
}
