/** Applies the verdict of Gemini CLI hooks to sessions, prompts, stops and notifications. */
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import type { JsonObject } from "@belay/core/Json"
import { type Message, text } from "@belay/core/Message"
import * as Effect from "effect/Effect"
import { type Effects, onVerdict } from "../../engine/effects.ts"
import type * as Engine from "../../engine/runEntries.ts"
import type * as Transcript from "../../engine/Transcript.ts"
import { objectOf } from "../../internal/fields.ts"
import type { Renamed } from "../shared/renamedTools.ts"
import type { Answer, Verdict } from "./answer.ts"
import type { Handler } from "./config.ts"
import type { Fire } from "./input.ts"
import type { Memory } from "./memory.ts"
import { fields as own } from "./wire.ts"

export interface Setup {
  /** The name of the hook. */
  readonly name: string
  readonly engine: Engine.Engine<Handler, JsonObject, Answer, Verdict>
  readonly fire: Fire
  readonly tools: Renamed
  readonly memory: Memory
  readonly transcript: Transcript.Transcript | undefined
}

/** Adds a message to the transcript of the main agent. */
export const note = ({ transcript }: Pick<Setup, "transcript">, ctx: HookContext, entry: Transcript.Entry): void => {
  if (ctx.agent.depth === 0 && !ctx.askedAgain) transcript?.add(ctx.root.sessionId, entry, ctx.cwd)
}

/** The effects at all points except model calls and tool calls. */
export const make = (setup: Setup): Effects => ({
  ...sessionEffects(setup),
  preTurn: promptEffect(setup),
  ...stopEffects(setup),
  ...notificationEffects(setup),
  preCompaction: {
    events: ["PreCompress"],
    run: ({ trigger }, ctx) =>
      onVerdict(setup.fire("PreCompress", { trigger: trigger === "manual" ? "manual" : "auto" }, ctx), () => undefined)
  }
})

const sessionEffects = ({ engine, fire, memory, name }: Setup): Effects => ({
  onSessionStart: {
    events: ["SessionStart"],
    run: (start, ctx) => {
      if (ctx.agent.depth > 0) return undefined
      const message = (content: string): Message => ({
        role: "user",
        content: content.slice(0, 10_000).toWellFormed(),
        source: name
      })
      // If a conversation continues in a new session, Gemini CLI reports that it was cleared.
      const source = start.source === "rotate" ? "clear" : start.source
      return onVerdict(fire("SessionStart", { source }, ctx), ({ contexts }) =>
        contexts.length === 0
          ? undefined
          : HookAction.transform({ ...start, context: [...start.context, ...contexts.map(message)] }))
    }
  },
  onSessionEnd: ({ reason }, ctx) => {
    memory.forget(ctx.sessionId)
    if (ctx.agent.depth > 0) return undefined
    const word = reason === "rotate" ? "clear" : reason === "done" ? "exit" : "other"
    const fired = fire("SessionEnd", { reason: word }, ctx) ?? Effect.void
    return Effect.asVoid(Effect.andThen(fired, engine.end(ctx.root.sessionId)))
  }
})

const promptEffect = (setup: Setup): Effects["preTurn"] => (input, ctx) => {
  if (ctx.agent.depth > 0) return undefined
  setup.memory.turns.set(ctx.sessionId, { prompt: input.message, isRetried: false })
  note(setup, ctx, { role: "user", content: input.message })
  return onVerdict(
    setup.fire("BeforeAgent", { [own.prompt]: input.message }, ctx),
    ({ contexts, denied, stopped }) => {
      // A denied prompt is removed from the history. If the hook only stops the turn, the prompt stays.
      if (stopped !== undefined) return HookAction.abort(stopped, { keepMessage: true })
      if (denied !== undefined) return HookAction.reject(denied, { userMessage: denied })
      for (const context of contexts) ctx.inject(context)
      return undefined
    }
  )
}

const stopEffects = (setup: Setup): Effects => {
  const { memory: { turns } } = setup
  return {
    postStep: {
      events: ["AfterAgent"],
      run: ({ messages }, ctx) => {
        const last = messages.at(-1)
        if (ctx.agent.depth > 0 || last?.role !== "assistant" || (last.toolCalls ?? []).length > 0) return undefined
        const fired = fireAfterAgent(setup, { answer: last.content, messages, isActive: false }, ctx)
        return onVerdict(fired, (verdict) => {
          if (verdict.stopped !== undefined) return HookAction.abort(verdict.stopped)
          turns.set(ctx.sessionId, { prompt: "", isRetried: false, ...turns.get(ctx.sessionId), verdict })
          return verdict.clear === true
            ? HookAction.transform(messages.filter((one) => one.role === "user" && one.pinned === true))
            : undefined
        })
      }
    },
    preStop: {
      events: ["AfterAgent"],
      run: ({ followUps, text: answer }, ctx) => {
        if (ctx.agent.depth > 0) return undefined
        const turn = turns.get(ctx.sessionId)
        const decided = turn?.verdict === undefined
          ? fireAfterAgent(setup, { answer, messages: [], isActive: followUps > 0 }, ctx)
          : Effect.succeed(turn.verdict)
        return onVerdict(decided, ({ denied, stopped }) => {
          turns.set(ctx.sessionId, { prompt: turn?.prompt ?? "", isRetried: denied !== undefined })
          if (stopped !== undefined) return HookAction.abort(stopped)
          if (denied !== undefined) ctx.followUp(denied)
          return undefined
        })
      }
    }
  }
}

interface Stop {
  readonly answer: string
  readonly messages: ReadonlyArray<Message>
  /** Whether hooks have already made the agent continue in this turn. */
  readonly isActive: boolean
}

const fireAfterAgent = ({ fire, memory }: Setup, { answer, isActive, messages }: Stop, ctx: HookContext) => {
  const turn = memory.turns.get(ctx.sessionId)
  const said = messages.findLast((message) => message.role === "user" && message.source === undefined)
  const prompt = turn?.prompt ?? (said === undefined ? "" : text(said))
  const fields = { [own.prompt]: prompt, [own.answer]: answer, [own.again]: isActive || turn?.isRetried === true }
  return fire("AfterAgent", fields, ctx)
}

const notificationEffects = ({ engine, fire, tools }: Setup): Effects => ({
  onPermission: {
    events: ["Notification"],
    run: ({ call, reason, tool: about }, ctx) => {
      if (ctx.askedAgain) return undefined
      const { input, name: tool } = tools.known(call.name, call.args, about)
      const details = { type: kindOf(tool), title: reason.slice(0, 1_000), tool_name: tool, tool_input: input }
      const message = `Tool ${tool} requires approval`
      const fired = fire("Notification", { notification_type: "ToolPermission", message, details }, ctx)
      return fired === undefined ? undefined : engine.aside(Effect.asVoid(fired), ctx)
    }
  },
  onSignal: {
    events: ["Notification"],
    run: ({ name: signal, payload }, ctx) => {
      if (signal.toLowerCase() !== "notification") return undefined
      const fields = { notification_type: "", message: "", details: {}, ...objectOf(payload) }
      return onVerdict(fire("Notification", fields, ctx), () => undefined)
    }
  }
})

const kindOf = (tool: string): string => {
  if (tool === "run_shell_command") return "exec"
  if (tool === "write_file" || tool === "replace") return "edit"
  return tool.startsWith("mcp_") ? "mcp" : "info"
}
