/** The default tool dispatcher: calls the functions of the agent's tools. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { ConfigError } from "../../../data/AgentError.ts"
import { copy } from "../../../data/internal/copyJson.ts"
import type { ToolMeta } from "../../../data/tool/Tool.ts"
import { read, type ToolSchema } from "../../../guard/internal/schema/toolSchema.ts"
import type { ToolDispatcher } from "../../../port/ToolDispatcher.ts"
import type { AnyTool } from "../../defineTool.ts"
import { executeTool } from "./executeTool.ts"

/** Makes a dispatcher. Fails with a `ConfigError` if two tools have the same name or a schema cannot be used. */
export const make = (tools: ReadonlyArray<AnyTool>): Result.Result<ToolDispatcher, ConfigError> => {
  const known = new Map<string, { readonly tool: AnyTool; readonly schema: ToolSchema }>()
  const metas: Array<ToolMeta> = []
  for (const tool of tools) {
    if (typeof tool.name !== "string" || !/^[A-Za-z0-9_.-]{1,64}$/.test(tool.name)) {
      return Result.fail(
        new ConfigError({
          key: "tools",
          message: `tool name "${tool.name}" must be 1 to 64 letters, digits, "_", "-" or "."`
        })
      )
    }
    if (known.has(tool.name)) {
      return Result.fail(
        new ConfigError({ key: `tools.${tool.name}`, message: `two tools are named "${tool.name}": rename one` })
      )
    }
    const schema = read(tool)
    if (Result.isFailure(schema)) return Result.fail(schema.failure)
    known.set(tool.name, { tool, schema: schema.success })
    metas.push(metaOf(tool, schema.success))
  }
  return Result.succeed({
    tools: metas,
    decode: ({ name }, args) => {
      const decoded = known.get(name)!.schema.decode(args)
      return decoded instanceof Promise ? Effect.promise(() => decoded) : decoded
    },
    dispatch: (call, _grant, about) => {
      const { schema, tool } = known.get(call.name)!
      // The tool gets a copy, so that changing its arguments does not change the conversation.
      const args = copy(call.args)
      return schema.rich
        ? Effect.flatMap(Effect.promise(() => schema.value(args)), (value) => executeTool(tool, value, call, about))
        : executeTool(tool, args, call, about)
    },
    exclusive: (name) => known.get(name)?.tool.exclusive === true
  })
}

const metaOf = (tool: AnyTool, schema: ToolSchema): ToolMeta =>
  Object.freeze({
    name: tool.name,
    description: tool.description,
    inputSchema: schema.inputSchema,
    ...(tool.readOnly === undefined ? {} : { readOnly: tool.readOnly }),
    ...(tool.destructive === undefined ? {} : { destructive: tool.destructive }),
    ...(tool.idempotent === undefined ? {} : { idempotent: tool.idempotent }),
    ...(tool.openWorld === undefined ? {} : { openWorld: tool.openWorld }),
    ...(tool.deferred === "vendor" ? { deferred: tool.deferred } : {})
  })
