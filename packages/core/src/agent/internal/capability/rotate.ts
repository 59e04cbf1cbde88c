/** `ctx.rotate`: requests a fresh session before the next model call. */
import type { GuardTurn } from "../../../guard/internal/point/guardTurn.ts"

export const requestRotation = ({ io, session }: GuardTurn, hook: string): void => {
  if (session.root !== session) {
    return io.warn("a sub-agent's session is not rotated: it ends when the sub-agent is done", hook)
  }
  if (session.rotation !== undefined) return
  session.rotation = { by: hook }
  io.publish({ type: "rotation", step: "loads-refused", from: session.id })
}
