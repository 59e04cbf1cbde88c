/** An object without the fields whose value is `undefined`, for types with optional fields. */

type Defined<T> =
  & { readonly [K in keyof T as undefined extends T[K] ? never : K]: T[K] }
  & { readonly [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined> }

/** Leaves out the fields whose value is `undefined`. */
export const defined = <T extends object>(fields: T): Defined<T> =>
  // The compiler does not follow which fields a filter leaves out.
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>
