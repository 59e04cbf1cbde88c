/**
 * Sources of hooks outside of the program, such as files or a database.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "../hook/AgentHook.ts"

/** The hooks that a source has for an agent. @category models @since 0.1.0 */
export interface SourcedHooks {
  readonly hooks: ReadonlyArray<AgentHook>
  /** The problems that the source found, one line each. They are logged when the agent is made. */
  readonly warnings?: ReadonlyArray<string>
}

/**
 * Loads hooks when an agent is made. If a source throws a `ConfigError`, `createAgent` throws that error. If it throws
 * anything else, `createAgent` throws a `ConfigError` with its message.
 *
 * @category models
 * @since 0.1.0
 */
export interface HookSource {
  readonly name: string
  readonly load: (place: { readonly cwd: string }) => SourcedHooks
}
