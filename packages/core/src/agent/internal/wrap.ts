/** Surrounds an act with the hooks that wrap it. A wrapper that breaks is treated by its failure policy. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { AgentError } from "../../data/AgentError.ts"
import type { AgentHook, Next } from "../../hook/AgentHook.ts"
import { Context } from "../../hook/internal/context.ts"
import type { TurnEnded } from "../TurnEnded.ts"
import { say } from "./dispatcher.ts"
import type { Turn } from "./turn.ts"

type Failure = AgentError | TurnEnded
type Act<Input, Output> = (input: Input) => Effect.Effect<Output, Failure>

/** Builds the surrounded act; the first hook is outermost. `broken` turns a fail-closed wrapper's failure into a result. */
export const wrap = <Input, Output>(
  turn: Turn,
  method: "wrapLlmCall" | "wrapToolCall",
  hooks: ReadonlyArray<AgentHook<never>>,
  act: Act<Input, Output>,
  broken: (hook: string, message: string) => Effect.Effect<Output, Failure>
): Act<Input, Output> =>
  hooks.reduceRight<Act<Input, Output>>((inner, hook) => (input) => around(turn, method, hook, inner, input, broken), act)

const around = <Input, Output>(
  turn: Turn,
  method: "wrapLlmCall" | "wrapToolCall",
  hook: AgentHook<never>,
  inner: Act<Input, Output>,
  input: Input,
  broken: (hook: string, message: string) => Effect.Effect<Output, Failure>
): Effect.Effect<Output, Failure> =>
  Effect.withFiber((fiber) => {
    let last: Exit.Exit<Output, Failure> | undefined
    const run: Act<Input, Output> = (value) =>
      Effect.onExit(inner(value), (exit) => {
        last = exit
        return Effect.void
      })
    const next = Object.assign(run, {
      promise: (value: Input) => Effect.runPromiseWith(fiber.context)(run(value), { signal: turn.signal })
    }) as Next<Input, Output>
    const call = hook[method] as unknown as (input: Input, next: Next<Input, Output>, ctx: Context) => unknown
    return Effect.matchCauseEffect(
      Effect.suspend(() => {
        const answer = call.call(hook, input, next, new Context(turn, hook.name))
        return (Effect.isEffect(answer)
          ? answer
          : Effect.tryPromise({ try: () => Promise.resolve(answer), catch: (error) => error })) as Effect.Effect<Output, unknown>
      }),
      {
        onSuccess: (output) => Effect.succeed(output),
        onFailure: (cause) => {
          const error = Cause.squash(cause)
          if (Cause.hasInterruptsOnly(cause)) return Effect.interrupt
          // The act's own failure, passed on by the wrapper, is not the wrapper's.
          if (last !== undefined && Exit.isFailure(last) && Cause.squash(last.cause) === error) return Effect.failCause(last.cause)
          const open = hook.onFailure === undefined ? hook.failOpen ?? hook.kind !== "policy" : hook.onFailure === "open"
          turn.warn(`${method} failed (${open ? "fail-open, went on" : "fail-closed"}): ${say(error)}`, hook.name)
          if (!open) return broken(hook.name, say(error))
          return last !== undefined && Exit.isSuccess(last) ? Effect.succeed(last.value) : inner(input)
        }
      }
    )
  })
