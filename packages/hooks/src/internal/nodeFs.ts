/**
 * The module `node:fs`. An `import` would prepare everything that it offers, such as streams, at the start of programs.
 */
export const nodeFs = (): typeof import("node:fs") => process.getBuiltinModule("node:fs")
