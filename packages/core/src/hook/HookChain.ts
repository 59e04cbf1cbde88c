/**
 * All hooks of an agent in one order, compiled once per point. Running a point is a loop over plain functions; there is
 * waiting, a timer or a record only where a hook or a listener needs it.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { ChainError } from "../data/AgentError.ts"
import type { AgentHook } from "./AgentHook.ts"
import type { HookScope } from "./HookContext.ts"
import type { ActionAt, HookPointName, In } from "./HookPoint.ts"
import { names } from "./HookPoint.ts"
import type { HookFailure } from "./HookRecord.ts"
import { compile, type CompiledPoint } from "./internal/compiledPoint.ts"
import { fingerprintOf } from "./internal/fingerprint.ts"
import { order } from "./internal/orderHooks.ts"
import type { Decode, Resume, Settled } from "./internal/outcome.ts"
import { runPoint } from "./internal/runPoint.ts"

/** The outcome of a point: the event with every change in it, and the action that decided. @category models @since 0.1.0 */
export interface Outcome<P extends HookPointName> {
  /** `Transform` when the value was changed and nobody stopped the chain. */
  readonly action: ActionAt<P>
  readonly event: In<P>
  /** The hook that decided, or the last that changed the value. */
  readonly by: string | undefined
  /** Set when the action is the failure policy of a broken hook. */
  readonly failure: HookFailure | undefined
  /** Set when a gate (`reinvoke: "ifChanged"`) asks after all other hooks have answered for this value. */
  readonly atGate?: true
}

export type { Settled }

/** @category models @since 0.1.0 */
export interface HookChain {
  /** The hooks in forward order. */
  readonly hooks: ReadonlyArray<AgentHook<never>>
  /** Remarks to log once: policy hooks that fail open. */
  readonly warnings: ReadonlyArray<string>
  /** Whether any hook implements the point. */
  readonly has: (point: HookPointName) => boolean
  /**
   * Runs a point without an Effect where it can: nothing when no hook had anything to say, the outcome when all hooks
   * answered at once, an Effect when one has to be waited for. `decode` reads changed values as the operation will.
   */
  readonly runNow: <P extends HookPointName>(
    point: P,
    event: In<P>,
    scope: HookScope,
    decode?: Decode,
    resume?: Resume
  ) => Outcome<P> | undefined | Effect.Effect<Outcome<P>>
  /** Runs a point. Never fails: failures of hooks are in the outcome. */
  readonly run: <P extends HookPointName>(point: P, event: In<P>, scope: HookScope) => Effect.Effect<Outcome<P>>
}

/** Makes a chain, or says which hook cannot be part of it. @category constructors @since 0.1.0 */
export const make = (hooks: ReadonlyArray<AgentHook<never>>): Result.Result<HookChain, ChainError> =>
  Result.map(order(hooks), build)

/** Makes a chain; throws the `ChainError`. @category constructors @since 0.1.0 */
export const makeUnsafe = (hooks: ReadonlyArray<AgentHook<never>>): HookChain => Result.getOrThrow(make(hooks))

/** What an approval counts for: canonical text of the tool and its arguments. @category reading @since 0.1.0 */
export const fingerprint = (tool: string, args: unknown): string => fingerprintOf(tool, args)

const build = (hooks: ReadonlyArray<AgentHook<never>>): HookChain => {
  const points = Object.fromEntries(names.map((point) => [point, compile(point, hooks)])) as {
    readonly [P in HookPointName]: CompiledPoint | undefined
  }
  const runNow: HookChain["runNow"] = (point, event, scope, decode, resume) => {
    const compiled = points[point]
    // Compiled points do not know their types; the point that is asked for has these.
    return compiled === undefined ? undefined : runPoint(compiled, event, scope, decode, resume) as never
  }
  return {
    hooks,
    warnings: hooks
      .filter((hook) =>
        hook.kind === "policy" && (hook.onFailure ?? (hook.failOpen === true ? "open" : "reject")) === "open"
      )
      .map((hook) => `hook "${hook.name}" is a policy that fails open: when it breaks, nothing is checked`),
    has: (point) => points[point] !== undefined,
    runNow,
    run: <P extends HookPointName>(point: P, event: In<P>, scope: HookScope) =>
      Effect.suspend((): Effect.Effect<Outcome<P>> => {
        const outcome = runNow(point, event, scope)
        if (outcome === undefined) {
          // Continue is legal at every point.
          return Effect.succeed({ action: passed as ActionAt<P>, event, by: undefined, failure: undefined })
        }
        return Effect.isEffect(outcome) ? outcome : Effect.succeed(outcome)
      })
  }
}

const passed = Object.freeze({ _tag: "Continue" })
