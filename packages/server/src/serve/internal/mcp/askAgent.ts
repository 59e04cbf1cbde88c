/** The tool with which an MCP client talks to the agent. */
import type { PendingAsk } from "@belay/core/RunState"
import type { CallToolResult, InputRequiredResult, ServerContext } from "@modelcontextprotocol/server"
import type { Outcome } from "../../../host/Outcome.ts"
import type { Serve } from "../../Serve.ts"
import { decide, isClientCall, pendingOf, send } from "../act.ts"
import { fieldsOf, textField } from "../content.ts"
import { follow, type Part } from "../follow.ts"
import { askIdOf, isToken, newToken, sessionIdOf, type Token, tokenOf } from "../identity.ts"
import { decisionsOf, type Given } from "../questions.ts"
import { invalid, Refusal, refusalOf, refusalOfOutcome } from "../refusal.ts"
import { cancelTurn } from "../respond.ts"

/** What the client knows about the call. */
export interface AskAgent {
  readonly principal: string
  readonly args: unknown
  readonly context: ServerContext
}

/**
 * Runs a turn. A question is a request for input; the client calls again with the answer. The state that it sends along
 * names the session, which is looked for among those of the principal.
 */
export const askAgent = async (
  serve: Serve,
  { args, context, principal }: AskAgent
): Promise<CallToolResult | InputRequiredResult> => {
  const { inputResponses = {}, requestState, signal } = context.mcpReq
  try {
    const state = requestState<string>()
    const name = textField(fieldsOf(args), "session")
    const token = typeof state === "string" && isToken(state)
      ? state
      : name === undefined
      ? newToken()
      : await tokenOf(name)
    const sessionId = await sessionIdOf(principal, token)
    const part = typeof state === "string"
      ? await goOn(serve, { sessionId, principal }, inputResponses)
      : await begin(serve, sessionId, principal, textField(fieldsOf(args), "message"))
    const outcome = await outcomeOf(serve, part, context, signal)
    if (outcome !== undefined) return await resultOf(serve, token, outcome)
    // Nobody can read the answer of a call that was cancelled.
    cancelTurn(serve, part)
    return failed("the call was cancelled")
  } catch (error) {
    return failed(refusalOf(serve, error).message)
  }
}

const begin = async (
  serve: Serve,
  sessionId: string,
  principal: string,
  message: string | undefined
): Promise<Part> => {
  if (message === undefined || message === "") throw invalid("message: expected a text")
  const conversation = await serve.host.conversation(sessionId)
  // A new message takes the place of open questions.
  if (pendingOf(conversation).length > 0 && conversation?.key !== undefined) {
    await serve.host.cancel(sessionId, conversation.key)
  }
  return await send(serve, sessionId, principal, { message, attachments: [] })
}

const goOn = async (
  serve: Serve,
  person: { readonly sessionId: string; readonly principal: string },
  responses: { readonly [key: string]: unknown }
): Promise<Part> => {
  const { sessionId } = person
  const conversation = await serve.host.conversation(sessionId)
  const decisions = await decisionsOf(sessionId, conversation, {
    answerOf: (id) => answerOf(responses[id]),
    outputOf: () => undefined
  })
  if (conversation === undefined || Object.keys(decisions).length === 0) {
    throw new Refusal("conflict", "there is no open question that this answers")
  }
  return await decide(serve, person, conversation, decisions)
}

const answerOf = (response: unknown): Given | undefined => {
  const { action, content } = fieldsOf(response)
  const { approve, reason } = fieldsOf(content)
  if (action !== "accept") return typeof action === "string" ? { isApproved: false } : undefined
  return { isApproved: approve === true, reason: typeof reason === "string" && reason !== "" ? reason : undefined }
}

/**
 * Waits for the outcome. Returns nothing if the client cancels the call. If the client has asked for progress, it is
 * told about each tool that begins.
 */
const outcomeOf = async (
  serve: Serve,
  part: Part,
  { mcpReq: { _meta, notify } }: ServerContext,
  signal: AbortSignal
): Promise<Outcome | undefined> => {
  const progressToken = _meta?.progressToken
  let progress = 0
  for await (const item of follow(serve, part, signal)) {
    if (item.type === "end") return item.outcome
    const { event } = item
    if (progressToken === undefined || event.type !== "tool-start") continue
    const params = { progressToken, progress: ++progress, message: event.call.name }
    await notify({ method: "notifications/progress", params })
  }
  return undefined
}

const resultOf = async (
  serve: Serve,
  token: Token,
  outcome: Outcome
): Promise<CallToolResult | InputRequiredResult> => {
  switch (outcome.status) {
    case "completed":
    case "limited":
    case "aborted":
      return {
        content: [{ type: "text", text: outcome.text }],
        structuredContent: { text: outcome.text, session: token },
        ...(outcome.status === "completed" ? {} : { isError: true })
      }
    case "suspended": {
      const asks = outcome.pending.filter((ask) => !isClientCall(ask))
      const asking = { token, turnNumber: outcome.turnNumber }
      const requests = await Promise.all(asks.map(async (ask) => [await askIdOf(asking, ask), formOf(ask)] as const))
      return { resultType: "input_required", inputRequests: Object.fromEntries(requests), requestState: token }
    }
    case "delivered":
      return { content: [], structuredContent: { text: "", session: token } }
    default:
      return failed(refusalOfOutcome(serve, outcome).message)
  }
}

const formOf = ({ args, reason, tool }: PendingAsk) => ({
  method: "elicitation/create" as const,
  params: {
    mode: "form" as const,
    message: `${tool} ${JSON.stringify(args)}: ${reason}`,
    requestedSchema: {
      type: "object" as const,
      properties: {
        approve: { type: "boolean" as const, title: "Allow it" },
        reason: { type: "string" as const, title: "Why not" }
      },
      required: ["approve"]
    }
  }
})

const failed = (text: string): CallToolResult => ({ content: [{ type: "text", text }], isError: true })
