/**
 * Where hooks come from that nobody wrote into the program: files, folders, a database.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "../hook/AgentHook.ts"

/** What a source has for an agent. @category models @since 0.1.0 */
export interface SourcedHooks {
  readonly hooks: ReadonlyArray<AgentHook>
  /** What does not count as it is written, a line each: logged when the agent is made. */
  readonly warnings?: ReadonlyArray<string>
}

/**
 * Gives an agent hooks when it is made. A source that throws keeps the agent from being made: with a `ConfigError` in
 * its own words.
 *
 * @category models
 * @since 0.1.0
 */
export interface HookSource {
  readonly name: string
  readonly load: (place: { readonly cwd: string }) => SourcedHooks
}
