/**
 * Runs the hooks of a turn; all other files use this one.
 * - `askHooks`: each hook receives the event with the changes of earlier hooks, and the first decision ends the point.
 * - `notifyHooks`: all hooks receive the same event, and answers have no effect.
 *
 * Both need no fiber operation unless a hook is asynchronous.
 */
import type * as Effect from "effect/Effect"
import type { Outcome } from "../../../hook/HookChain.ts"
import type { HookPointName, In } from "../../../hook/HookPoint.ts"
import type { Decode } from "../../../hook/internal/outcome.ts"
import { nothing, resolve, type Yieldable } from "../state/yieldable.ts"
import type { GuardTurn } from "./guardTurn.ts"

/** Options for a tool call: how to decode changed arguments. */
export interface AskOptions {
  readonly decode?: Decode
  /** Whether the hooks have run before, and a person has changed the arguments since. */
  readonly again?: boolean
}

/** Points at which hooks only observe: no answer is legal there. */
type NotifyPoint = "onSessionEnd" | "onToolDenied" | "postCompaction"

/** Runs the hooks in order. Returns nothing if all hooks continued. */
export const askHooks = <P extends Exclude<HookPointName, NotifyPoint>>(
  turn: GuardTurn,
  point: P,
  event: In<P>,
  options?: AskOptions
): Yieldable<Outcome<P> | undefined> => {
  const outcome = askHooksNow(turn, point, event, options)
  return outcome === undefined ? nothing : resolve(outcome)
}

/** Runs the hooks as observers of an event. */
export const notifyHooks = <P extends NotifyPoint>(turn: GuardTurn, point: P, event: In<P>): Yieldable<unknown> => {
  const outcome = turn.agent.chain.runNow(point, event, turn.scope)
  return outcome === undefined ? nothing : resolve(outcome)
}

/**
 * `askHooks` outside of a step: returns the outcome if all hooks answered synchronously, and an Effect if a hook is
 * asynchronous.
 */
export const askHooksNow = <P extends HookPointName>(
  turn: GuardTurn,
  point: P,
  event: In<P>,
  options?: AskOptions
): Outcome<P> | undefined | Effect.Effect<Outcome<P>> =>
  turn.agent.chain.runNow(point, event, turn.scope, options?.decode, options?.again)
