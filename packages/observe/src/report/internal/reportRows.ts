/** The rows of a report, and those of events that need no other event. */
import type { AgentEvent } from "@belay/core/AgentEvent"
import { json } from "./reportText.ts"

/** A decision of a hook: `[hook, point, answer, reason, what changed, milliseconds, was it a trial]`. */
export type DecisionCells = readonly [string, string, string, string, string, number, boolean]

/** What a row is about. A filter shows one of them alone. */
export type RowKind = "session" | "turn" | "model" | "tool" | "decision" | "approval" | "history" | "message"

export interface Row {
  readonly kind: RowKind
  /** How deep the agent is in the tree of agents. */
  readonly depth: number
  readonly agent: string
  /** Milliseconds since the beginning of the recording. */
  readonly at: number
  /** How long it took, in milliseconds. */
  ms?: number
  title: string
  /** A short text beside the title. */
  note?: string
  /** `good`: it succeeded. `bad`: it failed or was refused. `changed`: by a hook. `open`: no end is known. */
  state: "good" | "bad" | "changed" | "open" | "plain"
  /** Labels and texts that are shown when the row is opened. */
  readonly details: Array<readonly [string, string]>
  readonly decisions: Array<DecisionCells>
}

export interface Totals {
  turns: number
  modelCalls: number
  toolCalls: number
  decisions: number
  refused: number
  failures: number
  questions: number
  inputTokens: number
  outputTokens: number
  usd: number
  unpriced: number
  /** The cost as text. */
  cost: string
}

export const noTotals = (): Totals => ({
  turns: 0,
  modelCalls: 0,
  toolCalls: 0,
  decisions: 0,
  refused: 0,
  failures: 0,
  questions: 0,
  inputTokens: 0,
  outputTokens: 0,
  usd: 0,
  unpriced: 0,
  cost: "not known"
})

/** What a row says. Without a state it is plain. */
interface SingleRow {
  readonly kind: RowKind
  readonly title: string
  readonly state?: Row["state"]
  readonly note?: string
  readonly details?: Row["details"]
}

/** Returns nothing for an event that has no row, or whose row other events change. */
export const singleRow = (event: AgentEvent): SingleRow | undefined => {
  switch (event.type) {
    case "ask": {
      const { args, reason, tool } = event.ask
      const details: Row["details"] = [["arguments", json(args)], ["reason", reason ?? ""]]
      return { kind: "approval", title: `A person is asked about ${tool}`, state: "open", details }
    }
    case "decided":
      return { kind: "approval", title: `Decided: ${event.decision}`, note: event.by ?? "" }
    case "hook-failed": {
      const title = `The hook ${event.hook} failed at ${event.point}`
      return { kind: "decision", title, state: "bad", note: event.policy, details: [["message", event.message]] }
    }
    case "compaction": {
      const title = `Compaction: ${event.removedCount} messages removed`
      return { kind: "history", title, state: "changed", details: [["summary", event.summary]] }
    }
    case "rotation":
      return { kind: "history", title: `Rotation: ${event.step}`, state: "changed", note: event.to ?? "" }
    case "limit": {
      const note = `${event.used} of ${event.max}`
      return { kind: "turn", title: `Limit reached: ${event.limit}`, state: "bad", note }
    }
    case "inject": {
      // The row of the tool shows who has changed its arguments.
      if (event.hook === "runtime") return undefined
      const title = `The hook ${event.hook} adds a text`
      return { kind: "message", title, state: "changed", details: [["text", event.text]] }
    }
    case "warning":
      return { kind: "message", title: `Warning of ${event.hook}`, details: [["text", event.message]] }
    case "notice":
      return { kind: "message", title: `Notice of ${event.hook}`, details: [["text", event.message]] }
    case "steer":
      return { kind: "message", title: "A message while the turn ran", details: [["text", event.message]] }
    case "follow-up":
      return { kind: "message", title: "Follow-up", details: [["text", event.message]] }
    case "args-repaired": {
      const title = `The arguments of ${event.call.name} were repaired`
      return { kind: "tool", title, state: "changed", details: [["as the model wrote them", event.text]] }
    }
    case "session-start":
      return { kind: "session", title: `Session ${event.sessionId}`, note: event.source }
    case "session-end":
      return { kind: "session", title: `Session ${event.sessionId} ended`, note: event.reason }
    default:
      return undefined
  }
}
