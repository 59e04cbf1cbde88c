/**
 * The hooks of Belay inside agents that are not written with Belay. Each adapter is a sub-path, for example
 * `@belay/guard/AiSdk`.
 *
 * @since 0.2.0
 */
export * as Coverage from "./Coverage.ts"
export * as Guard from "./Guard.ts"
export { GuardError } from "./GuardError.ts"
