import type { Runner } from "./runner.mjs"

/** A test file that fails without a bug, and what failed in it. */
export interface Failing {
  readonly test: string
  readonly failure: string
}

export const failingTests: (
  tests: ReadonlyArray<{ readonly test: string; readonly ms: number }>,
  runners: ReadonlyArray<{ readonly runner: Runner; readonly tree: string }>
) => Promise<ReadonlyArray<Failing>>
