/** `ctx.state.durable`: state of hooks that outlives the process. */
import type * as HookState from "../../../hook/HookState.ts"
import type { GuardTurn } from "../point/guardTurn.ts"

export const durableState = ({ session }: GuardTurn): HookState.Durable<HookState.Store> => {
  const { durable } = session
  return {
    conversation: durable.conversation,
    turn: durable.turn,
    call: (id) => durable.call(session.durableKey(id))
  }
}
