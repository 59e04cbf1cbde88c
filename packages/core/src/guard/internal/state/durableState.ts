/** Durable state of hooks in three scopes: the conversation, the turn and one tool call. */
import type { RunState } from "../../../data/RunState.ts"
import * as HookState from "../../../hook/HookState.ts"

type Stored = NonNullable<RunState["durable"]>

/** A class, because there may be thousands of sessions, and a scope is built only when it is used. */
export class DurableState implements HookState.Durable<HookState.Store> {
  readonly conversation: HookState.Store
  turn: HookState.Store
  private readonly calls: Map<string, HookState.Store>
  /** The changes of deleted parts; a deletion is one of them. */
  private earlier = 0

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

  /** Deletes the state of one tool call. */
  endCall(key: string): void {
    const ended = this.calls.get(key)
    if (ended === undefined) return
    this.earlier += ended.writes() + 1
    this.calls.delete(key)
  }

  /** Deletes the state of the turn and its calls. */
  endTurn(): void {
    this.earlier = this.changes() + 1 - this.conversation.writes()
    this.turn = HookState.make()
    this.calls.clear()
  }

  /** Returns a number that grows with each change. */
  changes(): number {
    let changes = this.earlier + this.conversation.writes() + this.turn.writes()
    for (const call of this.calls.values()) changes += call.writes()
    return changes
  }

  snapshot(): Stored {
    return {
      conversation: this.conversation.snapshot(),
      turn: this.turn.snapshot(),
      calls: Object.fromEntries([...this.calls].map(([key, values]) => [key, values.snapshot()]))
    }
  }
}
