/**
 * What the conversation shows of calls that ran with other arguments than the model wrote: the arguments that the tool
 * got, and a note that says who changed them.
 *
 * A vendor may have signed a call that has metadata. Such a call keeps the model's arguments beside the others, so that
 * the provider can send the vendor exactly what it signed; the note then contains the arguments that ran.
 */
import type { AssistantMessage, ToolCall } from "../../../data/Message.ts"
import type { CallState } from "../../../data/RunState.ts"
import { messageOf } from "../../../data/text/ErrorMessage.ts"
import type { ArgumentChange } from "../../AgentConfig.ts"
import type { Turn } from "../turn/turn.ts"
import { sameJson } from "./schema/sameValue.ts"

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
  // Defaults alone are no reason to change what a vendor has stored or signed.
  if (changedBy === undefined) {
    return metadata === undefined && call.metadata === undefined ? withArgs(call, args) : call
  }
  const changed = call.metadata === undefined ? { by: changedBy } : { by: changedBy, asked: call.args }
  return { ...withArgs(call, args), changed }
}

const withArgs = ({ malformed: _malformed, ...call }: ToolCall, args: ToolCall["args"]): ToolCall => ({ ...call, args })

/** Adds the note about a finished call, if it ran with changed arguments. */
export const noteChange = (turn: Turn, { call, changedBy, executedArgs: args }: CallState): void => {
  if (args === undefined || changedBy === undefined || sameJson(args, call.args)) return
  const isSigned = call.metadata !== undefined
  const note = noteOf(turn, { callId: call.id, tool: call.name, by: changedBy, args, isSigned })
  if (note !== undefined && note !== "") turn.scope.inject(note, undefined, "runtime")
}

const noteOf = (turn: Turn, change: ArgumentChange): string | undefined => {
  const { changeNote = defaultNote } = turn.agent.config
  // oxlint-disable-next-line belay/no-try -- the function of the host is called on a synchronous path
  try {
    const note: unknown = changeNote(change)
    if (note === undefined || typeof note === "string") return note
    turn.io.warn("changeNote did not return a text, so the default note is used", "runtime")
  } catch (error) {
    turn.io.warn(`changeNote failed, so the default note is used: ${messageOf(error)}`, "runtime")
  }
  return defaultNote(change)
}

/** The maximum length of arguments in a note. */
const maxLength = 2_000

const defaultNote = ({ args, by, callId, isSigned, tool }: ArgumentChange): string => {
  const changed = `The arguments of ${tool} (call ${callId}) were changed by ${by.join(" and ")} before it ran.`
  if (!isSigned) return `${changed} The call above shows the arguments that it ran with.`
  const text = JSON.stringify(args)
  return `${changed} It ran with ${text.length > maxLength ? `${text.slice(0, maxLength)}…` : text}.`
}
