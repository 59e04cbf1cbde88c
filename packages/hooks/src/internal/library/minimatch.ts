/** The library for bundlers. Without a bundler, `lazy.ts` takes its place. */
import * as library from "minimatch"

export const minimatch = (): typeof library => library
