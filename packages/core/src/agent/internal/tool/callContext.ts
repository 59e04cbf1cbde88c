/** The context of a call for the dispatcher. */
import type { DispatchContext } from "../../../port/ToolDispatcher.ts"
import type { Turn } from "../turn/turn.ts"

/** A class, because every call makes one, and each part is built only when the dispatcher uses it. */
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
