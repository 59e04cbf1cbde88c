/** A bug that can be planted: what stands in the source afterwards, and its line before and after. */
export interface Mutation {
  readonly file: string
  readonly kind: string
  readonly start: number
  readonly end: number
  readonly replacement: string
  readonly line: number
  readonly before: string
  readonly after: string
}

export const mutationsOf: (file: string, text: string) => ReadonlyArray<Mutation>
export const planted: (text: string, mutation: Pick<Mutation, "start" | "end" | "replacement">) => string
