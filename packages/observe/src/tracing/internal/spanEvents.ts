/** What happens inside a turn as events of its span: decisions of hooks, approvals, limits and compactions. */
import type { AgentEvent } from "@belay/core/AgentEvent"
import { attribute, event as named } from "../Conventions.ts"
import type { Redact } from "./content.ts"
import type { Attributes } from "./telemetry.ts"

type Event<Type extends AgentEvent["type"]> = Extract<AgentEvent, { readonly type: Type }>

export interface SpanEvent {
  readonly name: string
  readonly attributes: Attributes
}

/** The events that spans need. Deltas are not among them. */
export const eventTypes = [
  "turn-start",
  "turn-end",
  "llm-start",
  "llm-end",
  "llm-error",
  "hook",
  "hook-failed",
  "tool-denied",
  "ask",
  "decided",
  "compaction",
  "rotation",
  "limit",
  "custom",
  "session-end"
] as const satisfies ReadonlyArray<AgentEvent["type"]>

/** Reasons of hooks may quote the conversation, so they are content. */
const hidden: Redact = () => "not recorded"

/** The event of the turn's span, if there is one. */
export const spanEventOf = (event: AgentEvent, redact: Redact = hidden): SpanEvent | undefined => {
  switch (event.type) {
    case "hook-failed": {
      const { hook, kind, point, policy } = event
      return {
        name: named.hookFailure,
        attributes: {
          [attribute.hook]: hook,
          [attribute.point]: point,
          [attribute.errorType]: kind,
          [attribute.answer]: policy
        }
      }
    }
    case "tool-denied": {
      const { by, call, reason } = event
      return {
        name: named.denied,
        attributes: {
          [attribute.toolName]: call.name,
          [attribute.callId]: call.id,
          [attribute.by]: by,
          [attribute.reason]: redact(reason)
        }
      }
    }
    case "ask":
      return {
        name: named.asked,
        attributes: { [attribute.toolName]: event.ask.tool, [attribute.callId]: event.ask.callId }
      }
    case "decided": {
      const { by, callId, decision } = event
      return {
        name: named.decided,
        attributes: { [attribute.callId]: callId, [attribute.decision]: decision, [attribute.by]: by }
      }
    }
    case "compaction":
      return { name: named.compacted, attributes: { [attribute.removed]: event.removedCount } }
    case "rotation":
      return { name: named.rotated, attributes: { [attribute.rotationStep]: event.step } }
    case "limit":
      return { name: named.limitReached, attributes: { [attribute.limit]: event.limit } }
    default:
      return undefined
  }
}

/** An event for each hook that did more than to continue. */
export const decisionsOf = ({ record }: Event<"hook">, redact: Redact = hidden): ReadonlyArray<SpanEvent> =>
  record.hooks.filter(({ answer }) => answer !== "Continue" && answer !== "skipped").map(
    ({ answer, change, durationMs, hook, shadow, why }) => ({
      name: named.hookDecision,
      attributes: {
        [attribute.hook]: hook,
        [attribute.point]: record.point,
        [attribute.answer]: answer,
        [attribute.toolName]: record.callId === undefined ? undefined : record.subject,
        [attribute.callId]: record.callId,
        [attribute.reason]: why === undefined ? undefined : redact(why),
        [attribute.before]: change?.before,
        [attribute.after]: change?.after,
        [attribute.hookDuration]: durationMs,
        [attribute.shadow]: shadow
      }
    })
  )
