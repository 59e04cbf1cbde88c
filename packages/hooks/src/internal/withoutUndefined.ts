/** `defined` of the core for an object whose type is given, so that its functions have typed parameters. */
import { defined } from "@belay/core/Fields"

/** `T`, where optional properties may also be `undefined`. */
export type Undefinable<T> = {
  readonly [K in keyof T]: T[K] | (T extends { readonly [P in K]: unknown } ? never : undefined)
}

/**
 * Returns a copy without the properties that are `undefined`, which must be absent in a `T`. Use it for hooks with
 * optional methods: `withoutUndefined<AgentHook>({ name, preTurn: isActive ? (input) => … : undefined })`.
 */
export const withoutUndefined = <T extends object>(object: Undefinable<T>): T =>
  // Only optional properties of `T` can be undefined here, and these may be absent.
  defined(object) as T
