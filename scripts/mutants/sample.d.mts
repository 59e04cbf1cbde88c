export const sampled: <A extends { readonly file: string }>(
  items: ReadonlyArray<A>,
  groupOf: (file: string) => string | undefined,
  size: number,
  seed: string
) => ReadonlyArray<A>
