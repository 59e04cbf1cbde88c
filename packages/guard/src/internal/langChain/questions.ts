/** Questions of the guard as interrupts of LangGraph, in the form of LangChain's own middleware for people. */
import type { GivenCall } from "@belay/core/Driver"
import { canonical } from "@belay/core/Json"
import type { Decision, PendingAsk } from "@belay/core/RunState"
import { interrupt } from "@langchain/langgraph"
import type { HITLRequest } from "langchain"
import { decide } from "../decide.ts"
import { jsonOf } from "../json.ts"
import type { Place } from "../place.ts"

/** Asks a person about a call if a hook wants it. Returns why the call must not run. */
export const askPerson = async (
  { by, session, waiting }: Place,
  call: GivenCall
): Promise<string | undefined> => {
  const { id, name } = call
  const isOpen = (await session.pending()).some(({ callId }) => callId === id)
  const verdict = await session.toolCall(call)
  if (verdict.type !== "ask") return undefined
  // The first time, this ends the node. With an answer, the node runs again and comes here again.
  const answer: unknown = interrupt(requestOf(call, verdict.question))
  if (!isOpen && waiting.get(id) !== keyOf(call)) {
    await decide(session, id, { type: "deny", reason: "not asked before" })
    return `not run: nobody was asked about ${name} in this session: give the guards a common store, and the same id`
  }
  const next = await decide(session, id, { ...decisionOf(answer, name), ...by })
  if (next.type === "ask") return `not run: more people have to approve: ${next.question.reason}`
  return next.type === "deny" || next.type === "stop" ? next.reason : undefined
}

/** Identifies a call with its arguments. */
export const keyOf = ({ args = {}, name }: GivenCall): string => canonical([name, args])

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
