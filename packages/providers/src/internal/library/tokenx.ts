/** The library for bundlers. Without a bundler, `lazy.ts` takes its place. */
import * as library from "tokenx"

export const tokenx = (): typeof library => library
