/** What one gate writes to states while its point runs, in all rounds in which it is asked. */
import type { StateKey, Store } from "../HookState.ts"
import type { WrittenBy } from "./stateJournal.ts"

/** A class, because a context uses it at every read and write. */
export class HookWrites {
  private by: WrittenBy = { owner: this, round: 0 }
  private readonly written = new Keys()
  /** The keys that the current round has read or written. */
  private touched: Keys | undefined = undefined

  /** The gate is asked again. Its earlier writes no longer count for the keys that it reads or writes now. */
  begin(): void {
    this.by = { owner: this, round: this.by.round + 1 }
    this.touched = new Keys()
  }

  /** The gate has answered again. `keepsEarlier` means that an earlier answer of it still has its effect. */
  settle(keepsEarlier: boolean): void {
    this.touched?.each((store, name) => store.journal.settle(name, this.by, keepsEarlier))
    this.touched = undefined
  }

  /** The point has ended. */
  end(): void {
    this.written.each((store, name) => store.journal.end(name, this))
  }

  /** Returns the value that the gate sees, if it differs from that of the state. */
  read(store: Store, name: string): { readonly value: unknown } | undefined {
    if (this.by.round === 0) return undefined
    this.touched ??= new Keys()
    this.touched.add(store, name)
    return this.written.has(store, name) ? store.journal.takeBack(name, this.by) : undefined
  }

  write<A>(store: Store, key: StateKey<A>, value: A, hook: string, change: ((value: A) => A) | undefined): void {
    // A change that was computed has read the value before.
    if (change === undefined) this.read(store, key.name)
    store.write(key, value, hook, this.by, change)
    this.written.add(store, key.name)
  }
}

/** Keys of states, of which most hooks write a few. The same key may be there twice. */
class Keys {
  private readonly stores: Array<Store> = []
  private readonly names: Array<string> = []

  add(store: Store, name: string): void {
    const last = this.names.length - 1
    if (this.names[last] === name && this.stores[last] === store) return
    this.stores.push(store)
    this.names.push(name)
  }

  has(store: Store, name: string): boolean {
    return this.names.some((one, index) => one === name && this.stores[index] === store)
  }

  each(f: (store: Store, name: string) => void): void {
    for (let index = 0; index < this.names.length; index++) f(this.stores[index]!, this.names[index]!)
  }
}
