/** Fires the events of sessions, turns, compactions and signals, and does what the verdicts say. */
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import type { JsonObject } from "@belay/core/Json"
import type { Message } from "@belay/core/Message"
import * as Effect from "effect/Effect"
import { type Effects, onVerdict } from "../../../engine/effects.ts"
import type * as Engine from "../../../engine/runEntries.ts"
import { objectOf } from "../../../internal/fields.ts"
import { known, type ToolNames } from "../../shared/toolNames.ts"
import type { Answer } from "../answer/answer.ts"
import type { Verdict } from "../answer/verdict.ts"
import type { Handler } from "../config/HookConfig.ts"
import type { EventName } from "../event/events.ts"
import { eventOf } from "../event/signals.ts"
import { fields as own } from "../event/wire.ts"
import type { Input } from "../input/dialect.ts"
import type { Events } from "../input/input.ts"

export interface Setup {
  /** The name of the hook. */
  readonly name: string
  readonly engine: Engine.Engine<Handler, Input, Answer, Verdict>
  readonly events: Events
  readonly toolNames: ToolNames
  /** The most times in a row that entries may keep the agent from stopping. */
  readonly stopCap: number
  /** Whether the transcript or the entries need the answers of the model. */
  readonly usesAnswers: boolean
  /** Whether an entry can wake the agent. */
  readonly wakes: boolean
}

/** Adds the texts of a verdict to the conversation. */
export const inject = ({ context }: Verdict, ctx: HookContext): void => context.forEach((one) => ctx.inject(one))

/** Returns the effects that are not about tool calls. */
export const make = (setup: Setup): Effects => ({
  ...sessionEffects(setup),
  ...turnEffects(setup),
  ...compactionEffects(setup)
})

const sessionEffects = ({ engine, events, name }: Setup): Effects => {
  const message = (content: string): Message => ({
    role: "user",
    content: content.slice(0, 10_000).toWellFormed(),
    source: name
  })
  return {
    onSessionStart: {
      events: ["SessionStart"],
      run: (start, ctx) => {
        // A session that starts by rotation is a compaction. `postCompaction` fires the event.
        if (ctx.agent.depth > 0 || start.source === "rotate") return undefined
        return onVerdict(events.fire("SessionStart", ctx, { source: start.source }), ({ context, stop }) => {
          if (stop !== undefined) return HookAction.abort(stop)
          return context.length === 0
            ? undefined
            : HookAction.transform({ ...start, context: [...start.context, ...context.map(message)] })
        })
      }
    },
    onSessionEnd: (end, ctx) => {
      if (ctx.agent.depth > 0) return undefined
      const { sessionId } = ctx.root
      const reason = end.reason === "rotate" ? "clear" : "other"
      const fired = events.fire("SessionEnd", ctx, { reason }) ?? Effect.void
      events.forget(sessionId)
      return Effect.asVoid(Effect.andThen(fired, engine.end(sessionId)))
    }
  }
}

const turnEffects = (setup: Setup): Effects => {
  const { engine, events, toolNames, usesAnswers, wakes } = setup
  return {
    preTurn: (input, ctx) => {
      events.note(ctx, { role: "user", content: input.message })
      // A sub-agent gets its message from an agent and not from the user.
      if (ctx.agent.depth > 0) return onVerdict(events.fire("SubagentStart", ctx), (verdict) => inject(verdict, ctx))
      if (!ctx.askedAgain) deliverLate(setup, ctx)
      return onVerdict(events.fire("UserPromptSubmit", ctx, { [own.prompt]: input.message }), (verdict) => {
        if (verdict.stop !== undefined) return HookAction.abort(verdict.stop)
        if (verdict.blocked !== undefined) return HookAction.reject(verdict.blocked, { userMessage: verdict.blocked })
        return inject(verdict, ctx)
      })
    },
    postLlmCall: usesAnswers
      ? ({ response: { finishReason, model, text: content, toolCalls, usage } }, ctx) => {
        events.noteModel(ctx, model)
        const calls = toolCalls.map(({ args, id, name: tool }) => {
          const { input, name } = known(tool, args, toolNames, ctx.cwd)
          return { id, name, args: input }
        })
        const answer = { role: "assistant", content, toolCalls: calls, model, finishReason } as const
        events.note(ctx, usage === undefined ? answer : { ...answer, usage })
      }
      : undefined,
    preStop: engine.has("Stop", "SubagentStop") || wakes
      ? ({ followUps, text: last }, ctx) => {
        const isMain = ctx.agent.depth === 0
        const event = isMain ? "Stop" : "SubagentStop"
        for (const text of isMain && !ctx.askedAgain ? engine.takeWakes(ctx) : []) ctx.followUp(text)
        const fields = { [own.again]: followUps > 0, [own.answer]: last }
        const more = isMain ? fields : { ...fields, agent_transcript_path: events.agentTranscript(ctx) }
        return onVerdict(
          events.fire(event, ctx, more),
          (verdict) => continueAgent(event, verdict, followUps, setup, ctx)
        )
      }
      : undefined,
    onTurnError: {
      events: ["StopFailure"],
      run: ({ error: { _tag, message } }, ctx) =>
        ctx.agent.depth > 0 ? undefined : onVerdict(
          events.fire("StopFailure", ctx, { error: failures.get(_tag) ?? "unknown", error_details: message }),
          () => undefined
        )
    }
  }
}

