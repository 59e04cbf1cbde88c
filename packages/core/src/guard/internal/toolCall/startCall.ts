/** Starts a tool call that the guard allowed. */
import type { PreToolCallEvent } from "../../../data/tool/Tool.ts"
import type { GuardTurn } from "../point/guardTurn.ts"
import { type RunningCall, update } from "../state/toolCallState.ts"

/** Notes that the tool is about to run, and with which arguments. */
export const startCall = (running: RunningCall, { args }: PreToolCallEvent): void =>
  update(running, { type: "start", args: args === running.state.call.args ? undefined : args })

/** Sends the event that the tool starts. */
export const publishStart = (
  { io }: GuardTurn,
  { state: { changedBy } }: RunningCall,
  event: PreToolCallEvent
): void => {
  if (!io.hasListeners) return
  const { args, id, name } = event
  const changed = changedBy === undefined ? {} : { changed: { by: changedBy } }
  io.publish({ type: "tool-start", call: { id, name, args, ...changed } })
}
