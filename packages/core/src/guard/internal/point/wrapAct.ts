/** Wraps a model call or a tool call (an act) in the `wrapLlmCall` or `wrapToolCall` hooks. */
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import type { AgentError } from "../../../data/AgentError.ts"
import * as Awaitable from "../../../data/effect/Awaitable.ts"
import { isProviderError } from "../../../data/ProviderError.ts"
import { messageOf } from "../../../data/text/ErrorMessage.ts"
import type { AgentHook } from "../../../hook/AgentHook.ts"
import type { Abort, Reject } from "../../../hook/HookAction.ts"
import type { HookContext } from "../../../hook/HookContext.ts"
import { table } from "../../../hook/HookPoint.ts"
import { Context } from "../../../hook/internal/context.ts"
import type { TurnEnded } from "../../TurnEnded.ts"
import { endTurn, isTurnEnd } from "../state/turnEnd.ts"
import type { GuardTurn } from "./guardTurn.ts"

type Failure = AgentError | TurnEnded
type Act<Input, Output> = (input: Input) => Effect.Effect<Output, Failure>

/** The failure of an act that a wrapper did not allow. */
export interface FailedWrap<Output> {
  /** A fail-closed wrapper failed. */
  readonly broken: (hook: string, message: string) => Effect.Effect<Output, Failure>
  /** A wrapper rejected the act by failing with `HookAction.reject(...)`. */
  readonly refused: (hook: string, action: Reject) => Effect.Effect<Output, Failure>
}

/** An act and the hooks around it. */
export interface Wrapping<Input, Output> {
  readonly turn: GuardTurn
  readonly method: "wrapLlmCall" | "wrapToolCall"
  /** The wrappers; the first is outermost. */
  readonly hooks: ReadonlyArray<AgentHook<never>>
  /** Runs the act. `isRevealed` tells whether a confidential wrapper made this input. */
  readonly act: (input: Input, isRevealed: boolean) => Effect.Effect<Output, Failure>
  readonly failed: FailedWrap<Output>
  /**
   * Whether an input is the approved one. A confidential wrapper may change only the approved input. Default: no input
   * is.
   */
  readonly isApproved?: (input: Input) => boolean
}

/** Builds the wrapped act. */
export const wrapAct = <Input extends object, Output>(wrapping: Wrapping<Input, Output>): Act<Input, Output> => {
  const { act, hooks } = wrapping
  /** Inputs that confidential wrappers made for this act. */
  const revealed: Array<object> = []
  return hooks.reduceRight<Act<Input, Output>>(
    (inner, hook) => (input) => runWrapper(new Wrapped(wrapping, revealed, hook, inner, input)),
    (input) => act(input, revealed.includes(input))
  )
}

/** One run of an act. A class, because it is made on the hot path. */
class Run<Output> {
  exit: Exit.Exit<Output, Failure> | undefined = undefined
  private waiting: Deferred.Deferred<Output, Failure> | undefined = undefined

  end(exit: Exit.Exit<Output, Failure>): Effect.Effect<unknown> {
    this.exit = exit
    return this.waiting === undefined ? Effect.void : Deferred.done(this.waiting, exit)
  }
  /** Waits until the act has ended. */
  wait(): Effect.Effect<Output, Failure> {
    return this.exit ?? Deferred.await(this.waiting ??= Deferred.makeUnsafe())
  }
}

/** The run of one wrapper around one act. A class, because its methods share the state of the act. */
class Wrapped<Input extends object, Output> {
  readonly wrapping: Wrapping<Input, Output>
  readonly hook: AgentHook<never>
  readonly input: Input
  private readonly revealed: Array<object>
  private readonly inner: Act<Input, Output>
  /** The run of the act that the wrapper started last. */
  private running: Run<Output> | undefined = undefined
  private actFailure: unknown = undefined

  constructor(
    wrapping: Wrapping<Input, Output>,
    revealed: Array<object>,
    hook: AgentHook<never>,
    inner: Act<Input, Output>,
    input: Input
  ) {
    this.wrapping = wrapping
    this.revealed = revealed
    this.hook = hook
    this.inner = inner
    this.input = input
  }

  /** The act itself, as the wrapper calls it. */
  run(value: Input): Effect.Effect<Output, Failure> {
    return Effect.suspend(() => {
      const { hook, input, revealed, wrapping } = this
      const isAnother = value !== input && typeof value === "object" && value !== null
      if (hook.confidential === true && isAnother) {
        if (revealed.includes(input) || wrapping.isApproved?.(input) === true) revealed.push(value)
      }
      const running = this.running = new Run<Output>()
      return Effect.onExit(this.inner(value), (exit) => {
        if (exit._tag === "Failure") this.actFailure = Cause.squash(exit.cause)
        return running.end(exit)
      })
    })
  }

