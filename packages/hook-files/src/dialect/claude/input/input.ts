/** Builds what entries read about an event, fires the event, and writes the transcript. */
import type { HookContext } from "@belay/core/HookContext"
import type { Json, JsonObject } from "@belay/core/Json"
import { type Message, text, type ToolCall } from "@belay/core/Message"
import type { ToolMeta } from "@belay/core/Tool"
import * as Effect from "effect/Effect"
import type * as Engine from "../../../engine/runEntries.ts"
import type * as Transcript from "../../../engine/Transcript.ts"
import { knownCall, toolNameOf } from "../../shared/delegation.ts"
import { known, type ToolNames, variables } from "../../shared/toolNames.ts"
import type { Answer } from "../answer/answer.ts"
import type { Verdict } from "../answer/verdict.ts"
import type { Handler } from "../config/HookConfig.ts"
import { type EventName, rowOf } from "../event/events.ts"
import { fields as own } from "../event/wire.ts"
import type { Input } from "./dialect.ts"
import * as EnvironmentFile from "./environmentFile.ts"
import type { Flavor } from "./flavor.ts"
import type { Owners } from "./owners.ts"

export interface Setup {
  readonly engine: Engine.Engine<Handler, Input, Answer, Verdict>
  readonly flavor: Flavor
  readonly owners: Owners
  readonly toolNames: ToolNames
  readonly permissionMode: string
  readonly transcript: Transcript.Transcript | undefined
}

/** The tool call that an event is about. */
export interface Call extends ToolCall {
  readonly tool?: ToolMeta | undefined
}

/** Fires events of Claude Code and writes the transcript. */
export interface Events {
  /** Fires an event. Returns undefined if no entry runs. */
  readonly fire: (event: EventName, ctx: HookContext, fields?: JsonObject) => Effect.Effect<Verdict> | undefined
  /** Fires an event about a tool call. Returns undefined if no entry runs. */
  readonly fireForTool: (
    event: EventName,
    ctx: HookContext,
    call: Call,
    fields?: JsonObject
  ) => Effect.Effect<Verdict> | undefined
  /** Adds a message to the transcript. */
  readonly note: (ctx: HookContext, entry: Transcript.Entry) => void
  /** Returns the path of a sub-agent's transcript. */
  readonly agentTranscript: (ctx: HookContext) => string
  /** Stores which model answered last. */
  readonly noteModel: (ctx: HookContext, model: string) => void
  readonly forget: (sessionId: string) => void
}

/** Returns the name of a sub-agent's transcript. */
const agentFile = (ctx: HookContext): string => `agent-${ctx.sessionId}`

export const make = ({ engine, flavor, owners, permissionMode, toolNames, transcript }: Setup): Events => {
  const models = new Map<string, string>()

  const payload = (event: EventName, ctx: HookContext, fields: JsonObject): JsonObject =>
    flavor.shape({
      ...fields,
      [own.session]: ctx.root.sessionId,
      transcript_path: transcript?.path(ctx.root.sessionId) ?? flavor.noTranscript,
      [own.cwd]: ctx.cwd,
      permission_mode: permissionMode,
      [own.event]: event,
      ...flavor.inputFields(ctx.root, models.get(ctx.root.sessionId)),
      ...(ctx.agent.depth === 0 ? {} : { [own.agent]: ctx.sessionId, [own.agentType]: ctx.agent.name })
    })

  const fire: Events["fire"] = (event, ctx, fields = {}) => {
    if (!engine.has(event)) return undefined
    const file = EnvironmentFile.fileFor(event, transcript?.path(ctx.root.sessionId))
    const whole = payload(event, ctx, fields)
    const input: Input = file === undefined
      ? { payload: () => whole }
      : { payload: () => whole, env: () => ({ CLAUDE_ENV_FILE: file }) }
    const { field } = rowOf(event)
    const fired = engine.fire({ event, subjects: [textOf(field === undefined ? "" : whole[field])], input }, ctx)
    return fired && Effect.map(fired, (verdict) => {
      if (file !== undefined) EnvironmentFile.take(file, ctx)
      emitHostEvents(verdict, ctx)
      return verdict
    })
  }

  const fireForTool: Events["fireForTool"] = (event, ctx, call, fields = {}) => {
    const tool = toolNameOf(call, toolNames, ctx)
    if (event === "PreToolUse") owners.noteCall(tool, call.args, ctx)
    const aliases = flavor.aliases(tool)
    const others = tool === "Agent" && call.name !== tool ? [call.name] : []
    const subjects = aliases.length + others.length === 0 ? [tool] : [tool, ...aliases, ...others]
    if (!engine.matches(event, subjects)) return undefined
    const { input: args } = knownCall(call, toolNames, ctx)
    const input: Input = {
      call: { tool, args },
      payload: () =>
        payload(event, ctx, {
          [own.tool]: flavor.shownTool(tool),
          [own.input]: args,
          [own.call]: call.id,
          ...fields
        }),
      env: () => variables(flavor.shownTool(tool), args, call.args)
    }
    const fired = engine.fire({ event, subjects, input }, ctx)
    return fired && Effect.map(fired, (verdict) => {
      emitHostEvents(verdict, ctx)
      return verdict
    })
  }

  return {
    fire,
    fireForTool,
    note: (ctx, entry) => {
      if (ctx.askedAgain) return
      if (ctx.agent.depth === 0) transcript?.add(ctx.root.sessionId, entry, ctx.cwd)
      else transcript?.add(agentFile(ctx), entry, ctx.cwd, ctx.sessionId)
    },
    agentTranscript: (ctx) => transcript?.path(agentFile(ctx)) ?? "",
    noteModel: (ctx, model) => {
      if (ctx.agent.depth === 0) models.set(ctx.root.sessionId, model)
    },
    forget: (sessionId) => void models.delete(sessionId)
  }
}

const textOf = (value: Json | undefined): string => typeof value === "string" ? value : ""

/** Emits events for the parts of a verdict that the host handles. */
const emitHostEvents = ({ permissions, terminal, title, watch }: Verdict, { events }: HookContext): void => {
  if (!events.active) return
  if (terminal !== undefined) events.emit("terminal-sequence", { sequence: terminal })
  if (title !== undefined) events.emit("session-title", { title })
  if (watch !== undefined) events.emit("watch-paths", { paths: watch })
  if (permissions !== undefined) events.emit("permission-update", { update: permissions })
}

/** Returns the tool calls of the last step with their results, or an empty list if it had none. */
export const batchOf = (
  messages: ReadonlyArray<Message>,
  names: ToolNames,
  cwd: string
): ReadonlyArray<JsonObject> => {
  const from = messages.findLastIndex(({ role }) => role === "assistant")
  const last = messages[from]
  if (last?.role !== "assistant") return []
  const results = new Map(
    messages.slice(from).flatMap((one) => one.role === "tool" ? [[one.toolCallId, text(one)] as const] : [])
  )
  return (last.toolCalls ?? []).map(({ args, id, name }) => {
    const { input, name: tool } = known(name, args, names, cwd)
    return { tool_name: tool, tool_input: input, tool_use_id: id, tool_response: results.get(id) ?? "" }
  })
}
