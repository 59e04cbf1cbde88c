/** The identity of hooks of files. */
import type { AgentHook } from "@belay/core/AgentHook"
import * as Discovery from "../discovery/Discovery.ts"
import type { Options } from "../HookFiles.ts"

/** Hooks of the same files and options are one hook in a tree of agents. `sources` and `scopes` only choose files. */
export const identified = (
  hooks: ReadonlyArray<AgentHook>,
  sources: ReadonlyArray<Discovery.Source>,
  { cwd: _cwd, scopes: _scopes, sources: _sources, ...options }: Options
): ReadonlyArray<AgentHook> => {
  const files = sources.map(({ path, text }) => ({ path, text }))
  return hooks.map((hook) => ({ ...hook, identity: { kind: `hook-files ${hook.name}`, options: { files, options } } }))
}
