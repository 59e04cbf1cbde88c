/** Fires the events of Windsurf, and does what its hooks decide. */
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import type { Json, JsonObject } from "@belay/core/Json"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { type Effects, onVerdict } from "../../engine/effects.ts"
import type * as Engine from "../../engine/runEntries.ts"
import type * as Transcript from "../../engine/Transcript.ts"
import { objectOf } from "../../internal/fields.ts"
import { editsOf } from "../shared/fileEdits.ts"
import { type Known, known, type ToolNames } from "../shared/toolNames.ts"
import type { Handler } from "./config.ts"
import { type Answer, noVerdict, type Verdict } from "./dialect.ts"
import type { EventName } from "./events.ts"

export interface Setup {
  readonly engine: Engine.Engine<Handler, JsonObject, Answer, Verdict>
  readonly toolNames: ToolNames
  readonly transcript: Transcript.Transcript | undefined
}

type Fire = (event: EventName, info: JsonObject, ctx: HookContext) => Effect.Effect<Verdict> | undefined

const fireOf = ({ engine }: Setup, models: ReadonlyMap<string, string>): Fire => (event, info, ctx) => {
  if (!engine.has(event)) return undefined
  const { sessionId, turnNumber } = ctx.root
  return Effect.flatMap(Clock.currentTimeMillis, (now) => {
    const input = {
      agent_action_name: event,
      // The conversation has no id before its first prompt is accepted.
      trajectory_id: event === "pre_user_prompt" ? "" : sessionId,
      execution_id: `${sessionId}-${turnNumber}`,
      timestamp: new Date(now).toISOString(),
      model_name: models.get(sessionId) ?? "",
      tool_info: info
    }
    return engine.fire({ event, subjects: [""], input }, ctx) ?? Effect.succeed(noVerdict)
  })
}

/** Adds a line to the transcript of the main agent. */
export const note = (
  transcript: Transcript.Transcript | undefined,
  ctx: HookContext,
  entry: Transcript.Entry
): void => {
  if (ctx.agent.depth === 0 && !ctx.askedAgain) transcript?.add(ctx.root.sessionId, entry, ctx.cwd)
}

export const make = (setup: Setup): Effects => {
  const { engine, transcript } = setup
  const models = new Map<string, string>()
  const fire = fireOf(setup, models)
  const noteHere = (ctx: HookContext, entry: Transcript.Entry): void => note(transcript, ctx, entry)
  return {
    ...toolEffects(setup, fire, noteHere),
    preTurn: (input, ctx) => {
      if (ctx.agent.depth > 0) return undefined
      noteHere(ctx, { role: "user", content: input.message })
      return onVerdict(
        fire("pre_user_prompt", { user_prompt: input.message }, ctx),
        ({ denied }) => denied === undefined ? undefined : HookAction.reject(denied, { userMessage: denied })
      )
    },
    postLlmCall: ({ response: { model, text, toolCalls } }, ctx) => {
      if (ctx.agent.depth > 0) return undefined
      models.set(ctx.root.sessionId, model)
      noteHere(ctx, { role: "assistant", content: text, toolCalls })
      return undefined
    },
    postTurn: {
      events: ["post_cascade_response", "post_cascade_response_with_transcript"],
      run: ({ output }, ctx) => {
        if (ctx.agent.depth > 0) return undefined
        const said = fire("post_cascade_response", { response: `### Planner Response\n\n${output.text}` }, ctx)
        const path = transcript?.path(ctx.root.sessionId) ?? ""
        const whole = fire("post_cascade_response_with_transcript", { transcript_path: path }, ctx)
        const both = Effect.andThen(said ?? Effect.void, whole ?? Effect.void)
        // Windsurf does not wait for these hooks.
        return said === undefined && whole === undefined ? undefined : engine.aside(Effect.asVoid(both), ctx)
      }
    },
    onSignal: {
      events: ["post_setup_worktree"],
      run: ({ name, payload }, ctx) =>
        name === "post_setup_worktree"
          ? onVerdict(fire("post_setup_worktree", objectOf(payload), ctx), () => undefined)
          : undefined
    },
    onSessionEnd: (_end, ctx) => {
      if (ctx.agent.depth > 0) return undefined
      models.delete(ctx.root.sessionId)
      return engine.end(ctx.root.sessionId)
    }
  }
}

const toolEffects = (
  { engine, toolNames, transcript }: Setup,
  fire: Fire,
  note: (ctx: HookContext, entry: Transcript.Entry) => void
): Effects => {
  const after = ["post_read_code", "post_write_code", "post_run_command", "post_mcp_tool_use"]
  return {
    preToolCall: {
      events: ["pre_read_code", "pre_write_code", "pre_run_command", "pre_mcp_tool_use"],
      run: ({ args, name, tool }, ctx) => {
        const about = aboutCall(known(name, args, toolNames, ctx.cwd, tool), ctx)
        if (about === undefined) return undefined
        return onVerdict(
          fire(`pre_${about.action}`, about.info, ctx),
          ({ asks, denied }) =>
            denied !== undefined ? HookAction.reject(denied) : asks !== undefined ? HookAction.ask(asks) : undefined
        )
      }
    },
    postToolCall: engine.has(...after) || transcript !== undefined
      ? ({ call, executed, result, tool }, ctx) => {
        const content = result.ok ? result.output : result.error
        note(ctx, { role: "tool", toolCallId: call.id, content, isError: !result.ok })
        const about = aboutCall(known(call.name, call.args, toolNames, ctx.cwd, tool), ctx)
        // A command that fails was run. A file that cannot be read was not read.
        if (!executed || about === undefined || (!result.ok && about.action !== "run_command")) return undefined
        const more = about.action === "mcp_tool_use" ? { mcp_result: textOf(content) } : {}
        return onVerdict(fire(`post_${about.action}`, { ...about.info, ...more }, ctx), ({ advice }) => {
          for (const text of advice) ctx.inject(text)
          return undefined
        })
      }
      : undefined
  }
}

const textOf = (value: Json): string => typeof value === "string" ? value : JSON.stringify(value)

interface About {
  readonly action: "read_code" | "write_code" | "run_command" | "mcp_tool_use"
  readonly info: JsonObject
}

/** Returns what Windsurf calls this kind of tool, and what its hooks read about the call. */
const aboutCall = (call: Known, { cwd }: HookContext): About | undefined => {
  const { input, name } = call
  const path = { file_path: textOf(input["file_path"] ?? "") }
  const [, server, tool] = /^mcp__(.+?)__(.+)$/.exec(name) ?? []
  if (server !== undefined && tool !== undefined) {
    return { action: "mcp_tool_use", info: { mcp_server_name: server, mcp_tool_name: tool, mcp_tool_arguments: input } }
  }
  switch (name) {
    case "Bash":
      return { action: "run_command", info: { command_line: textOf(input["command"] ?? ""), cwd } }
    case "Read":
      return { action: "read_code", info: path }
    case "Write":
    case "Edit":
    case "MultiEdit":
      return { action: "write_code", info: { ...path, edits: editsOf(call) } }
    default:
      return undefined
  }
}
