/**
 * The hooks of an agent in running order, compiled once per point. Running a point is a loop over plain functions. It
 * waits, sets a timer or writes a record only when a hook or a listener needs that.
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
import type { Decode, HookQuestion } from "./internal/outcome.ts"
import { runPoint } from "./internal/runPoint.ts"

/**
 * The outcome of a point: the event with all changes applied, and the action that decided.
 *
 * @category models
 * @since 0.1.0
 */
export interface Outcome<P extends HookPointName> {
  /** `Transform` when hooks changed the value and all hooks ran. */
  readonly action: ActionAt<P>
  readonly event: In<P>
  /** The hook that decided, or the last that changed the value. */
  readonly by: string | undefined
  /** Set when a hook failed and its failure policy chose the action. */
  readonly failure: HookFailure | undefined
  /**
   * What hooks want a person to decide about the value of the event, in the order of the hooks. All hooks have answered
   * for this value. Set if the action is an `Ask`, which is then that of the first question.
   */
  readonly questions?: ReadonlyArray<HookQuestion>
}

export type { HookQuestion }

/** A compiled chain of hooks. @category models @since 0.1.0 */
export interface HookChain {
  /** The hooks in forward order. */
  readonly hooks: ReadonlyArray<AgentHook<never>>
  /** Warnings to log once, for example about policy hooks that fail open. */
  readonly warnings: ReadonlyArray<string>
  /** Whether any hook implements the point. */
  readonly has: (point: HookPointName) => boolean
  /**
   * Runs a point, without an Effect if possible. Returns nothing when all hooks continued, the outcome when all hooks
   * answered synchronously, and an Effect when a hook is asynchronous. `decode` decodes changed values as the operation
   * will. `again` means that the hooks have run for another value of this operation, which a person has changed since:
   * what they say now does not reach the model or the user.
   */
  readonly runNow: <P extends HookPointName>(
    point: P,
    event: In<P>,
    scope: HookScope,
    decode?: Decode,
    again?: boolean
  ) => Outcome<P> | undefined | Effect.Effect<Outcome<P>>
  /** Runs a point. Never fails; the outcome contains the failures of hooks. */
  readonly run: <P extends HookPointName>(point: P, event: In<P>, scope: HookScope) => Effect.Effect<Outcome<P>>
}

/**
 * Makes a chain. Fails with a `ChainError` that names the hook which cannot be part of it.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (hooks: ReadonlyArray<AgentHook<never>>): Result.Result<HookChain, ChainError> =>
  Result.map(order(hooks), build)

/**
 * Makes a chain. Throws a `ChainError` that names the hook which cannot be part of it.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeUnsafe = (hooks: ReadonlyArray<AgentHook<never>>): HookChain => Result.getOrThrow(make(hooks))

/**
 * Identifies what an approval is valid for: the canonical text of the tool and its arguments.
 *
 * @category reading
 * @since 0.1.0
 */
export const fingerprint = (tool: string, args: unknown): string => fingerprintOf(tool, args)

const build = (hooks: ReadonlyArray<AgentHook<never>>): HookChain => {
  const points = Object.fromEntries(names.map((point) => [point, compile(point, hooks)])) as {
    readonly [P in HookPointName]: CompiledPoint | undefined
  }
  const runNow: HookChain["runNow"] = (point, event, scope, decode, again) => {
    const compiled = points[point]
    // Compiled points have erased types; `point` determines the types of this one.
    return compiled === undefined ? undefined : runPoint(compiled, event, scope, decode, again) as never
  }
  return {
    hooks,
    warnings: hooks.flatMap(warningsOf),
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

const warningsOf = ({ failOpen, kind, name, onFailure, onTimeout }: AgentHook<never>): ReadonlyArray<string> => {
  const policy = onFailure ?? ((failOpen ?? kind !== "policy") ? "open" : "reject")
  if (kind === "policy" && policy === "open") {
    return [`hook "${name}" is a policy that fails open: when it fails, nothing is checked`]
  }
  return kind === "observer" && (policy !== "open" || (onTimeout ?? "open") !== "open")
    ? [`hook "${name}" is an observer, so its failure stops nothing: onFailure, onTimeout and failOpen have no effect`]
    : []
}

const passed = Object.freeze({ _tag: "Continue" })
