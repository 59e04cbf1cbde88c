/**
 * Keys whose values only one hook makes. What the hook writes has the type of the key already, so it is not checked
 * again. What comes from a snapshot is checked as always.
 */
import * as HookState from "@belay/core/HookState"

/** A key of a hook, and the function with which the hook marks the values that it makes. */
export interface OwnedKey<in out A> {
  readonly keyOf: HookState.HookKey<A>
  readonly made: <B extends A>(value: B) => B
}

/** Makes a key for the writes of the hook itself. Others read the same values with `key`. */
export const ownedKey = <A extends object>(key: HookState.HookKey<A>): OwnedKey<A> => {
  /** A value is written at once when it was made. */
  let last: A | undefined
  const keys = new Map<string, HookState.StateKey<A>>()
  const keyOf = (hook: string): HookState.StateKey<A> => {
    const known = keys.get(hook)
    if (known !== undefined) return known
    const checked = key(hook)
    const is = (value: unknown): value is A => (value !== undefined && value === last) || checked.is(value)
    const owned = { ...checked, is }
    keys.set(hook, owned)
    return owned
  }
  return {
    keyOf: Object.assign(keyOf, { key: key.key }),
    made: (value) => {
      last = value
      return value
    }
  }
}
