/** `ctx.state.durable`: what hooks keep beyond the process, for the whole conversation. */
import type * as HookState from "../../../hook/HookState.ts"
import type { Turn } from "../turn/turn.ts"

export const durableState = ({ session }: Turn): HookState.Durable<HookState.Store> => {
  const { durable } = session
  return {
    conversation: durable.conversation,
    turn: durable.turn,
    call: (id) => durable.call(session.durableKey(id))
  }
}
