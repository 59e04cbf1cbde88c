/** Surrounds an act with the hooks that wrap it. A wrapper that breaks is treated by its failure policy. */
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type { AgentError } from "../../../data/AgentError.ts"
import { messageOf } from "../../../data/ErrorMessage.ts"
import { isProviderError } from "../../../data/ProviderError.ts"
import type { AgentHook, Next } from "../../../hook/AgentHook.ts"
import type { Abort, Reject } from "../../../hook/HookAction.ts"
import { table } from "../../../hook/HookPoint.ts"
import { Context } from "../../../hook/internal/context.ts"
import type { TurnEnded } from "../../TurnEnded.ts"
import type { Turn } from "./turn.ts"
import { ended, isEnded } from "./turnEnd.ts"

type Failure = AgentError | TurnEnded
type Act<Input, Output> = (input: Input) => Effect.Effect<Output, Failure>

/** Inputs that a confidential wrapper made: the act takes them in place of what was approved. */
const revealed = new WeakSet<object>()

/** Whether a confidential wrapper made this input. */
export const isRevealed = (input: object): boolean => revealed.has(input)

/** What becomes of an act whose wrapper does not let it be. */
export interface Ends<Input, Output> {
  /** A wrapper that fails closed broke. */
  readonly broken: (hook: string, message: string) => Effect.Effect<Output, Failure>
  /** A wrapper refused, by failing with `HookAction.reject(...)`. */
  readonly refused: (hook: string, action: Reject) => Effect.Effect<Output, Failure>
  /**
   * Whether an input is the one that was approved: only then a confidential hook may put another one in its place.
   * Default: none is.
   */
  readonly approved?: (input: Input) => boolean
}

/** Builds the surrounded act; the first hook is outermost. */
export const wrap = <Input, Output>(
  turn: Turn,
  method: "wrapLlmCall" | "wrapToolCall",
  hooks: ReadonlyArray<AgentHook<never>>,
  act: Act<Input, Output>,
  ends: Ends<Input, Output>
): Act<Input, Output> =>
  hooks.reduceRight<Act<Input, Output>>((inner, hook) => (input) => around(turn, method, hook, inner, input, ends), act)

/** A wrapper's own decision. */
const decisionOf = (error: unknown): Reject | Abort | undefined =>
  typeof error === "object" && error !== null && "_tag" in error &&
    (error._tag === "Reject" || error._tag === "Abort") &&
    "reason" in error && typeof error.reason === "string"
    ? error as Reject | Abort
    : undefined

/** Wrappers from outside may give back anything. */
const wrongOutputs = { wrapLlmCall: table.postLlmCall.wrong, wrapToolCall: table.postToolCall.wrong }

const around = <Input, Output>(
  turn: Turn,
  method: "wrapLlmCall" | "wrapToolCall",
  hook: AgentHook<never>,
  inner: Act<Input, Output>,
  input: Input,
  { approved, broken, refused }: Ends<Input, Output>
): Effect.Effect<Output, Failure> =>
  Effect.withFiber((fiber) => {
    const wrongOutput = wrongOutputs[method] as (output: unknown) => string | undefined
    /** How the act ended that the wrapper began last; undecided while it goes on. */
    let flight: Deferred.Deferred<Output, Failure> | undefined
    /** The act's own failure. */
    let failed: unknown
    const run: Act<Input, Output> = (value) =>
      Effect.suspend(() => {
        if (hook.confidential === true && value !== input && typeof value === "object" && value !== null) {
          if (isRevealed(input as object) || approved?.(input) === true) revealed.add(value)
        }
        const mine = flight = Deferred.makeUnsafe<Output, Failure>()
        return Effect.onExit(inner(value), (exit) => {
          if (exit._tag === "Failure") failed = Cause.squash(exit.cause)
          return Deferred.done(mine, exit)
        })
      })
    const next = Object.assign(run, {
      promise: (value: Input) => {
        const promise = Effect.runPromiseWith(fiber.context)(run(value), { signal: turn.signal })
        // A wrapper that does not wait for it must not end the process when the turn is cancelled.
        promise.catch(() => {})
        return promise
      }
    }) as Next<Input, Output>
    const call = hook[method] as unknown as (input: Input, next: Next<Input, Output>, ctx: Context) => unknown
    return Effect.matchCauseEffect(
      Effect.suspend(() => {
        const answer = call.call(hook, input, next, new Context(turn, hook.name))
        return Effect.flatMap(
          (Effect.isEffect(answer)
            ? answer
            : Effect.tryPromise({ try: () => Promise.resolve(answer), catch: (error) => error })) as Effect.Effect<
              Output,
              unknown
            >,
          (output) => {
            const wrong = wrongOutput(output)
            return wrong === undefined
              ? Effect.succeed(output)
              : Effect.fail(`it gave back something else than the act does: ${wrong}`)
          }
        )
      }),
      {
        onSuccess: (output) => Effect.succeed(output),
        onFailure: (cause) => {
          const error = Cause.squash(cause)
          if (Cause.hasInterruptsOnly(cause)) return Effect.interrupt
          // What the act may fail with, the wrapper may too: the act's own failure passed on, or a circuit breaker's.
          if (isEnded(error) || isProviderError(error)) return Effect.fail(error)
          if (error !== undefined && error === failed) return Effect.failCause(cause as Cause.Cause<Failure>)
          const decision = decisionOf(error)
          if (decision?._tag === "Reject") return refused(hook.name, decision)
          if (decision !== undefined) return ended({ type: "aborted", reason: decision.reason, by: hook.name })
          const open = hook.onFailure === undefined
            ? hook.failOpen ?? hook.kind !== "policy"
            : hook.onFailure === "open"
          turn.warn(`${method} failed (${open ? "fail-open, went on" : "fail-closed"}): ${messageOf(error)}`, hook.name)
          if (!open) return broken(hook.name, messageOf(error))
          // The act runs once: what the wrapper began is waited for, what it cut off is not begun again.
          if (flight === undefined) return inner(input)
          return Effect.catchCauseIf(
            Deferred.await(flight),
            Cause.hasInterruptsOnly,
            () => broken(hook.name, `it cut the act off: ${messageOf(error)}`)
          )
        }
      }
    )
  })
