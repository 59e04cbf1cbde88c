/** Builds the input of GitHub Copilot hooks, with the fields of Copilot and of Claude Code. */
import type { HookContext } from "@belay/core/HookContext"
import type { Json, JsonObject } from "@belay/core/Json"
import type { ToolCall } from "@belay/core/Message"
import type { ToolMeta } from "@belay/core/Tool"
import * as Effect from "effect/Effect"
import type * as Engine from "../../engine/runEntries.ts"
import type * as Transcript from "../../engine/Transcript.ts"
import type { Renamed } from "../shared/renamedTools.ts"
import { type Answer, noVerdict, type Verdict } from "./answer.ts"
import type { Handler } from "./config.ts"
import type { Input } from "./dialect.ts"
import { type EventName, rowOf } from "./events.ts"
import * as Tools from "./tools.ts"

export interface Setup {
  readonly engine: Engine.Engine<Handler, Input, Answer, Verdict>
  readonly tools: Renamed
  readonly transcript: Transcript.Transcript | undefined
}

export interface Call extends ToolCall {
  readonly tool: ToolMeta | undefined
}

/** Fires events with the complete input of entries. */
export interface Events {
  /** Fires an event whose fields are in camel case. */
  readonly fire: (event: EventName, fields: JsonObject, ctx: HookContext) => Effect.Effect<Verdict> | undefined
  /** Fires an event about one call of a tool. */
  readonly fireForTool: (event: EventName, call: Call, ctx: HookContext, fields?: JsonObject) => Effect.Effect<Verdict>
  /** The arguments under the tool's own names. Entries can use the names of Copilot or of Claude Code. */
  readonly argsOf: (call: Call, wanted: JsonObject) => Json
  /** Adds a message to the transcript. */
  readonly note: (ctx: HookContext, entry: Transcript.Entry) => void
  readonly pathFields: (ctx: HookContext) => JsonObject
}

export const make = ({ engine, tools, transcript }: Setup): Events => {
  const fireBoth = (event: EventName, input: Input, ctx: HookContext) => {
    const { field } = rowOf(event)
    const subjects = field === undefined ? [""] : [textOf(input.camel[field]), textOf(input.pascal[field])]
    return engine.fire({ event, subjects, input }, ctx)
  }
  return {
    fire: (event, fields, ctx) => fireBoth(event, { camel: fields, pascal: fields }, ctx),
    fireForTool: (event, call, ctx, fields = {}) => {
      const known = tools.known(call.name, call.args, call.tool)
      const claude = Tools.both(known)
      const { toolInput: _, ...rest } = fields
      const input = {
        // In the camel case format the arguments are a JSON string.
        camel: { toolName: known.name, toolArgs: JSON.stringify(known.input), ...fields },
        pascal: { toolName: claude.name, toolArgs: claude.input, toolUseId: call.id, ...rest }
      }
      return fireBoth(event, input, ctx) ?? Effect.succeed(noVerdict)
    },
    argsOf: (call, wanted) => Tools.both(tools.known(call.name, call.args, call.tool)).back(wanted),
    note: (ctx, entry) => {
      if (ctx.agent.depth === 0 && !ctx.askedAgain) transcript?.add(ctx.root.sessionId, entry, ctx.cwd)
    },
    pathFields: (ctx) => ({ transcriptPath: transcript?.path(ctx.root.sessionId) ?? "" })
  }
}

const textOf = (value: Json | undefined): string => typeof value === "string" ? value : ""