  /** Handles any failure of the wrapper. */
  afterFailure(cause: Cause.Cause<unknown>): Effect.Effect<Output, Failure> {
    const { hook, wrapping: { failed } } = this
    const error = Cause.squash(cause)
    if (Cause.hasInterruptsOnly(cause)) return Effect.interrupt
    // A wrapper may fail with an error of the act: it passes the act's failure on, or makes one, as a circuit breaker
    // does.
    if (isTurnEnd(error) || isProviderError(error)) return Effect.fail(error)
    // The act's own failure, so its type is the act's.
    if (error !== undefined && error === this.actFailure) return Effect.failCause(cause as Cause.Cause<Failure>)
    const decision = decisionOf(error)
    if (decision?._tag === "Reject") return failed.refused(hook.name, decision)
    if (decision !== undefined) return endTurn({ type: "aborted", reason: decision.reason, by: hook.name })
    return this.afterBreakage(messageOf(error))
  }

  /** The wrapper failed, so its failure policy decides. */
  private afterBreakage(message: string): Effect.Effect<Output, Failure> {
    const { hook, running, wrapping: { failed, method, turn } } = this
    const policy = hook.onFailure ?? ((hook.failOpen ?? hook.kind !== "policy") ? "open" : "reject")
    const isOpen = policy === "open"
    turn.io.warn(`${method} failed (${isOpen ? "fail-open, went on" : "fail-closed"}): ${message}`, hook.name)
    if (policy === "abort") {
      return endTurn({ type: "aborted", reason: `hook ${hook.name} failed at ${method}: ${message}`, by: hook.name })
    }
    if (!isOpen) return failed.broken(hook.name, message)
    // Continues without the wrapper. The act runs at most once: if the wrapper started it, it is awaited; if the
    // wrapper interrupted it, it is not started again.
    if (running === undefined) return this.inner(this.input)
    return Effect.catchCauseIf(
      running.wait(),
      Cause.hasInterruptsOnly,
      () => failed.broken(hook.name, `it interrupted the act: ${message}`)
    )
  }
}

const runWrapper = <Input extends object, Output>(wrapped: Wrapped<Input, Output>): Effect.Effect<Output, Failure> =>
  Effect.catchCause(Effect.withFiber((fiber) => callInFiber(wrapped, fiber)), (cause) => wrapped.afterFailure(cause))

const callInFiber = <Input extends object, Output>(
  wrapped: Wrapped<Input, Output>,
  fiber: Fiber.Fiber<unknown, unknown>
): Effect.Effect<Output, unknown> => {
  const { hook, input, wrapping: { method, turn } } = wrapped
  const run = <A, E>(effect: Effect.Effect<A, E>): Promise<A> => {
    const { signal } = turn.io
    // Effect would run the act up to its first pause, which can be its end.
    const promise: Promise<A> = signal.aborted
      ? Promise.reject(signal.reason as DOMException)
      : Effect.runPromiseWith(fiber.context)(effect, { signal })
    // If a wrapper does not await the promise, cancelling the turn must not crash the process.
    promise.catch(() => {})
    return promise
  }
  const next = (value: Input) => Awaitable.make(wrapped.run(value), run)
  next.promise = (value: Input) => run(wrapped.run(value))
  const answer = callWrapper(hook, method, input, next, new Context(turn.scope, hook.name))
  const output = Effect.isEffect(answer)
    ? answer
    : Effect.tryPromise({ try: () => Promise.resolve(answer), catch: (error) => error })
  return Effect.flatMap(output, (value) => {
    const wrong = wrongOutput(method, value)
    return wrong === undefined
      // `wrongOutput` has just checked that it is an output of the act.
      ? Effect.succeed(value as Output)
      : Effect.fail(`it returned something that the act does not return: ${wrong}`)
  })
}

type AnyWrapper = (input: unknown, next: unknown, ctx: HookContext) =>
  | Effect.Effect<unknown, unknown>
  | PromiseLike<unknown>

/** Calls the method of a hook. The types cannot express that `input`, `next` and `method` belong together. */
const callWrapper = (
  hook: AgentHook<never>,
  method: "wrapLlmCall" | "wrapToolCall",
  input: unknown,
  next: unknown,
  ctx: HookContext
): ReturnType<AnyWrapper> => (hook[method] as AnyWrapper).call(hook, input, next, ctx)

/** Describes what is wrong with the output of an untyped wrapper. */
const wrongOutput = (method: "wrapLlmCall" | "wrapToolCall", output: unknown): string | undefined =>
  // The checks accept any value.
  (method === "wrapLlmCall" ? table.postLlmCall.wrong : table.postToolCall.wrong)(output as never)

/** Returns the action with which a wrapper failed, if it is one. */
const decisionOf = (error: unknown): Reject | Abort | undefined =>
  typeof error === "object" && error !== null && "_tag" in error &&
    (error._tag === "Reject" || error._tag === "Abort") &&
    "reason" in error && typeof error.reason === "string"
    ? error as Reject | Abort // Its tag and its reason are what both have.
    : undefined
