/** Applies the verdict of Cursor's hooks to sessions, prompts, answers, stops and signals. */
import * as Deadline from "@belay/core/Deadline"
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import type { JsonObject } from "@belay/core/Json"
import type { Message } from "@belay/core/Message"
import * as Effect from "effect/Effect"
import { type Effects, onVerdict } from "../../engine/effects.ts"
import type * as Engine from "../../engine/runEntries.ts"
import { objectOf } from "../../internal/fields.ts"
import type { ToolNames } from "../shared/toolNames.ts"
import type { Answer, Verdict } from "./answer.ts"
import type { Handler } from "./config.ts"
import { names, rowOf } from "./events.ts"
import type { Events } from "./input.ts"

export interface Setup {
  /** The name of the hook. */
  readonly name: string
  readonly engine: Engine.Engine<Handler, JsonObject, Answer, Verdict>
  readonly events: Events
  readonly toolNames: ToolNames
  readonly hasTranscript: boolean
  /** When each session, and each sub-agent, began, and what a sub-agent has to do. */
  readonly begun: Map<string, { readonly at: number; readonly task: string }>
}

/** Adds the texts of a verdict to the conversation. */
export const inject = ({ contexts }: Verdict, ctx: HookContext): void => contexts.forEach((one) => ctx.inject(one))

/** The effects at all points except tool calls. */
export const make = (setup: Setup): Effects => ({
  ...sessionEffects(setup),
  preTurn: promptEffect(setup),
  postLlmCall: responseEffect(setup),
  ...stopEffects(setup),
  ...otherEffects(setup)
})

const sessionEffects = ({ begun, engine, events, name }: Setup): Effects => ({
  onSessionStart: {
    events: ["sessionStart", "sessionEnd"],
    run: (start, ctx) => {
      if (ctx.agent.depth > 0) return undefined
      return Effect.flatMap(Deadline.now, (at) => {
        begun.set(ctx.sessionId, { at, task: "" })
        // The event is about a new conversation.
        if (start.source !== "startup") return Effect.succeed(undefined)
        const fields = { is_background_agent: false, composer_mode: "agent" }
        const message = (content: string): Message => ({ role: "user", content, source: name })
        const fired = events.fire("sessionStart", fields, ctx) ?? Effect.succeed(undefined)
        return Effect.map(fired, (verdict) =>
          verdict === undefined || verdict.contexts.length === 0
            ? undefined
            : HookAction.transform({ ...start, context: [...start.context, ...verdict.contexts.map(message)] }))
      })
    }
  },
  onSessionEnd: ({ reason }, ctx) => {
    const { at } = begun.get(ctx.sessionId) ?? { at: undefined }
    begun.delete(ctx.sessionId)
    if (ctx.agent.depth > 0) return undefined
    const word = { done: "completed", error: "error", abort: "aborted", rotate: "user_close" }[reason]
    return Effect.flatMap(Deadline.now, (now) => {
      const fields = {
        reason: word,
        duration_ms: at === undefined ? 0 : Math.round(now - at),
        is_background_agent: false,
        final_status: word
      }
      const fired = events.fire("sessionEnd", fields, ctx) ?? Effect.void
      events.forget(ctx.root.sessionId)
      return Effect.asVoid(Effect.andThen(fired, engine.end(ctx.root.sessionId)))
    })
  }
})

const promptEffect = ({ begun, events }: Setup): Effects["preTurn"] => (input, ctx) => {
  const { agent: { depth, name: agentName }, root, sessionId } = ctx
  events.note(ctx, { role: "user", content: input.message })
  if (depth === 0) {
    const fired = events.fire("beforeSubmitPrompt", { prompt: input.message, attachments: [] }, ctx, [
      "UserPromptSubmit"
    ])
    return onVerdict(
      fired,
      ({ denied }) => denied === undefined ? undefined : HookAction.reject(denied, { userMessage: denied })
    )
  }
  const fields = {
    subagent_id: sessionId,
    subagent_type: agentName,
    task: input.message,
    parent_conversation_id: root.sessionId,
    tool_call_id: "",
    subagent_model: "",
    is_parallel_worker: false
  }
  return Effect.flatMap(Deadline.now, (at) => {
    begun.set(sessionId, { at, task: input.message })
    const fired = events.fire("subagentStart", fields, ctx, [agentName]) ?? Effect.succeed(undefined)
    return Effect.map(fired, (verdict) => verdict?.denied === undefined ? undefined : HookAction.reject(verdict.denied))
  })
}

