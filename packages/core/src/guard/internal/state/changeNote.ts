/** The note that the model reads with the result of a call whose arguments somebody changed. */
import type { CallState } from "../../../data/RunState.ts"
import { messageOf } from "../../../data/text/ErrorMessage.ts"
import type { ArgumentChange } from "../../../data/tool/Tool.ts"
import { sameJson } from "../schema/sameValue.ts"

/** Returns the note about a call, if it ran with changed arguments. */
export const noteAbout = (
  { changeNote = defaultNote }: { readonly changeNote?: (change: ArgumentChange) => string | undefined },
  warn: (message: string) => void,
  { call, changedBy, executedArgs: args }: CallState
): string | undefined => {
  if (args === undefined || changedBy === undefined || sameJson(args, call.args)) return undefined
  const change = { callId: call.id, tool: call.name, by: changedBy, args, isSigned: call.metadata !== undefined }
  // oxlint-disable-next-line belay/no-try -- the function of the host is called on a synchronous path
  try {
    const note: unknown = changeNote(change)
    if (note === undefined || typeof note === "string") return note
    warn("changeNote did not return a text, so the default note is used")
  } catch (error) {
    warn(`changeNote failed, so the default note is used: ${messageOf(error)}`)
  }
  return defaultNote(change)
}

/** The maximum length of arguments in a note. */
const maxLength = 2_000

const defaultNote = ({ args, by, isSigned, tool }: ArgumentChange): string => {
  const changed = `Note: the arguments of this call of ${tool} were changed by ${by.join(" and ")} before it ran.`
  if (!isSigned) return `${changed} The call shows the arguments that it ran with.`
  const text = JSON.stringify(args)
  return `${changed} It ran with ${text.length > maxLength ? `${text.slice(0, maxLength)}…` : text}.`
}
