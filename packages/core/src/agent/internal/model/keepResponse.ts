/** Keeps an accepted answer: text is added to the conversation, tool calls open a step. */
import type { LlmResponse } from "../../../data/LlmCall.ts"
import type { AssistantMessage, ToolCall } from "../../../data/Message.ts"
import { openStep } from "../../../guard/internal/state/turnState.ts"
import type { Turn } from "../running/turn.ts"
import { withReadableArgs } from "./checkResponse.ts"

/** Returns the answer with its tool calls as they are stored. `isRead` says that `readResponse` returned it. */
export const keepResponse = (turn: Turn, response: LlmResponse, isRead: boolean): LlmResponse => {
  const { messages, session, state } = turn
  const keepCall = (call: ToolCall, index: number) => withUniqueId(turn, isRead ? call : withReadableArgs(call), index)
  const hasCalls = response.toolCalls.length > 0
  const toolCalls = hasCalls ? response.toolCalls.map(keepCall) : response.toolCalls
  const message = messageOf(response, toolCalls)
  if (hasCalls) openStep(state, message, toolCalls)
  else messages.push(message)
  if (turn.agent.config.window !== undefined && response.usage !== undefined) {
    session.tokens = response.usage.inputTokens + response.usage.outputTokens
    session.countedMessages = messages.length
  }
  return hasCalls ? { ...response, toolCalls } : response
}

const messageOf = (
  { citations, files, metadata, reasoning, text }: LlmResponse,
  toolCalls: ReadonlyArray<ToolCall>
): AssistantMessage => {
  let message: AssistantMessage = { role: "assistant", content: text }
  if (toolCalls.length > 0) message = { role: "assistant", content: text, toolCalls }
  if (reasoning !== undefined) message = { ...message, reasoning }
  if (files !== undefined) message = { ...message, files }
  if (citations !== undefined) message = { ...message, citations }
  if (metadata !== undefined) message = { ...message, metadata }
  return message
}

/**
 * Some vendors leave ids empty or repeat them. In a transcript every id must be unique. An id with a slash would look
 * like the path to a call of a sub-agent, and a decision about one of them would count for both. `__proto__` cannot
 * be the key of an object, as decisions and durable state are.
 */
const withUniqueId = ({ session: { ids }, state }: Turn, call: ToolCall, index: number): ToolCall => {
  let { id } = call
  for (let n = 0; id === "" || id.includes("/") || id === "__proto__" || ids.has(id); n++) {
    id = `call_${state.turnNumber}_${state.stepNumber}_${index}${n === 0 ? "" : `_${n}`}`
  }
  ids.add(id)
  return id === call.id ? call : { ...call, id }
}