const responseEffect = ({ engine, events, hasTranscript }: Setup): Effects["postLlmCall"] => {
  if (engine.has("afterAgentResponse", "afterAgentThought") || hasTranscript || engine.has("preToolUse", "stop")) {
    return ({ response: { model, reasoning = "", text, toolCalls } }, ctx) => {
      events.noteModel(ctx, model)
      events.note(ctx, { role: "assistant", content: text, toolCalls })
      if (ctx.agent.depth > 0) return undefined
      const thought = reasoning === ""
        ? undefined
        : events.fire("afterAgentThought", { text: reasoning }, ctx, ["AgentThought"])
      const said = text === "" ? undefined : events.fire("afterAgentResponse", { text }, ctx, ["AgentResponse"])
      if (thought === undefined && said === undefined) return undefined
      return Effect.as(Effect.andThen(thought ?? Effect.void, said ?? Effect.void), undefined)
    }
  }
  return undefined
}

const stopEffects = ({ begun, events }: Setup): Effects => ({
  preStop: {
    events: ["stop", "subagentStop"],
    run: ({ followUps, messages, text }, ctx) => {
      const { agent: { depth, name: agentName }, sessionId } = ctx
      const proceed = (verdict: Verdict) => {
        if (verdict.followUp !== undefined) ctx.followUp(verdict.followUp)
        return undefined
      }
      const loops = { status: "completed", loop_count: followUps }
      if (depth === 0) return onVerdict(events.fire("stop", loops, ctx, ["Stop"]), proceed)
      return Effect.flatMap(Deadline.now, (now) => {
        const { at = now, task = "" } = begun.get(sessionId) ?? {}
        const fields = {
          ...loops,
          subagent_type: agentName,
          task,
          description: agentName,
          summary: text,
          duration_ms: Math.round(now - at),
          message_count: messages.length,
          tool_call_count: messages.filter(({ role }) => role === "tool").length,
          modified_files: [],
          agent_transcript_path: events.agentTranscript(ctx)
        }
        const fired = events.fire("subagentStop", fields, ctx, [agentName])
        return fired === undefined ? Effect.succeed(undefined) : Effect.map(fired, proceed)
      })
    }
  },
  onTurnError: {
    events: ["stop"],
    run: ({ error }, ctx) => {
      // A prompt that is blocked never reaches the agent.
      if (ctx.agent.depth > 0 || (error._tag === "HookRejected" && error.point === "preTurn")) return undefined
      const status = ctx.signal.aborted ? "aborted" : "error"
      return onVerdict(events.fire("stop", { status, loop_count: 0 }, ctx, ["Stop"]), () => undefined)
    }
  }
})

const otherEffects = ({ events }: Setup): Effects => ({
  preCompaction: {
    events: ["preCompact"],
    run: ({ budget, messages, trigger }, ctx) => {
      const { usedTokens, windowTokens } = budget
      const fields = {
        trigger: trigger === "manual" ? "manual" : "auto",
        context_usage_percent: windowTokens === 0 ? 0 : Math.round(usedTokens / windowTokens * 100),
        context_tokens: usedTokens,
        context_window_size: windowTokens,
        message_count: messages.length,
        messages_to_compact: messages.length,
        is_first_compaction: !messages.some((one) => one.role === "user" && one.source === "summary")
      }
      return onVerdict(events.fire("preCompact", fields, ctx), () => undefined)
    }
  },
  onSignal: {
    events: names.filter((name) => rowOf(name).ofHost === true),
    run: ({ blockable, name, payload }, ctx) => {
      const event = names.find((one) => rowOf(one).ofHost === true && one === name)
      if (event === undefined) return undefined
      return onVerdict(
        events.fire(event, objectOf(payload), ctx),
        ({ denied }) => denied === undefined || blockable !== true ? undefined : HookAction.reject(denied)
      )
    }
  }
})
