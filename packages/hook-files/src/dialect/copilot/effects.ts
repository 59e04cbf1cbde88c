/** Applies the verdict of GitHub Copilot hooks to sessions, prompts, stops, failures and notifications. */
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import type { Message } from "@belay/core/Message"
import { isProviderError } from "@belay/core/ProviderError"
import * as Effect from "effect/Effect"
import { type Effects, onVerdict } from "../../engine/effects.ts"
import type * as Engine from "../../engine/runEntries.ts"
import { objectOf } from "../../internal/fields.ts"
import type { Renamed } from "../shared/renamedTools.ts"
import { type Answer, noVerdict, type Verdict } from "./answer.ts"
import type { Handler } from "./config.ts"
import type { Input } from "./dialect.ts"
import type { Events } from "./input.ts"

/** The maximum number of times in a row that hooks can make an agent continue. */
export const maxBlocks = 8

export interface Setup {
  /** The name of the hook. */
  readonly name: string
  readonly engine: Engine.Engine<Handler, Input, Answer, Verdict>
  readonly events: Events
  readonly tools: Renamed
  /** The texts of prompt entries. They are added at the beginning of a new session. */
  readonly prompts: ReadonlyArray<string>
  /** Whether `allow` at `permissionRequest` is used. */
  readonly mayAllow: boolean
  readonly hasTranscript: boolean
  /** The reason to end the turn after this step, by session. */
  readonly stops: Map<string, string>
}

const none = Effect.succeed(noVerdict)

/** Adds the texts of a verdict to the conversation. */
export const inject = ({ contexts }: Verdict, ctx: HookContext): void => contexts.forEach((one) => ctx.inject(one))

/** The effects at all points except tool calls. */
export const make = (setup: Setup): Effects => ({
  ...sessionEffects(setup),
  ...turnEffects(setup),
  ...stopEffects(setup),
  ...failureEffects(setup),
  ...otherEffects(setup)
})

const sessionEffects = ({ engine, events: { fire }, name, prompts, stops }: Setup): Effects => ({
  onSessionStart: {
    events: ["sessionStart"],
    run: (start, ctx) => {
      if (ctx.agent.depth > 0) return undefined
      const message = (content: string): Message => ({
        role: "user",
        content: content.slice(0, 10_000).toWellFormed(),
        source: name
      })
      const fired = fire("sessionStart", { source: start.source === "rotate" ? "new" : start.source }, ctx) ?? none
      return Effect.map(fired, ({ contexts, stop }) => {
        if (stop !== undefined) return HookAction.abort(stop)
        const texts = start.source === "startup" ? [...contexts, ...prompts] : contexts
        return texts.length === 0
          ? undefined
          : HookAction.transform({ ...start, context: [...start.context, ...texts.map(message)] })
      })
    }
  },
  onSessionEnd: ({ reason }, ctx) => {
    stops.delete(ctx.sessionId)
    if (ctx.agent.depth > 0) return undefined
    const word = reason === "done" ? "complete" : reason === "rotate" ? "user_exit" : reason
    const fired = fire("sessionEnd", { reason: word }, ctx) ?? Effect.void
    return Effect.asVoid(Effect.andThen(fired, engine.end(ctx.root.sessionId)))
  }
})

const turnEffects = ({ engine, events, hasTranscript, stops }: Setup): Effects => ({
  preTurn: (input, ctx) => {
    const { agent: { depth, name: agentName } } = ctx
    stops.delete(ctx.sessionId)
    if (depth > 0) {
      const fired = events.fire("subagentStart", { ...events.pathFields(ctx), agentName }, ctx)
      return onVerdict(fired, ({ contexts }) =>
        contexts.length === 0
          ? undefined
          : HookAction.transform({ ...input, message: [...contexts, input.message].join("\n\n") }))
    }
    events.note(ctx, { role: "user", content: input.message })
    if (!engine.has("userPromptSubmitted", "userPromptTransformed")) return undefined
    return Effect.gen(function*() {
      const first = yield* events.fire("userPromptSubmitted", { prompt: input.message }, ctx) ?? none
      const { denied, prompt = input.message, stop } = first
      if (stop !== undefined) return HookAction.abort(stop)
      if (denied !== undefined) return HookAction.reject(denied)
      inject(first, ctx)
      const last = yield* events.fire("userPromptTransformed", { prompt, transformedPrompt: prompt }, ctx) ?? none
      if (last.denied !== undefined) return HookAction.reject(last.denied)
      const { transformed = prompt } = last
      return transformed === input.message ? undefined : HookAction.transform({ ...input, message: transformed })
    })
  },
  postLlmCall: hasTranscript
    ? ({ response: { text: content, toolCalls } }, ctx) => events.note(ctx, { role: "assistant", content, toolCalls })
    : undefined
})

