/** Adds the parts of plugins to a configuration. */
import * as Result from "effect/Result"
import type { ConfigError } from "../../../data/AgentError.ts"
import { invalidOption } from "../../../data/option/OptionCheck.ts"
import type { AgentConfig } from "../../AgentConfig.ts"
import type { Plugin } from "../../Plugin.ts"

/** The parts that an agent has once. */
const singleParts = ["memory", "policy", "mcp", "store"] as const

/** Returns the configuration with the parts of its plugins. Fails if two places provide a part that exists once. */
export const addPlugins = (config: AgentConfig): Result.Result<AgentConfig, ConfigError> => {
  const { plugins = [], ...own } = config
  if (plugins.length === 0) return Result.succeed(config)
  const added = <K extends "hooks" | "hookSources" | "tools" | "providers">(key: K) =>
    // Each plugin has a list of the same type at this key, or none.
    plugins.flatMap((plugin) => plugin[key] ?? []) as unknown as NonNullable<Plugin[K]>
  const single: { [K in (typeof singleParts)[number]]?: unknown } = {}
  for (const key of singleParts) {
    const places = [{ name: "config", [key]: own[key] }, ...plugins].filter((place: Plugin) => place[key] !== undefined)
    if (places.length > 1) {
      const names = places.map(({ name }) => name).join(" and ")
      return invalidOption(key, `comes from ${names}: only one can provide it`)
    }
    if (places.length === 1) single[key] = (places[0] as Plugin)[key]
  }
  return Result.succeed({
    ...own,
    // The parts were read from the plugins under the same keys.
    ...single as Pick<AgentConfig, (typeof singleParts)[number]>,
    // Its items are checked together later; a missing provider stays the first.
    provider: [own.provider, ...added("providers")].flat() as unknown as AgentConfig["provider"],
    hooks: [...(own.hooks ?? []), ...added("hooks")],
    hookSources: [...(own.hookSources ?? []), ...added("hookSources")],
    tools: [...(own.tools ?? []), ...added("tools")]
  })
}
