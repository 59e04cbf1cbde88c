/**
 * What the conversation shows of calls that ran with other arguments than the model wrote: the arguments that the tool
 * got, and who changed them.
 *
 * These are the arguments after the last `preToolCall` hook. What a confidential hook puts in their place around the
 * call itself (`wrapToolCall`) is never shown. A vendor may have signed a call that has metadata. Such a call keeps the
 * model's arguments beside the others, so that the provider can send the vendor exactly what it signed.
 */
import type { AssistantMessage, ToolCall } from "../../../data/Message.ts"
import type { CallState } from "../../../data/RunState.ts"
import { sameJson } from "../schema/sameValue.ts"

/** Returns the model's message with the arguments that its calls ran with. */
export const withExecutedArgs = (message: AssistantMessage, calls: ReadonlyArray<CallState>): AssistantMessage => {
  const isChanged = calls.some(({ changedBy, executedArgs }) => executedArgs !== undefined || changedBy !== undefined)
  if (!isChanged || message.toolCalls === undefined) return message
  const states = new Map(calls.map((state) => [state.call.id, state]))
  return {
    ...message,
    toolCalls: message.toolCalls.map((call) => {
      const state = states.get(call.id)
      return state === undefined ? call : executedCall(message, call, state)
    })
  }
}

const executedCall = (
  { metadata }: AssistantMessage,
  call: ToolCall,
  { changedBy, executedArgs: args }: CallState
): ToolCall => {
  if (args === undefined || sameJson(args, call.args)) return call
  // A vendor may have stored or signed what the model wrote. Defaults alone do not change that.
  if (changedBy === undefined) {
    return metadata === undefined && call.metadata === undefined ? withArgs(call, args) : call
  }
  const changed = call.metadata === undefined ? { by: changedBy } : { by: changedBy, asked: call.args }
  return { ...withArgs(call, args), changed }
}

const withArgs = ({ malformed: _malformed, ...call }: ToolCall, args: ToolCall["args"]): ToolCall => ({ ...call, args })
