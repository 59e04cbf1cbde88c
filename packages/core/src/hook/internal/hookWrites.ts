/** What one gate writes to states while its point runs, in all rounds in which it is asked. */
import type { StateKey, Store } from "../HookState.ts"
import type { WrittenBy } from "./stateJournal.ts"

/** A class, because a context uses it at every read and write. */
export class HookWrites {
  private by: WrittenBy = { owner: this, round: 0 }
  private readonly names = new Map<Store, Set<string>>()
  /** The keys that the current round has read or written. */
  private touched = new Map<Store, Set<string>>()

  /** The gate is asked again. Its earlier writes no longer count for the keys that it reads or writes now. */
  begin(): void {
    this.by = { owner: this, round: this.by.round + 1 }
    this.touched = new Map()
  }

  /** The gate has answered again. `keepsEarlier` means that an earlier answer of it still has its effect. */
  settle(keepsEarlier: boolean): void {
    for (const [store, names] of this.touched) {
      for (const name of names) store.journal.settle(name, this.by, keepsEarlier)
    }
    this.touched = new Map()
  }

  /** The point has ended. */
  end(): void {
    for (const [store, names] of this.names) for (const name of names) store.journal.end(name, this)
  }

  /** Returns the value that the gate sees, if it differs from that of the state. */
  read(store: Store, name: string): { readonly value: unknown } | undefined {
    if (this.by.round === 0) return undefined
    addTo(this.touched, store, name)
    return this.names.get(store)?.has(name) === true ? store.journal.takeBack(name, this.by) : undefined
  }

  write<A>(store: Store, key: StateKey<A>, value: A, hook: string, change: ((value: A) => A) | undefined): void {
    // A change that was computed has read the value before.
    if (change === undefined) this.read(store, key.name)
    store.write(key, value, hook, { ...this.by, change: change ?? (() => value) })
    addTo(this.names, store, key.name)
  }
}

const addTo = (map: Map<Store, Set<string>>, store: Store, name: string): void => {
  const names = map.get(store)
  if (names === undefined) map.set(store, new Set([name]))
  else names.add(name)
}
