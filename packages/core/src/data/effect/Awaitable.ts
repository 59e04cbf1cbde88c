/**
 * A value that is both an Effect and awaitable. The capabilities of `ctx` return it, so that generators write
 * `yield* ctx.llm(...)` and async functions write `await ctx.llm(...)`.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Effectable from "effect/Effectable"
import * as References from "effect/References"

/**
 * An Effect that can also be awaited. It starts when it is first awaited or run, not when it is made. Awaiting it again
 * returns the same result; running it again as an Effect repeats the work.
 *
 * @category models
 * @since 0.1.0
 */
export interface Awaitable<A, E = never> extends Effect.Effect<A, E>, PromiseLike<A> {
  readonly catch: <B = never>(onRejected?: ((error: unknown) => B | PromiseLike<B>) | null) => Promise<A | B>
  readonly finally: (onFinally?: (() => void) | null) => Promise<A>
}

/** Runs an Effect as a promise. @category models @since 0.1.0 */
export type RunPromise = <A, E>(effect: Effect.Effect<A, E>) => Promise<A>

/**
 * Runs an Effect for a program without Effect. Its log lines go to standard error, because standard output belongs to
 * the program.
 *
 * @category running
 * @since 0.1.0
 */
export const runPromise: RunPromise = Effect.runPromiseWith(Context.make(References.LogToStderr, true))

/**
 * Makes an Effect awaitable. `run` runs it when it is awaited. Default: `runPromise`.
 *
 * @example
 * ```ts
 * import * as Awaitable from "@belay/core/Awaitable"
 * import * as Effect from "effect/Effect"
 *
 * const answer = Awaitable.make(Effect.succeed(42))
 * const doubled = Effect.map(answer, (value) => value * 2)
 * const value = await answer
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = <A, E>(effect: Effect.Effect<A, E>, run: RunPromise = runPromise): Awaitable<A, E> =>
  new Value(effect, run)

class Value<A, E> extends Effectable.Class<A, E> implements Awaitable<A, E> {
  private readonly effect: Effect.Effect<A, E>
  private readonly run: RunPromise
  private promise: Promise<A> | undefined = undefined

  constructor(effect: Effect.Effect<A, E>, run: RunPromise) {
    super()
    this.effect = effect
    this.run = run
  }
  asEffect(): Effect.Effect<A, E> {
    return this.effect
  }
  private start(): Promise<A> {
    return this.promise ??= this.run(this.effect)
  }
  // oxlint-disable-next-line unicorn/no-thenable -- being awaitable is what this class is for
  then<B = A, C = never>(
    onFulfilled?: ((value: A) => B | PromiseLike<B>) | null,
    onRejected?: ((error: unknown) => C | PromiseLike<C>) | null
  ): Promise<B | C> {
    return this.start().then(onFulfilled, onRejected)
  }
  catch<B = never>(onRejected?: ((error: unknown) => B | PromiseLike<B>) | null): Promise<A | B> {
    return this.start().catch(onRejected)
  }
  finally(onFinally?: (() => void) | null): Promise<A> {
    return this.start().finally(onFinally)
  }
}
