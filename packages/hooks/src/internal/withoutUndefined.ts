/** Copies an object without its undefined properties. */

/** `T`, where optional properties may also be `undefined`. */
export type Undefinable<T> = {
  readonly [K in keyof T]: T[K] | (T extends { readonly [P in K]: unknown } ? never : undefined)
}

/**
 * Returns a copy without the properties that are `undefined`. Use it to build an object with optional properties, which
 * must be absent rather than `undefined`: `withoutUndefined<AgentHook>({ name, preTurn: isActive ? f : undefined })`.
 */
export const withoutUndefined = <T extends object>(object: Undefinable<T>): T =>
  // Only optional properties can be undefined, and these may be absent from `T`.
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as T