const stopEffects = ({ events }: Setup): Effects => {
  const responses = new Map<string, string>()
  return {
    preStop: {
      events: ["agentStop", "subagentStop"],
      run: ({ followUps, text: response }, ctx) => {
        const { agent: { depth, name: agentName }, sessionId } = ctx
        const fields = { ...events.pathFields(ctx), stopReason: "end_turn" }
        const own = { agentId: sessionId, agentType: agentName, agentName, response }
        const fired = depth === 0
          ? events.fire("agentStop", { ...fields, stop_hook_active: followUps > 0 }, ctx)
          : events.fire("subagentStop", { ...fields, ...own }, ctx)
        return onVerdict(fired, ({ block, response: other, stop }) => {
          if (stop !== undefined) return HookAction.abort(stop)
          const isBlocked = typeof block === "string"
          if (isBlocked && followUps < maxBlocks) ctx.followUp(block)
          else if (isBlocked) ctx.warn(`hooks made the agent continue ${maxBlocks} times in a row, so it stops now`)
          else if (other !== undefined) responses.set(sessionId, other)
          return undefined
        })
      }
    },
    postTurn: {
      events: ["subagentStop"],
      run: ({ output }, ctx) => {
        const text = responses.get(ctx.sessionId)
        responses.delete(ctx.sessionId)
        return text === undefined ? undefined : HookAction.transform({ ...output, text })
      }
    }
  }
}

/** Fires `errorOccurred`. */
export const fireError = (
  events: Events,
  error: Error,
  about: { readonly errorContext: string; readonly recoverable: boolean },
  ctx: HookContext
): Effect.Effect<Verdict> =>
  events.fire("errorOccurred", { error: { message: error.message, name: error.name }, ...about }, ctx) ?? none

const failureEffects = ({ events }: Setup): Effects => ({
  onLlmError: {
    events: ["errorOccurred"],
    run: ({ attempt, decision, error }, ctx) => {
      const about = { errorContext: "model_call", recoverable: decision.type !== "fail" }
      return Effect.map(fireError(events, error, about, ctx), ({ handling, retries = 1 }) => {
        if (handling === "abort") return HookAction.abort(`a hook ended the turn: ${error.message}`)
        if (handling !== "retry" || attempt > retries || decision.type === "retry") return undefined
        return HookAction.transform({ type: "retry" as const, delayMs: 250 * 2 ** Math.min(attempt - 1, 8) })
      })
    }
  },
  onTurnError: {
    events: ["errorOccurred"],
    run: ({ error }, ctx) => {
      // The event has already been fired for each failed model call.
      if (isProviderError(error)) return undefined
      const isRefused = error._tag === "HookRejected" && error.point === "preTurn"
      const about = { errorContext: isRefused ? "user_input" : "system", recoverable: false }
      return Effect.as(fireError(events, error, about, ctx), undefined)
    }
  }
})

const otherEffects = ({ events }: Setup): Effects => ({
  preCompaction: {
    events: ["preCompact"],
    run: ({ hint, trigger }, ctx) => {
      const fields = {
        ...events.pathFields(ctx),
        trigger: trigger === "manual" ? "manual" : "auto",
        customInstructions: hint.instructions ?? ""
      }
      return onVerdict(events.fire("preCompact", fields, ctx), () => undefined)
    }
  },
  onSignal: {
    events: ["notification"],
    run: ({ name: signal, payload }, ctx) => {
      if (signal.toLowerCase() !== "notification") return undefined
      const more = objectOf(payload)
      const fields = { hook_event_name: "Notification", notification_type: "", message: "", ...more }
      return onVerdict(events.fire("notification", fields, ctx), (verdict) => inject(verdict, ctx))
    }
  }
})
