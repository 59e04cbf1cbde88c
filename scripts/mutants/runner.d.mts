/** What a run of tests found. */
export interface Ran {
  readonly failed: ReadonlyArray<{ readonly file: string; readonly title: string }>
  readonly ms: number
}

/** A worker with a warm vitest. */
export interface Runner {
  readonly stop: () => void
  readonly tests: () => Promise<ReadonlyArray<string>>
  readonly run: (
    files: ReadonlyArray<string>,
    changed: ReadonlyArray<string>,
    limitMs: number
  ) => Promise<Ran | undefined>
}

export const makeRunner: (
  tree: string,
  options?: { readonly env?: { readonly [name: string]: string }; readonly options?: object }
) => Runner
