/** Maps tools to the names of Cursor. Arguments have the fields of Claude Code, whose names Cursor also uses. */
import type { HookContext } from "@belay/core/HookContext"
import type { Json } from "@belay/core/Json"
import type { ToolMeta } from "@belay/core/Tool"
import { knownCall } from "../shared/delegation.ts"
import type { Known, ToolNames } from "../shared/toolNames.ts"
import { claudeNames, cursorNames } from "./wire.ts"

export interface Call {
  readonly id: string
  readonly name: string
  readonly args: Json
  readonly tool?: ToolMeta | undefined
}

/** A call with the name that Cursor gives to the tool. */
export interface CursorCall extends Known {
  /** The name that Claude Code gives to the tool. */
  readonly claude: string
  /** The name of the tool on its MCP server. Absent for other tools. */
  readonly mcp?: string
}

/** Translates the names that the host gives to its tools from Cursor's words to those of Claude Code. */
export const translated = (names: ToolNames): ToolNames =>
  Object.fromEntries(
    Object.entries(names).map(([tool, said]) => [
      tool,
      typeof said === "string" ? claudeNames[said] ?? said : { ...said, name: claudeNames[said.name] ?? said.name }
    ])
  )

export const cursorCall = (call: Call, names: ToolNames, ctx: HookContext): CursorCall => {
  const known = knownCall(call, names, ctx)
  const mcp = /^mcp__.+?__(.+)$/.exec(known.name)?.[1]
  return {
    ...known,
    claude: known.name,
    name: mcp === undefined ? cursorNames[known.name] ?? known.name : `MCP:${mcp}`,
    ...(mcp === undefined ? {} : { mcp })
  }
}
