/** Checks what a test passes. A hook that gets nothing because a name is misspelt would pass every test. */
import { ConfigError } from "@belay/core/AgentError"
import { nearest } from "@belay/core/NamePattern"
import { checkKinds, type OptionKinds, show } from "@belay/core/OptionCheck"
import * as Result from "effect/Result"
import type { Place, World } from "./world.ts"

const placeKinds: OptionKinds<Place> = {
  sessionId: "text",
  turnNumber: "number",
  stepNumber: "number",
  agent: "object",
  cwd: "text"
}

export const worldKinds: OptionKinds<World> = {
  ...placeKinds,
  state: "any",
  llm: "function",
  callTool: "function",
  http: "function",
  mcp: "function",
  mcpTools: "list",
  tools: "list",
  clock: "any"
}

/** Throws a `ConfigError` if these are not options of a test. */
export const checkWorld = (name: string, world: World): void => Result.getOrThrow(checkKinds(name, world, worldKinds))

/** Throws a `ConfigError` if this is not a place. */
export const checkPlace = (name: string, place: Place): void => Result.getOrThrow(checkKinds(name, place, placeKinds))

/** Throws a `ConfigError` if there is no such point. */
export const checkPoint = (name: string, point: string, known: ReadonlyArray<string>): void => {
  if (known.includes(point)) return
  const near = typeof point === "string" ? nearest(point, known) : undefined
  const hint = near === undefined ? "" : `; did you mean ${near}?`
  throw new ConfigError({ key: name, message: `${name}: there is no point ${show(point)}${hint}` })
}
