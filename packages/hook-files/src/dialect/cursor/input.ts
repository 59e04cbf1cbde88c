/** Builds the input of Cursor's hooks and fires their events. */
import type { HookContext } from "@belay/core/HookContext"
import * as HookState from "@belay/core/HookState"
import type { JsonObject } from "@belay/core/Json"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Engine from "../../engine/runEntries.ts"
import type * as Transcript from "../../engine/Transcript.ts"
import { loadsCode } from "../../internal/projectVariables.ts"
import { type Answer, noVerdict, type Verdict } from "./answer.ts"
import type { Handler } from "./config.ts"
import { version } from "./dialect.ts"
import type { EventName } from "./events.ts"
import { fields as own } from "./wire.ts"

export interface Setup {
  readonly name: string
  readonly engine: Engine.Engine<Handler, JsonObject, Answer, Verdict>
  readonly transcript: Transcript.Transcript | undefined
}

/** Fires events of Cursor and writes the transcript. */
export interface Events {
  /** Fires an event. Matchers are compared with `subjects`. */
  readonly fire: (
    event: EventName,
    fields: JsonObject,
    ctx: HookContext,
    subjects?: ReadonlyArray<string>
  ) => Effect.Effect<Verdict> | undefined
  /** Adds a message to the transcript. */
  readonly note: (ctx: HookContext, entry: Transcript.Entry) => void
  /** Stores which model answered last. */
  readonly noteModel: (ctx: HookContext, model: string) => void
  /** Returns the path of a sub-agent's transcript. */
  readonly agentTranscript: (ctx: HookContext) => string | null
  readonly forget: (sessionId: string) => void
}

/** The variables that entries of `sessionStart` set. */
export const variablesKey = (name: string): HookState.StateKey<{ readonly [name: string]: string }> =>
  HookState.key(`${name}/env`, Schema.Record(Schema.String, Schema.String), {})

const agentFile = (ctx: HookContext): string => `agent-${ctx.sessionId}`

export const make = ({ engine, name, transcript }: Setup): Events => {
  const models = new Map<string, string>()
  const variables = variablesKey(name)
  return {
    fire: (event, fields, ctx, subjects = [""]) => {
      if (!engine.matches(event, subjects)) return undefined
      const { root } = ctx
      const model = models.get(root.sessionId) ?? ""
      const input: JsonObject = {
        conversation_id: root.sessionId,
        [own.session[0]]: root.sessionId,
        generation_id: `${root.sessionId}-${root.turnNumber}`,
        model,
        model_id: model,
        [own.event]: event,
        cursor_version: version,
        workspace_roots: [ctx.cwd],
        user_email: null,
        transcript_path: transcript?.path(root.sessionId) ?? null,
        ...fields
      }
      const fired = engine.fire({ event, subjects, input }, ctx) ?? Effect.succeed(noVerdict)
      return Effect.map(fired, (verdict) => {
        const env = Object.entries(verdict.env).filter(([variable]) => !loadsCode(variable))
        if (env.length > 0) ctx.state.update(variables, (before) => ({ ...before, ...Object.fromEntries(env) }))
        return verdict
      })
    },
    note: (ctx, entry) => {
      if (ctx.askedAgain) return
      if (ctx.agent.depth === 0) transcript?.add(ctx.root.sessionId, entry, ctx.cwd)
      else transcript?.add(agentFile(ctx), entry, ctx.cwd, ctx.sessionId)
    },
    noteModel: (ctx, model) => {
      if (ctx.agent.depth === 0) models.set(ctx.root.sessionId, model)
    },
    agentTranscript: (ctx) => transcript?.path(agentFile(ctx)) ?? null,
    forget: (sessionId) => void models.delete(sessionId)
  }
}
