/**
 * The only way to the hooks of a turn.
 *
 * `askHooks`: every hook sees the event as the earlier ones left it; the first decision ends the point.
 * `notifyHooks`: every hook sees the same event; no answer counts.
 *
 * Both cost no operation of the fiber unless a hook has to be waited for.
 */
import type * as Effect from "effect/Effect"
import type { Outcome } from "../../../hook/HookChain.ts"
import type { HookPointName, In } from "../../../hook/HookPoint.ts"
import type { Decode, Resume } from "../../../hook/internal/outcome.ts"
import type { Turn } from "./turn.ts"
import { nothing, resolve, type Yieldable } from "./yieldable.ts"

/** For a tool call: how changed arguments are read, and which questions were answered before. */
export interface AskOptions {
  readonly decode?: Decode
  readonly resume?: Resume | undefined
}

/** Points at which hooks can only look on: no answer is legal there. */
type NotifyPoint = "onSessionEnd" | "onToolDenied" | "postCompaction"

/** Asks the hooks in order. Nothing means that no hook had anything to say. */
export const askHooks = <P extends Exclude<HookPointName, NotifyPoint>>(
  turn: Turn,
  point: P,
  event: In<P>,
  options?: AskOptions
): Yieldable<Outcome<P> | undefined> => {
  const outcome = askHooksNow(turn, point, event, options)
  return outcome === undefined ? nothing : resolve(outcome)
}

/** Lets the hooks look at an event. */
export const notifyHooks = <P extends NotifyPoint>(turn: Turn, point: P, event: In<P>): Yieldable<unknown> => {
  const outcome = turn.agent.chain.runNow(point, event, turn.scope)
  return outcome === undefined ? nothing : resolve(outcome)
}

/** `askHooks` outside of a step: the outcome where all hooks answered at once, an Effect where one has to be awaited. */
export const askHooksNow = <P extends HookPointName>(
  turn: Turn,
  point: P,
  event: In<P>,
  options?: AskOptions
): Outcome<P> | undefined | Effect.Effect<Outcome<P>> =>
  turn.agent.chain.runNow(point, event, turn.scope, options?.decode, options?.resume)
