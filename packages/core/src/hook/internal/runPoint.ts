/**
 * Runs a point. The plain loop handles hooks that answer synchronously. For everything else (waiting, records,
 * decisions, shadow hooks, failures, gates that have to see a change), a `PointRun` continues from the same position.
 * The benchmark `chain` shows how much faster the plain loop is.
 */
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import { freeze } from "../../data/Json.ts"
import type * as HookAction from "../HookAction.ts"
import { Continue } from "../HookAction.ts"
import type { HookScope } from "../HookContext.ts"
import type { HookAnswer } from "../HookRecord.ts"
import { readOnce, unreadable } from "./checkAnswer.ts"
import { type CompiledPoint, subjectOf } from "./compiledPoint.ts"
import { Context } from "./context.ts"
import { changed, type Decode, observed, type Outcome } from "./outcome.ts"
import { PointRun } from "./pointRun.ts"
import { now, RecordWriter } from "./recordWriter.ts"
import { unwatched, watchedEvent } from "./watchedEvent.ts"

/** Returns nothing if all hooks continued, and an Effect if a hook is asynchronous. */
export const runPoint = (
  point: CompiledPoint,
  event: unknown,
  scope: HookScope,
  decode?: Decode,
  again = false
): Outcome | undefined | Effect.Effect<Outcome> => {
  const { freeze: isWatched } = scope
  if (isWatched) freeze(event)
  if (!point.plain || again) return new PointRun(point, event, scope, decode).start(again)
  const { onRecord } = scope
  if (onRecord !== undefined) return runRecorded(point, event, scope, onRecord, decode)
  const { deciders, hasGates, legal } = point
  const { contexts } = scope
  let current = event
  let by: string | undefined
  for (let i = 0; i < deciders.length; i++) {
    const entry = deciders[i]!
    const ctx = contexts[entry.slot] ?? (contexts[entry.slot] = new Context(scope, entry.name))
    if (entry.tracked) Context.track(ctx as Context)
    let answer: unknown
    let given: unknown
    let tag: unknown
    try {
      answer = entry.call(isWatched ? watchedEvent(current, point.point, entry, scope) : current, ctx)
      if (answer === undefined) continue
      given = answer
      // Any value except null can have a tag.
      tag = (given as { readonly _tag?: unknown } | null)?._tag
      if (tag !== "Transform") {
        // An Effect that has already succeeded (`Effect.succeed`) is replaced by its value.
        if (tag === "Success" && Effect.isEffect(answer)) {
          given = (answer as Exit.Success<unknown>).value
          if (given === undefined) continue
          tag = (given as { readonly _tag?: unknown } | null)?._tag
        }
        if (tag === "Continue") continue
      }
      if (tag === "Transform" && legal.Transform === true && decode === undefined && !hasGates) {
        const value = (given as HookAction.Transform<unknown>).value
        if (point.wrong === undefined || point.wrong(value, current) === undefined) {
          let next = point.apply === undefined ? value : point.apply(current, value)
          if (isWatched) next = freeze(unwatched(next))
          current = next
          by = entry.name
          continue
        }
      }
    } catch (error) {
      const run = new PointRun(point, current, scope, decode, i, by)
      // If reading the answer throws, the hook itself has not thrown. The run then reports the failure.
      return answer === undefined ? run.startAfterThrow(error) : run.startWith(unreadable(error))
    }
    return new PointRun(point, current, scope, decode, i, by).startWith(readOnce(given, tag))
  }
  if (hasGates) endTracking(deciders, contexts)
  const rest = point.observers.length === 0 ? undefined : runObservers(point, current, scope, by)
  return rest ?? (by === undefined ? undefined : { action: changed, event: current, by, failure: undefined })
}

/** No hook is asked again any more. */
const endTracking = (deciders: CompiledPoint["deciders"], contexts: HookScope["contexts"]): void => {
  for (const { slot, tracked } of deciders) {
    // Only the chain fills this list, with its own contexts.
    if (tracked) Context.tracked(contexts[slot] as Context)?.end()
  }
}

/** Calls the observers. Returns nothing if all of them answered with nothing. */
const runObservers = (
  point: CompiledPoint,
  event: unknown,
  scope: HookScope,
  by: string | undefined
): Outcome | undefined | Effect.Effect<Outcome> => {
  const { deciders, observers } = point
  const decided = observed(by === undefined ? Continue : changed, by)
  for (let i = 0; i < observers.length; i++) {
    const entry = observers[i]!
    const ctx = Context.ofObserver(scope, entry.name, decided)
    const run = () => new PointRun(point, event, scope, undefined, deciders.length, by, i)
    let answer: unknown
    try {
      answer = entry.call(scope.freeze ? watchedEvent(event, point.point, entry, scope) : event, ctx)
    } catch (error) {
      return run().startAfterThrow(error)
    }
    if (answer === undefined || answer === Effect.void) continue
    return run().startWith(answer, ctx)
  }
  return undefined
}

/**
 * The plain loop with a decision record, as long as all hooks continue: that is what most hooks do with most deltas.
 */
const runRecorded = (
  point: CompiledPoint,
  event: unknown,
  scope: HookScope,
  onRecord: NonNullable<HookScope["onRecord"]>,
  decode: Decode | undefined
): Outcome | undefined | Effect.Effect<Outcome> => {
  const { deciders, observers } = point
  const { contexts } = scope
  const answers: Array<HookAnswer> = []
  let began = now()
  for (let i = 0; i < deciders.length + observers.length; i++) {
    const entry = i < deciders.length ? deciders[i]! : observers[i - deciders.length]!
    const ctx = entry.observer
      ? Context.ofObserver(scope, entry.name, observed(Continue, undefined))
      : contexts[entry.slot] ?? (contexts[entry.slot] = new Context(scope, entry.name))
    if (entry.tracked) Context.track(ctx as Context)
    const run = () => {
      const [next, observer] = i < deciders.length ? [i, 0] : [deciders.length, i - deciders.length]
      return new PointRun(point, event, scope, decode, next, undefined, observer, answers)
    }
    let answer: unknown
    try {
      answer = entry.call(scope.freeze ? watchedEvent(event, point.point, entry, scope) : event, ctx)
    } catch (error) {
      return run().startAfterThrow(error, began)
    }
    if (answer !== undefined && answer !== Effect.void && answer !== Continue) {
      return run().startWith(answer, ctx as Context, began)
    }
    const ended = now()
    answers.push(Object.freeze({ hook: entry.name, answer: "Continue", durationMs: ended - began }))
    began = ended
  }
  if (point.hasGates) endTracking(deciders, contexts)
  new RecordWriter(onRecord, answers).end(point.point, subjectOf(event), Continue, undefined)
  return undefined
}
