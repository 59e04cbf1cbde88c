/** Tools that a program would run without the guard, and values that are not tools. */
import { ConfigError } from "@belay/core/AgentError"
import type { Place } from "./place.ts"

/** Throws a `ConfigError` for a tool that is not wrapped, unless the program accepts the gap. */
export const refuseUnguarded = ({ guard: { allowUnguarded } }: Place, name: string, wrap: string): void => {
  if (allowUnguarded.includes(name)) return
  throw new ConfigError({
    key: `tools.${name}`,
    message: `tools.${name}: the guard has the model, but not this tool, so it would run unguarded: ${wrap}, ` +
      `or accept the gap: allowUnguarded: ["${name}"]`
  })
}

/** Throws a `ConfigError` if this is not an object of tools. */
export const toolsOf = <T extends object>(tools: T): T => {
  if (typeof tools === "object" && tools as unknown !== null && !Array.isArray(tools)) return tools
  throw new ConfigError({ key: "tools", message: "tools: expected an object with the tools by name" })
}
