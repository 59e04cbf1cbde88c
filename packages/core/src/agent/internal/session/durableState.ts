/** What hooks keep beyond the process, in three scopes: the conversation, the turn, one tool call. */
import type { RunState } from "../../../data/RunState.ts"
import * as HookState from "../../../hook/HookState.ts"

type Stored = NonNullable<RunState["durable"]>

/** A class because there may be ten thousand sessions: a scope that nobody uses is not built. */
export class DurableState implements HookState.Durable<HookState.Store> {
  readonly conversation: HookState.Store
  turn: HookState.Store
  private readonly calls: Map<string, HookState.Store>

  constructor(stored: Stored | undefined) {
    this.conversation = HookState.make(stored?.conversation)
    this.turn = HookState.make(stored?.turn)
    this.calls = new Map(Object.entries(stored?.calls ?? {}).map(([id, values]) => [id, HookState.make(values)]))
  }

  call(key: string): HookState.Store {
    const known = this.calls.get(key)
    if (known !== undefined) return known
    const made = HookState.make()
    this.calls.set(key, made)
    return made
  }

  /** Drops what was kept for one tool call. */
  endCall(key: string): void {
    this.calls.delete(key)
  }

  /** Drops what was kept for the turn and its calls. */
  endTurn(): void {
    this.turn = HookState.make()
    this.calls.clear()
  }

  snapshot(): Stored {
    return {
      conversation: this.conversation.snapshot(),
      turn: this.turn.snapshot(),
      calls: Object.fromEntries([...this.calls].map(([key, values]) => [key, values.snapshot()]))
    }
  }
}
