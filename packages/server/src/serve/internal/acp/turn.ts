/** Runs a turn for an editor: shows what happens, and asks for permission. */
import type {
  AgentContext,
  PermissionOption,
  RequestPermissionResponse,
  SessionUpdate,
  StopReason,
  ToolCallUpdate
} from "@agentclientprotocol/sdk"
import type { AgentEvent } from "@belay/core/AgentEvent"
import type { ToolCall } from "@belay/core/Message"
import type { Decision, PendingAsk } from "@belay/core/RunState"
import type { Outcome } from "../../../host/Outcome.ts"
import type { Serve } from "../../Serve.ts"
import { decide } from "../act.ts"
import { follow, type Part } from "../follow.ts"
import { decisionOf } from "../questions.ts"
import { Refusal, refusalOfOutcome } from "../refusal.ts"
import { cutJson } from "../shorten.ts"
import { said, thought } from "./prompt.ts"

/** A session, as an editor sees it. */
export interface EditorSession {
  readonly id: string
  /** The id of the host's session. */
  readonly sessionId: string
  /** Who uses the editor. */
  readonly principal: string
  readonly client: AgentContext
  /** `allow` answers every question with yes. */
  readonly mode: () => "ask" | "allow"
  readonly signal: AbortSignal
}

/** Runs a part to its end, and the parts after its questions. Returns why it stopped. */
export const runTurn = async (serve: Serve, session: EditorSession, first: Part): Promise<StopReason> => {
  let part = first
  for (;;) {
    const { outcome, text } = await showPart(serve, session, part)
    if (outcome === undefined || outcome.status === "cancelled") return "cancelled"
    if (outcome.status !== "suspended") return await endOf(serve, session, outcome, text)
    // A question that needs more people stays open after this one has approved it.
    const open = outcome.pending.filter(({ approved }) => approved?.includes(session.principal.trim()) !== true)
    if (open.length === 0) return "end_turn"
    const decisions = await askPerson(session, open)
    const conversation = await serve.host.conversation(session.sessionId)
    if (decisions === undefined || conversation === undefined) {
      await serve.host.cancel(session.sessionId, conversation?.key ?? first.key)
      return "cancelled"
    }
    part = await decide(serve, session, conversation, decisions)
  }
}

const showPart = async (
  serve: Serve,
  { client, id, signal }: EditorSession,
  part: Part
): Promise<{ readonly outcome: Outcome | undefined; readonly text: string }> => {
  const updates = new Updates(serve.maxEventLength)
  for await (const item of follow(serve, part, signal)) {
    if (item.type === "end") return { outcome: item.outcome, text: updates.text }
    for (const update of updates.of(item.event)) await client.notify("session/update", { sessionId: id, update })
  }
  return { outcome: undefined, text: updates.text }
}

/** A class, because it is the state of what was shown. */
class Updates {
  /** The text since the last call of a tool. */
  text = ""
  private readonly maxLength: number
  private readonly shown = new Set<string>()

  constructor(maxLength: number) {
    this.maxLength = maxLength
  }

  of(event: AgentEvent): ReadonlyArray<SessionUpdate> {
    if (event.parent !== undefined) return []
    switch (event.type) {
      case "text-delta":
        this.text += event.text
        return [said(event.text)]
      case "reasoning-delta":
        return [thought(event.text)]
      case "retract":
        this.text = ""
        return [said("\n\n(The answer begins again.)\n\n")]
      case "tool-start":
        return this.call(event.call, "in_progress")
      case "tool-end": {
        if (event.unfinished === true || event.client === true) return []
        const { call, result } = event
        const output = cutJson(result.ok ? result.output : result.error, this.maxLength)
        return this.call(call, result.ok ? "completed" : "failed", output)
      }
      case "tool-denied":
        return this.call(event.call, "failed", event.reason)
      default:
        return []
    }
  }

  private call(
    { args, changed, id, name }: ToolCall,
    status: "in_progress" | "completed" | "failed",
    output?: unknown
  ): ReadonlyArray<SessionUpdate> {
    this.text = ""
    const rawOutput = output === undefined ? {} : { rawOutput: output }
    const text = typeof output === "string" ? output : JSON.stringify(output)
    const content = output === undefined
      ? {}
      : { content: [{ type: "content" as const, content: { type: "text" as const, text } }] }
    if (this.shown.has(id)) {
      return [{ sessionUpdate: "tool_call_update", toolCallId: id, status, ...rawOutput, ...content }]
    }
    this.shown.add(id)
    const rawInput = cutJson(args, this.maxLength)
    return [{
      sessionUpdate: "tool_call",
      toolCallId: id,
      title: changed === undefined ? name : `${name} (arguments changed by ${changed.by.join(" and ")})`,
      kind: "other",
      status,
      rawInput,
      ...rawOutput,
      ...content
    }]
  }
}

/** Asks for each question in turn. Returns nothing if the person has cancelled. */
const askPerson = async (
  { client, id, mode, signal }: EditorSession,
  pending: ReadonlyArray<PendingAsk>
): Promise<{ readonly [callId: string]: Decision } | undefined> => {
  const decisions = new Map<string, Decision>()
  for (const ask of pending) {
    if (signal.aborted) return undefined
    if (mode() === "allow") {
      decisions.set(ask.callId, { type: "approve" })
      continue
    }
    const title = `${ask.tool}: ${ask.reason}`
    const toolCall: ToolCallUpdate = { toolCallId: ask.callId, title, kind: "other", rawInput: ask.args }
    const asked = client.request("session/request_permission", { sessionId: id, toolCall, options })
    // An editor should answer what it has cancelled, but not all do.
    const { outcome } = await Promise.race([asked, cancelledBy(signal)])
    if (outcome.outcome !== "selected") return undefined
    decisions.set(
      ask.callId,
      decisionOf({
        isApproved: outcome.optionId === "allow" || outcome.optionId === "always",
        always: outcome.optionId === "always",
        reason: "rejected in the editor"
      })
    )
  }
  return Object.fromEntries(decisions)
}

const cancelledBy = (signal: AbortSignal): Promise<RequestPermissionResponse> =>
  new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve({ outcome: { outcome: "cancelled" } }), { once: true })
  })

const options: Array<PermissionOption> = [
  { optionId: "allow", name: "Allow", kind: "allow_once" },
  { optionId: "always", name: "Always allow this tool", kind: "allow_always" },
  { optionId: "reject", name: "Reject", kind: "reject_once" }
]

const endOf = async (
  serve: Serve,
  { client, id }: EditorSession,
  outcome: Exclude<Outcome, { readonly status: "suspended" | "cancelled" }>,
  text: string
): Promise<StopReason> => {
  const say = (words: string) => client.notify("session/update", { sessionId: id, update: said(words) })
  switch (outcome.status) {
    case "completed":
    case "limited":
    case "aborted":
      // A hook may have answered in place of the model.
      if (text === "" && outcome.text !== "") await say(outcome.text)
      return outcome.status === "completed"
        ? "end_turn"
        : outcome.status === "limited"
        ? "max_turn_requests"
        : "refusal"
    case "delivered":
      return "end_turn"
    default: {
      const refusal = refusalOfOutcome(serve, outcome)
      if (refusal.kind !== "filtered") throw new Refusal(refusal.kind, refusal.message)
      await say(refusal.message)
      return "refusal"
    }
  }
}
