/**
 * Sources of hooks outside of the program: files, folders, a database.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "../hook/AgentHook.ts"

/** What a source has for an agent. @category models @since 0.1.0 */
export interface SourcedHooks {
  readonly hooks: ReadonlyArray<AgentHook>
  /** Problems that were found, one line each; they are logged when the agent is made. */
  readonly warnings?: ReadonlyArray<string>
}

/**
 * Gives an agent hooks when it is made. When a source throws, the agent cannot be made: `createAgent` throws the
 * source's `ConfigError`, or one with its message.
 *
 * @category models
 * @since 0.1.0
 */
export interface HookSource {
  readonly name: string
  readonly load: (place: { readonly cwd: string }) => SourcedHooks
}
