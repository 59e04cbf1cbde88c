/** Shows tools that delegate to another agent as the tool `Agent` of Claude Code. */
import type { HookContext } from "@belay/core/HookContext"
import type { Json, JsonObject } from "@belay/core/Json"
import type { ToolMeta } from "@belay/core/Tool"
import * as Result from "effect/Result"
import { isFields } from "../../internal/fields.ts"
import { type Known, known, nameOf, type ToolNames } from "./toolNames.ts"

const isDelegation = ({ name, tool }: Called, names: ToolNames, ctx: HookContext): boolean =>
  (tool === undefined || takesMessage(tool)) && !Object.hasOwn(names, name) &&
  // The list of tools is made for each reader, so it is not read for other tools.
  toolsOf(ctx).some((one) => one.delegates && one.name === name && takesMessage(one))

/** The only argument of a delegation. `message_agent` also takes the id of an agent that was started before. */
const takesMessage = ({ inputSchema: { properties } }: ToolMeta): boolean =>
  isFields(properties) && Object.keys(properties).join() === "message"

/** A chain that runs without an agent has no tools: there `ctx.tools` throws. */
const toolsOf = (ctx: HookContext): HookContext["tools"] => Result.getOrElse(Result.try(() => ctx.tools), () => [])

/** Returns the name of a tool for scripts. */
export const toolNameOf = (call: Called, names: ToolNames, ctx: HookContext): string =>
  isDelegation(call, names, ctx) ? "Agent" : nameOf(call.name, names)

interface Called {
  readonly name: string
  readonly tool?: ToolMeta | undefined
}

interface Call extends Called {
  readonly args: Json
}

/**
 * Converts a call to the format of scripts. A delegation has the fields `subagent_type`, `description` and `prompt`.
 */
export const knownCall = ({ args, name, tool }: Call, names: ToolNames, ctx: HookContext): Known => {
  if (!isDelegation({ name, tool }, names, ctx)) return known(name, args, names, ctx.cwd, tool)
  const one = known(name, args, { [name]: { name: "Agent", fields: { message: "prompt" } } }, ctx.cwd, tool)
  const agent = name.replace(/^(?:delegate|transfer)_to_(?=.)/, "")
  const added: JsonObject = { subagent_type: agent, description: tool?.description ?? agent }
  return {
    ...one,
    input: { ...added, ...one.input },
    back: (input) =>
      one.back(
        Object.fromEntries(
          Object.entries(input).filter(([field]) => !Object.hasOwn(added, field) || Object.hasOwn(one.input, field))
        )
      )
  }
}
