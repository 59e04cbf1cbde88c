/** Decides whether the decision of a person counts for a question. */
import { whyNotPerson } from "../../../data/internal/reservedNames.ts"
import type { Decision, PendingAsk } from "../../../data/RunState.ts"

/** The parts of a question that say who may answer it, and how. */
type Asked = Pick<PendingAsk, "tool"> & Partial<Pick<PendingAsk, "allowed" | "approved" | "approvers" | "quorum">>

/** Describes why a decision does not count for a question. Returns nothing if it counts. */
export const whyNotCounted = (ask: Asked, decision: Decision): string | undefined => {
  const { by, type } = decision
  const noPerson = by === undefined ? undefined : whyNotPerson(by)
  if (noPerson !== undefined) return noPerson
  if (ask.allowed !== undefined && !ask.allowed.includes(type)) {
    return `${type} is not an answer to this question: expected ${ask.allowed.join(", ")}`
  }
  if (ask.approvers !== undefined && (by === undefined || !ask.approvers.includes(by))) {
    return `${by ?? "somebody without a name"} may not decide about ${ask.tool}, only ${ask.approvers.join(", ")}`
  }
  const { approved = [], quorum = 1 } = ask
  if (decision.type === "delegate") {
    const wrong = decision.to.map(whyNotPerson).find((why) => why !== undefined)
    if (wrong !== undefined) return wrong
    const left = quorum - approved.length
    const people = new Set(decision.to.filter((name) => !approved.includes(name)))
    return people.size < left
      ? `${ask.tool} needs ${left} more approvals: delegate to at least ${left} people`
      : undefined
  }
  if (quorum === 1) return undefined
  if (type === "edit" || type === "respond") {
    return `${ask.tool} needs ${quorum} approvals: it can be approved, denied or delegated, not decided by one person`
  }
  return type === "approve" && by === undefined
    ? `${ask.tool} needs ${quorum} approvals: the decision must name who approves (\`by\`)`
    : undefined
}

/** Returns the decision, or a denial if the question has expired. */
export const countedAt = (ask: PendingAsk, decision: Decision, now: number): Decision =>
  ask.expiresAt !== undefined && now >= ask.expiresAt ? expiredDenial(ask) : decision

/** The denial of a question that nobody answered in time. */
export const expiredDenial = ({ tool }: PendingAsk): Decision => ({
  type: "deny",
  reason: `the question about ${tool} expired before anybody decided`
})

/** Says what a decision has to be, about something that `readDecision` does not read. */
export const notADecision = (callId: string): string =>
  `the decision on tool call "${callId}" is not one of { type: "approve" }, { type: "deny", reason }, ` +
  "{ type: \"edit\", args }, { type: \"respond\", output } and { type: \"delegate\", to }"
