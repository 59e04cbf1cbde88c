/**
 * The fold. A plain loop runs as long as hooks answer at once and simply; whatever needs more (waiting, records,
 * observers,
 * gates, shadows, failures) is handed to a `Run`, which goes on from the same place.
 */
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import { freeze } from "../../data/Json.ts"
import type * as HookAction from "../HookAction.ts"
import type { HookScope } from "../HookContext.ts"
import { Context } from "./context.ts"
import type { Line } from "./line.ts"
import { changed, type Decode, type Outcome, type Resume } from "./outcome.ts"
import { Run } from "./run.ts"

/** Runs a point. Nothing means that nobody had anything to say; an Effect means that somebody has to be waited for. */
export const fold = (
  line: Line,
  event: unknown,
  scope: HookScope,
  decode?: Decode,
  resume?: Resume
): Outcome | undefined | Effect.Effect<Outcome> => {
  if (scope.freeze) freeze(event)
  if (!line.plain || scope.onRecord !== undefined || resume !== undefined) {
    return new Run(line, event, scope, decode, resume).start()
  }
  const { deciders, legal } = line
  const { contexts } = scope
  let current = event
  let by: string | undefined
  for (let i = 0; i < deciders.length; i++) {
    const entry = deciders[i]!
    const ctx = contexts[entry.slot] ?? (contexts[entry.slot] = new Context(scope, entry.name))
    let answer: unknown
    try {
      answer = entry.call(current, ctx)
      if (answer === undefined) continue
      let said: unknown = answer
      let tag = (said as { readonly _tag?: unknown } | null)?._tag
      if (tag !== "Transform") {
        // An Effect that has succeeded already (Effect.succeed) is as good as its value.
        if (tag === "Success" && Effect.isEffect(answer)) {
          said = (answer as Exit.Success<unknown>).value
          if (said === undefined) continue
          tag = (said as { readonly _tag?: unknown } | null)?._tag
        }
        if (tag === "Continue") continue
      }
      if (tag === "Transform" && legal.Transform === true && decode === undefined) {
        const value = (said as HookAction.Transform<unknown>).value
        if (line.wrong === undefined || line.wrong(value, current) === undefined) {
          const next = line.apply === undefined ? value : line.apply(current, value)
          if (scope.freeze) freeze(next)
          current = next
          by = entry.name
          continue
        }
      }
    } catch (error) {
      // An answer that cannot be read is not the hook's throwing: the run reads it again, and says so.
      if (answer === undefined) return new Run(line, current, scope, decode, undefined, i, by).startThrown(error)
    }
    return new Run(line, current, scope, decode, undefined, i, by).startWith(answer)
  }
  return by === undefined ? undefined : { action: changed, event: current, by, failure: undefined }
}
