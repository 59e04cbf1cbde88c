/** Defines what Factory's Droid does differently from Claude Code. */
import type { JsonObject } from "@belay/core/Json"
import type { Finished } from "../../process/Command.ts"
import type { Work } from "../../runner/Runners.ts"
import type { Answer } from "../claude/answer/answer.ts"
import { read } from "../claude/answer/readAnswer.ts"
import type { EventName } from "../claude/event/events.ts"
import { claude, type Flavor } from "../claude/input/flavor.ts"
import type { ToolNames } from "../shared/toolNames.ts"
import { camel, toolNames } from "./wire.ts"

/** Translates names that the host gives to its tools from Droid's words to those of Claude Code. */
export const translated = (names: ToolNames): ToolNames => {
  const back = new Map(Object.entries(toolNames).map(([claude, own]) => [own, claude]))
  return Object.fromEntries(
    Object.entries(names).map(([tool, said]) => [
      tool,
      typeof said === "string" ? back.get(said) ?? said : { ...said, name: back.get(said.name) ?? said.name }
    ])
  )
}

const permissionModes: { readonly [claude: string]: string } = {
  default: "off",
  plan: "spec",
  acceptEdits: "auto-low",
  auto: "auto-medium",
  dontAsk: "auto-medium",
  bypassPermissions: "auto-high"
}

const inBoth = (payload: JsonObject): JsonObject => {
  const mode = payload["permission_mode"]
  const own = typeof mode === "string" ? { ...payload, permission_mode: permissionModes[mode] ?? mode } : payload
  const more = Object.entries(own).flatMap(([name, value]) =>
    Object.hasOwn(camel, name) ? [[camel[name]!, value] as const] : []
  )
  return { ...own, ...Object.fromEntries(more) }
}

/** Nothing stops a compaction: standard error is for the user. */
const readLoosely = (finished: Finished, event: EventName, work: Work): Answer => {
  const answer = read(finished, event, work)
  if (event !== "PreCompact" || answer.blocked === undefined || answer.stop !== undefined) return answer
  const { blocked, ...rest } = answer
  return {
    ...rest,
    outcome: "nonBlockingError",
    problem: "cannot block a compaction",
    messages: [...rest.messages, blocked]
  }
}

const { failureOf: _failureOf, ...shared } = claude

export const factory: Flavor = {
  ...shared,
  name: "factory",
  assistant: "Droid",
  read: readLoosely,
  timeout: 60,
  projectVariables: ["FACTORY_PROJECT_DIR", "CLAUDE_PROJECT_DIR"],
  pluginPrefixes: ["DROID_", "CLAUDE_"],
  shownTool: (tool) => toolNames[tool] ?? tool,
  // Older files use the names of Claude Code.
  aliases: (tool) =>
    Object.hasOwn(toolNames, tool) ? [toolNames[tool]!, ...claude.aliases(tool)] : claude.aliases(tool),
  inputFields: () => ({}),
  shape: inBoth
}
