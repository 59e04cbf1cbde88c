/** The library for bundlers. Without a bundler, `lazy.ts` takes its place. */
import * as library from "re2js"

export const re2js = (): typeof library => library
