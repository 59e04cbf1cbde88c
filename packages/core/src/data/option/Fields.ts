/**
 * Removes fields that are `undefined` from objects.
 *
 * @since 0.1.0
 */

/** The fields of `T`; those that can be `undefined` are optional. @category type-level @since 0.1.0 */
export type Defined<T> =
  & { [K in keyof T as undefined extends T[K] ? never : K]: T[K] }
  & { [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined> }

/**
 * Returns the object without the fields whose value is `undefined`. Use it for optional properties under
 * `exactOptionalPropertyTypes`, where an absent property and one that is `undefined` are different.
 *
 * @example
 * ```ts
 * import { defined } from "@belay/core/Fields"
 *
 * interface Label {
 *   readonly id: number
 *   readonly title?: string
 * }
 * const label = (title: string | undefined): Label => defined({ id: 1, title })
 * ```
 * @category operations
 * @since 0.1.0
 */
export const defined = <T extends object>(fields: T): Defined<T> =>
  // `fromEntries` keeps a field `__proto__` as a field. The fields that are left are those of the type.
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>
