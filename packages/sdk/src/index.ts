/**
 * What most programs need, with one import: agents and tools, hooks and the ready-made ones, models and stores. It is
 * `@belay/core`, `@belay/hooks` and `@belay/providers`, and adds nothing.
 *
 * @since 0.2.0
 */
export * from "@belay/core"
export * from "@belay/hooks"
export * from "@belay/providers"
