/** What the dispatcher gets to know of the call that it runs. */
import type { DispatchContext } from "../../../port/ToolDispatcher.ts"
import type { Turn } from "../turn/turn.ts"

/** A class because one is made for every call: what the dispatcher does not ask for is not built. */
export class CallContext implements DispatchContext {
  readonly timeoutMs: number
  private readonly turn: Turn
  private readonly id: string

  constructor(turn: Turn, id: string, timeoutMs: number) {
    this.turn = turn
    this.id = id
    this.timeoutMs = timeoutMs
  }
  get sessionId() {
    return this.turn.session.id
  }
  get idempotencyKey() {
    return `${this.turn.session.id}/${this.turn.state.turnNumber}/${this.id}`
  }
  get cwd() {
    return this.turn.agent.cwd
  }
  get artifacts() {
    return this.turn.agent.artifacts
  }
  get rootSessionId() {
    return this.turn.session.root.id
  }
  onTimeout(expire: () => void) {
    return this.turn.io.deadlines.add(this.timeoutMs, expire)
  }
}
