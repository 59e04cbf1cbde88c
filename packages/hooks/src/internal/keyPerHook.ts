/**
 * State keys by the name that a hook has in its chain. All agents of a tree share `ctx.state`. If a sub-agent brings a
 * hook whose name another hook of the tree has, the runtime names it `hook@agent`, and it counts under keys of its own.
 */
import type * as HookState from "@belay/core/HookState"

/** Returns a function that makes the key for a name once. */
export const keyPerHook = <A>(
  make: (hook: string) => HookState.StateKey<A>
): (hook: string) => HookState.StateKey<A> => {
  const keys = new Map<string, HookState.StateKey<A>>()
  return (hook) => {
    const known = keys.get(hook)
    if (known !== undefined) return known
    const key = make(hook)
    keys.set(hook, key)
    return key
  }
}
