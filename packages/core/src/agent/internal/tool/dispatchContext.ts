/** What a tool is told of the call it runs for. */
import type { DispatchContext } from "../../../port/ToolDispatcher.ts"
import type { Turn } from "../turn/turn.ts"

/** A class because one is made for every call: what nobody asks for is not built. */
export class About implements DispatchContext {
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
    return `${this.turn.session.id}/${this.turn.turnNumber}/${this.id}`
  }
  get cwd() {
    return this.turn.cwd
  }
  get artifacts() {
    return this.turn.host.artifacts
  }
  get rootSessionId() {
    return this.turn.session.root.id
  }
  onTimeout(expire: () => void) {
    return this.turn.watch.add(this.timeoutMs, expire)
  }
}
