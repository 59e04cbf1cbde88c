/** Sessions and runs of an agent as promises. */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Result from "effect/Result"
import type { AgentEvent } from "../../data/AgentEvent.ts"
import type { HostSignal } from "../../data/Delegation.ts"
import { checkKinds, checkOptions, type OptionKinds } from "../../data/option/OptionCheck.ts"
import type { TurnInput } from "../../data/Turn.ts"
import type { TurnPartial } from "../../data/TurnPartial.ts"
import { withCallerFrames } from "../../guard/internal/platform/callerFrames.ts"
import type { RunResult } from "../../guard/RunResult.ts"
import type { AgentSession, RunOptions, RunStream, SessionRunOptions } from "../createAgent.ts"
import type { Decisions, ParkOptions, Session, TurnOptions } from "../Session.ts"
import type { ResolvedAgent } from "./definition/resolvedAgent.ts"
import { type Runtime, startRuntime } from "./session/runtime.ts"
import { CancelledTurn, reasonWithPartial } from "./turn/partial.ts"

type Run = <A, E>(
  use: (runtime: Runtime) => Effect.Effect<A, E>,
  options?: RunOptions,
  known?: OptionKinds<RunOptions>
) => Promise<A>

/** Makes a stream of a run, which starts at once and sends its events to the listener. */
export type Streams = (start: (onEvent: (event: AgentEvent) => void) => Promise<RunResult>) => RunStream

/** How the sessions of an agent run Effects. */
export interface Promises {
  readonly run: Run
  readonly stream: Streams
  readonly logging: Context.Context<never>
}

/** Runs Effects of the runtime as promises, after the services of its hooks have been built. */
export const startEffects = (
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
export const checkedListener = (listener: (event: AgentEvent) => void): typeof listener => {
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
export class PromiseSession implements AgentSession {
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
