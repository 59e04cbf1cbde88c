/** Recognizes that two hooks do the same, although they are two objects. */
import type { AgentHook } from "../../../hook/AgentHook.ts"

type Hook = AgentHook<never>

/** Whether two hooks are one for a tree of agents: the same object, or made from the same options. */
export const isSameHook = (one: Hook, two: Hook): boolean =>
  one === two ||
  (one.identity !== undefined && one.identity.kind === two.identity?.kind &&
    isEqual(one.identity.options, two.identity.options, 0))

/** Whether two hooks are of one kind, but were made from other options. */
export const isOtherVersion = (one: Hook, two: Hook): boolean =>
  one.identity !== undefined && one.identity.kind === two.identity?.kind && !isSameHook(one, two)

/** Deeper options are compared by identity, so that a cycle ends. */
const maxDepth = 32

/** Compares plain values deeply. Functions and instances of classes are equal only if they are identical. */
const isEqual = (one: unknown, two: unknown, depth: number): boolean => {
  if (Object.is(one, two)) return true
  if (typeof one !== "object" || typeof two !== "object" || one === null || two === null || depth > maxDepth) {
    return false
  }
  if (one instanceof RegExp) return two instanceof RegExp && String(one) === String(two)
  const kind: unknown = Object.getPrototypeOf(one)
  if (kind !== Object.getPrototypeOf(two)) return false
  if (kind !== Object.prototype && kind !== Array.prototype && kind !== null) return false
  // Plain objects and arrays: any key may be read.
  const first = one as { readonly [key: string]: unknown }
  const second = two as { readonly [key: string]: unknown }
  const keys = presentKeys(first)
  return keys.length === presentKeys(second).length &&
    keys.every((key) => Object.hasOwn(second, key) && isEqual(first[key], second[key], depth + 1))
}

/** An option that is undefined is the same as one that is absent. */
const presentKeys = (value: { readonly [key: string]: unknown }): ReadonlyArray<string> =>
  Object.keys(value).filter((key) => value[key] !== undefined)
