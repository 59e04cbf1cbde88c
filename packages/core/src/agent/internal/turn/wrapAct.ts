/** Surrounds a model call or a tool call with the hooks that wrap it. */
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type { AgentError } from "../../../data/AgentError.ts"
import { messageOf } from "../../../data/ErrorMessage.ts"
import { isProviderError } from "../../../data/ProviderError.ts"
import type { AgentHook } from "../../../hook/AgentHook.ts"
import type { Abort, Reject } from "../../../hook/HookAction.ts"
import type { HookContext } from "../../../hook/HookContext.ts"
import { table } from "../../../hook/HookPoint.ts"
import { Context } from "../../../hook/internal/context.ts"
import type { TurnEnded } from "../../TurnEnded.ts"
import type { Turn } from "./turn.ts"
import { endTurn, isTurnEnd } from "./turnEnd.ts"

type Failure = AgentError | TurnEnded
type Act<Input, Output> = (input: Input) => Effect.Effect<Output, Failure>

/** What an act ends with when a wrapper does not let it run. */
export interface FailedWrap<Output> {
  /** A wrapper that fails closed broke. */
  readonly broken: (hook: string, message: string) => Effect.Effect<Output, Failure>
  /** A wrapper refused by failing with `HookAction.reject(...)`. */
  readonly refused: (hook: string, action: Reject) => Effect.Effect<Output, Failure>
}

/** An act and the hooks around it. */
export interface Wrapping<Input, Output> {
  readonly turn: Turn
  readonly method: "wrapLlmCall" | "wrapToolCall"
  /** The first is outermost. */
  readonly hooks: ReadonlyArray<AgentHook<never>>
  /** `isRevealed` says whether a confidential wrapper made this input. */
  readonly act: (input: Input, isRevealed: boolean) => Effect.Effect<Output, Failure>
  readonly failed: FailedWrap<Output>
  /** Whether an input is the approved one: only of that may a confidential wrapper make another. Default: never. */
  readonly isApproved?: (input: Input) => boolean
}

/** Builds the surrounded act. */
export const wrapAct = <Input extends object, Output>(wrapping: Wrapping<Input, Output>): Act<Input, Output> => {
  const { act, hooks } = wrapping
  /** Inputs that confidential wrappers made for this act. */
  const revealed = new WeakSet<object>()
  return hooks.reduceRight<Act<Input, Output>>(
    (inner, hook) => (input) => runWrapper(new Wrapped(wrapping, revealed, hook, inner, input)),
    (input) => act(input, revealed.has(input))
  )
}

/** One wrapper's part in one act. A class because its methods share what has happened to the act so far. */
class Wrapped<Input extends object, Output> {
  readonly wrapping: Wrapping<Input, Output>
  readonly hook: AgentHook<never>
  readonly input: Input
  private readonly revealed: WeakSet<object>
  private readonly inner: Act<Input, Output>
  /** How the act ended that the wrapper began last; undecided while it runs. */
  private running: Deferred.Deferred<Output, Failure> | undefined = undefined
  private actFailure: unknown = undefined

