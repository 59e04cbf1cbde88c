/** The library for bundlers. Without a bundler, `lazy.ts` takes its place. */
import * as library from "@jmespath-community/jmespath"

export const jmespath = (): typeof library => library
