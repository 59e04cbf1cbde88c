/** Builds the input of Gemini CLI hooks and fires their events. */
import type { HookContext } from "@belay/core/HookContext"
import type { JsonObject } from "@belay/core/Json"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Engine from "../../engine/runEntries.ts"
import type * as Transcript from "../../engine/Transcript.ts"
import { type Answer, noVerdict, type Verdict } from "./answer.ts"
import type { Handler } from "./config.ts"
import { type EventName, events as subjectFields } from "./events.ts"
import { fields as own } from "./wire.ts"

/**
 * Fires an event. Returns undefined if no entry runs. `names` are other names of the tool, which matchers also accept.
 */
export type Fire = (
  event: EventName,
  fields: JsonObject,
  ctx: HookContext,
  names?: ReadonlyArray<string>
) => Effect.Effect<Verdict> | undefined

export const make = (
  engine: Engine.Engine<Handler, JsonObject, Answer, Verdict>,
  transcript: Transcript.Transcript | undefined
): Fire =>
(event, fields, ctx, names = []) => {
  const field = subjectFields[event]
  const subject = field === undefined ? "" : fields[field]
  const subjects = [typeof subject === "string" ? subject : "", ...names]
  if (!engine.matches(event, subjects)) return undefined
  return Effect.flatMap(Clock.currentTimeMillis, (now) => {
    const input = {
      ...fields,
      [own.session]: ctx.root.sessionId,
      transcript_path: transcript?.path(ctx.root.sessionId) ?? "",
      [own.cwd]: ctx.cwd,
      [own.event]: event,
      timestamp: new Date(now).toISOString()
    }
    return engine.fire({ event, subjects, input }, ctx) ?? Effect.succeed(noVerdict)
  })
}
