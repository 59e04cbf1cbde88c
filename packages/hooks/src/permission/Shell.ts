/**
 * Reads shell command lines the way Belay's permission rules read them, without running anything.
 *
 * @since 0.1.0
 */
export { read as parse } from "./internal/lex.ts"
export { interpreters, shells, wrappers } from "./internal/names.ts"
export type { Redirect, Script, Simple, Word } from "./internal/script.ts"
