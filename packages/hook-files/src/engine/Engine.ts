/**
 * Selects the entries of a dialect, runs them, and merges their answers. Use it to add a system to the built-in ones.
 *
 * @since 0.1.0
 */
export { type Effects, methodsOf, onVerdict, type PointEffect } from "./effects.ts"
export { type Engine, make, type Occurrence, type Run } from "./runEntries.ts"
export type { Setup } from "./setup.ts"
