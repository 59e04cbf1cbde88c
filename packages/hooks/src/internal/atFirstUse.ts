/** A value that is made when it is needed first, so that a program that never needs it starts faster. */
export const atFirstUse = <A>(make: () => A): () => A => {
  let made: { readonly value: A } | undefined
  return () => (made ??= { value: make() }).value
}
