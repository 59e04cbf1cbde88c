/** Questions of the guard as interrupts of LangGraph, in the form of LangChain's own middleware for people. */
import type { GivenCall } from "@belay/core/Driver"
import type { Decision, PendingAsk } from "@belay/core/RunState"
import { interrupt } from "@langchain/langgraph"
import type { HITLRequest } from "langchain"
import { decide } from "../decide.ts"
import { jsonOf } from "../json.ts"
import type { Place } from "../place.ts"
import { notOpen } from "../questionText.ts"

/** Asks a person about a call if a hook wants it. Returns why the call must not run. */
export const askPerson = async (
  place: Place,
  call: GivenCall
): Promise<string | undefined> => {
  const { answered, by, session } = place
  const { id, name } = call
  const isOpen = (await session.pending()).some(({ callId }) => callId === id)
  const verdict = await session.toolCall(call)
  if (verdict.type === "allow" && verdict.question !== undefined) {
    // LangGraph gives the answers in the order of the interrupts: this one before those of the tool.
    if (answered.get(id) !== false) interrupt(requestOf(call, verdict.question))
    return undefined
  }
  if (verdict.type !== "ask") return undefined
  // The first time, this ends the node. With an answer, the node runs again and comes here again.
  const answer: unknown = interrupt(requestOf(call, verdict.question))
  if (!isOpen) {
    const reason = `not run: ${notOpen(place, call)}`
    await decide(session, id, { type: "deny", reason })
    return reason
  }
  answered.set(id, true)
  const next = await decide(session, id, { ...decisionOf(answer, name), ...by })
  if (next.type === "ask") return `not run: more people have to approve: ${next.question.reason}`
  return next.type === "deny" || next.type === "stop" ? next.reason : undefined
}

const requestOf = ({ name }: GivenCall, { args, reason }: PendingAsk): HITLRequest => ({
  // The arguments of a tool are an object; the type of JSON is wider.
  actionRequests: [{ name, args: args as never, description: reason }],
  reviewConfigs: [{ actionName: name, allowedDecisions: ["approve", "edit", "reject"] }]
})

interface Answer {
  readonly type?: unknown
  readonly message?: unknown
  readonly editedAction?: { readonly name?: unknown; readonly args?: unknown }
}

/** Reads the answer. What is not an approval in full is a refusal. */
const decisionOf = (answer: unknown, name: string): Decision => {
  const given: unknown = Object(answer)["decisions"]
  const first = Array.isArray(given) && given.length === 1 ? given[0] as Answer | null : undefined
  if (first?.type === "approve") return { type: "approve" }
  if (first?.type === "edit" && first.editedAction?.name === name) {
    return { type: "edit", args: jsonOf(first.editedAction.args) }
  }
  if (first?.type === "reject") {
    return { type: "deny", reason: typeof first.message === "string" ? first.message : "a person refused the call" }
  }
  return { type: "deny", reason: "the answer is not a decision: expected { decisions: [{ type: \"approve\" }] }" }
}
