/**
 * Runs the entries of a dialect: selects them, runs them at once or in order, and merges their answers. For systems that
 * a host adds to the built-in ones.
 *
 * @since 0.1.0
 */
export { type Effects, methodsOf, onVerdict, type PointEffect } from "./engine/effects.ts"
export { type Engine, make, type Occurrence, type Run } from "./engine/engine.ts"
export type { Setup } from "./engine/setup.ts"
