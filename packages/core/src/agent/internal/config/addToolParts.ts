/** Adds what tools bring to a configuration: hooks and texts for the instructions. */
import type { AgentConfig } from "../../AgentConfig.ts"

/** Returns the configuration with the hooks and the instructions of its tools. */
export const addToolParts = (config: AgentConfig): AgentConfig => {
  const { hooks = [], instructions, tools = [] } = config
  const brought = new Set(tools.flatMap((tool) => tool.hooks ?? []))
  const texts = new Set(tools.flatMap((tool) => tool.instructions ?? []))
  if (brought.size + texts.size === 0) return config
  return {
    ...config,
    hooks: [...new Set([...hooks, ...brought])],
    ...(texts.size === 0
      ? {}
      : { instructions: [...(instructions === undefined ? [] : [instructions]), ...texts].join("\n\n") })
  }
}
