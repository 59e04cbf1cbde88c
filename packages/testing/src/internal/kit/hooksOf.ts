/** The hooks that a program gives: one, or a list. */
import type { AgentHook } from "@belay/core/AgentHook"
import { assertArguments } from "@belay/core/ArgumentCheck"

/** Returns a list of hooks. Throws a `ConfigError` that names the function `name` for any other value. */
export const hooksOf = (name: string, given: AgentHook | ReadonlyArray<AgentHook>): ReadonlyArray<AgentHook> => {
  if (isHook(given)) return [given as AgentHook]
  // It was not one hook.
  assertArguments(Array.isArray(given) && given.every(isHook), name, ["hook"], [given])
  return given as ReadonlyArray<AgentHook>
}

/** Whether a value has the name that every hook has. */
export const isHook = (value: unknown): boolean =>
  typeof value === "object" && value !== null && "name" in value && typeof value.name === "string"
