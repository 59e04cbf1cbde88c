/** Answers of people to open questions, for protocols that answer with data. */
import type { Json } from "@belay/core/Json"
import type { Decision } from "@belay/core/RunState"
import type { Decisions } from "@belay/core/Session"
import type { Conversation } from "../../host/Host.ts"
import { isClientCall, pendingOf } from "./act.ts"
import { askIdOf, askingOf, clientCallIdOf } from "./identity.ts"

/** An answer that a client has sent. */
export interface Given {
  readonly isApproved: boolean
  readonly reason?: string | undefined
  /** Runs the tool with these arguments instead. */
  readonly args?: Json | undefined
  /** Whether to approve later calls of the tool in this session too. */
  readonly always?: boolean | undefined
  /**
   * Whether to approve other values of the same field in this turn too, if the question is about where values stand.
   */
  readonly field?: boolean | undefined
}

/** What a client has sent: answers by the id of the question, and results of its tools by the id of the call. */
export interface GivenAnswers {
  readonly answerOf: (id: string) => Given | undefined
  readonly outputOf: (id: string) => string | undefined
}

/** Returns the decisions about questions that are open. Answers to others are ignored. */
export const decisionsOf = async (
  sessionId: string,
  conversation: Conversation | undefined,
  { answerOf, outputOf }: GivenAnswers
): Promise<Decisions> => {
  if (conversation === undefined) return {}
  const decisions = new Map<string, Decision>()
  const asking = askingOf(sessionId, conversation)
  for (const ask of pendingOf(conversation)) {
    if (isClientCall(ask)) {
      const output = outputOf(await clientCallIdOf(asking, ask))
      if (output !== undefined) decisions.set(ask.callId, { type: "respond", output })
      continue
    }
    const given = answerOf(await askIdOf(asking, ask))
    if (given !== undefined) decisions.set(ask.callId, decisionOf(given))
  }
  return Object.fromEntries(decisions)
}

export const decisionOf = ({ always, args, field, isApproved, reason }: Given): Decision => {
  if (!isApproved) return { type: "deny", reason: reason ?? "denied by the user" }
  if (args !== undefined) return { type: "edit", args }
  const what = always === true ? "tool" : field === true ? "field" : undefined
  return what === undefined ? { type: "approve" } : { type: "approve", remember: { what, scope: "session" } }
}
