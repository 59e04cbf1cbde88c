/** The library for bundlers. Without a bundler, `lazy.ts` takes its place. */
import * as library from "jsonrepair"

export const jsonrepair = (): typeof library => library