/** Delivers what asynchronous entries left since the last turn. */
const deliverLate = ({ engine }: Setup, ctx: HookContext): void => {
  for (const { context, messages } of engine.takeAnswers(ctx)) {
    context.forEach((text) => ctx.inject(text))
    messages.forEach((text) => ctx.notifyUser(text))
  }
  for (const text of engine.takeWakes(ctx)) ctx.inject(text)
}

/**
 * Sends the reasons and contexts of the entries to the agent, so that it does not stop, at most `stopCap` times in a
 * row.
 */
const continueAgent = (
  event: EventName,
  { blocked, context, stop }: Verdict,
  followUps: number,
  { events, stopCap }: Setup,
  ctx: HookContext
) => {
  if (stop !== undefined) return HookAction.abort(stop)
  const texts = blocked === undefined ? context : [blocked, ...context]
  if (texts.length > 0 && followUps >= stopCap) {
    ctx.warn(`${event} entries kept the agent going ${stopCap} times in a row: it stops now`)
    return undefined
  }
  for (const content of texts) {
    ctx.followUp(content)
    events.note(ctx, { role: "user", content, isMeta: true })
  }
  return undefined
}

const failures: ReadonlyMap<string, string> = new Map([
  ["RateLimited", "rate_limit"],
  ["Overloaded", "server_error"],
  ["ServerError", "server_error"],
  ["QuotaExceeded", "billing_error"],
  ["Auth", "authentication_failed"],
  ["Permission", "authentication_failed"],
  ["InvalidRequest", "invalid_request"],
  ["ContextOverflow", "invalid_request"]
])

const triggerOf = (trigger: string): string => trigger === "manual" ? "manual" : "auto"

const compactionEffects = ({ events }: Setup): Effects => ({
  preCompaction: {
    events: ["PreCompact"],
    run: ({ hint, trigger }, ctx) => {
      const fields = { trigger: triggerOf(trigger), custom_instructions: hint.instructions ?? "" }
      return onVerdict(events.fire("PreCompact", ctx, fields), ({ blocked, stop }) => {
        const reason = blocked ?? stop
        return reason === undefined ? undefined : HookAction.reject(reason)
      })
    }
  },
  postCompaction: {
    events: ["PostCompact", "SessionStart"],
    run: ({ summary, trigger }, ctx) =>
      Effect.gen(function*() {
        const after = events.fire("PostCompact", ctx, { trigger: triggerOf(trigger), compact_summary: summary })
        if (after !== undefined) inject(yield* after, ctx)
        // The compaction removed the context that was added when the session began, so entries can add it again.
        const again = ctx.agent.depth > 0 ? undefined : events.fire("SessionStart", ctx, { source: "compact" })
        if (again !== undefined) inject(yield* again, ctx)
      })
  }
})

/** Fires the event of a signal, and returns what the entries answered to the host. */
export const onSignal = ({ engine, events }: Setup): Effects["onSignal"] => ({ blockable, name, payload }, ctx) => {
  const event = eventOf(name)
  if (event === undefined || !engine.has(event)) return undefined
  const fields = objectOf(payload)
  return onVerdict(events.fire(event, ctx, fields), (verdict) => {
    inject(verdict, ctx)
    return signalAction(event, verdict, blockable && !isFinalChange(event, fields))
  })
}

/** Entries cannot refuse a change of policy settings. */
const isFinalChange = (event: EventName, fields: JsonObject): boolean =>
  event === "ConfigChange" && fields["source"] === "policy_settings"

const signalAction = (event: EventName, { answer, blocked, stop }: Verdict, isBlockable: boolean) => {
  // Exit code 2 makes a teammate continue, but `continue: false` stops it. So a stop must not become a rejection.
  if (stop !== undefined && (event === "TeammateIdle" || event === "TaskCompleted")) {
    return HookAction.respond({ continue: false, stopReason: stop })
  }
  const reason = blocked ?? (event === "TaskCreated" ? undefined : stop)
  if (reason !== undefined) return isBlockable ? HookAction.reject(reason) : undefined
  return answer === undefined ? undefined : HookAction.respond(answer)
}
