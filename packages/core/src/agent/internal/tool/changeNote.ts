/** The note that the model reads when somebody changed the arguments of its call. */
import type { CallState } from "../../../data/RunState.ts"
import { messageOf } from "../../../data/text/ErrorMessage.ts"
import type { ArgumentChange } from "../../AgentConfig.ts"
import type { Turn } from "../turn/turn.ts"
import { sameJson } from "./schema/sameValue.ts"

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