  constructor(
    wrapping: Wrapping<Input, Output>,
    revealed: WeakSet<object>,
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
      const mayReveal = revealed.has(input) || wrapping.isApproved?.(input) === true
      if (hook.confidential === true && isAnother && mayReveal) revealed.add(value)
      const running = this.running = Deferred.makeUnsafe<Output, Failure>()
      return Effect.onExit(this.inner(value), (exit) => {
        if (exit._tag === "Failure") this.actFailure = Cause.squash(exit.cause)
        return Deferred.done(running, exit)
      })
    })
  }

  /** What follows when the wrapper fails, however it fails. */
  afterFailure(cause: Cause.Cause<unknown>): Effect.Effect<Output, Failure> {
    const { hook, wrapping: { failed } } = this
    const error = Cause.squash(cause)
    if (Cause.hasInterruptsOnly(cause)) return Effect.interrupt
    // A wrapper may fail as the act may: it passes the act's failure on, or makes one, as a circuit breaker does.
    if (isTurnEnd(error) || isProviderError(error)) return Effect.fail(error)
    // The act's own failure, so its type is the act's.
    if (error !== undefined && error === this.actFailure) return Effect.failCause(cause as Cause.Cause<Failure>)
    const decision = decisionOf(error)
    if (decision?._tag === "Reject") return failed.refused(hook.name, decision)
    if (decision !== undefined) return endTurn({ type: "aborted", reason: decision.reason, by: hook.name })
    return this.afterBreakage(messageOf(error))
  }

  /** The wrapper broke: its failure policy decides. */
  private afterBreakage(message: string): Effect.Effect<Output, Failure> {
    const { hook, running, wrapping: { failed, method, turn } } = this
    const policy = hook.onFailure ?? ((hook.failOpen ?? hook.kind !== "policy") ? "open" : "reject")
    const isOpen = policy === "open"
    turn.io.warn(`${method} failed (${isOpen ? "fail-open, went on" : "fail-closed"}): ${message}`, hook.name)
    if (!isOpen) return failed.broken(hook.name, message)
    // The act runs at most once: an act that the wrapper began is awaited, one that it interrupted does not begin again.
    if (running === undefined) return this.inner(this.input)
    return Effect.catchCauseIf(
      Deferred.await(running),
      Cause.hasInterruptsOnly,
      () => failed.broken(hook.name, `it interrupted the act: ${message}`)
    )
  }
}

const runWrapper = <Input extends object, Output>(wrapped: Wrapped<Input, Output>): Effect.Effect<Output, Failure> =>
  Effect.withFiber((fiber) => {
    const { hook, input, wrapping: { method, turn } } = wrapped
    const next = Object.assign((value: Input) => wrapped.run(value), {
      promise: (value: Input) => {
        const promise = Effect.runPromiseWith(fiber.context)(wrapped.run(value), { signal: turn.io.signal })
        // A wrapper that does not await the promise must not end the process when the turn is cancelled.
        promise.catch(() => {})
        return promise
      }
    })
    const call = Effect.suspend(() => {
      const answer = callWrapper(hook, method, input, next, new Context(turn.scope, hook.name))
      const output = Effect.isEffect(answer)
        ? answer
        : Effect.tryPromise({ try: () => Promise.resolve(answer), catch: (error) => error })
      return Effect.flatMap(output, (value) => {
        const wrong = wrongOutput(method, value)
        return wrong === undefined
          // `wrongOutput` has just checked that it is what the act gives back.
          ? Effect.succeed(value as Output)
          : Effect.fail(`it returned something that the act does not return: ${wrong}`)
      })
    })
    return Effect.catchCause(call, (cause) => wrapped.afterFailure(cause))
  })

type AnyWrapper = (input: unknown, next: unknown, ctx: HookContext) =>
  | Effect.Effect<unknown, unknown>
  | PromiseLike<unknown>

/** Calls the method of a hook. `input`, `next` and `method` belong together, which the types cannot say. */
const callWrapper = (
  hook: AgentHook<never>,
  method: "wrapLlmCall" | "wrapToolCall",
  input: unknown,
  next: unknown,
  ctx: HookContext
): ReturnType<AnyWrapper> => (hook[method] as AnyWrapper).call(hook, input, next, ctx)

/** Says what is wrong with the output of an untyped wrapper. */
const wrongOutput = (method: "wrapLlmCall" | "wrapToolCall", output: unknown): string | undefined =>
  // The checks take any value: that is what they are for.
  (method === "wrapLlmCall" ? table.postLlmCall.wrong : table.postToolCall.wrong)(output as never)

/** The decision that a wrapper failed with, if it is one. */
const decisionOf = (error: unknown): Reject | Abort | undefined =>
  typeof error === "object" && error !== null && "_tag" in error &&
    (error._tag === "Reject" || error._tag === "Abort") &&
    "reason" in error && typeof error.reason === "string"
    ? error as Reject | Abort // Its tag and its reason are what both have.
    : undefined
