/** What the AI SDK tells the model about tools. */
import type { JsonObject } from "@belay/core/Json"
import { asSchema, type ToolSet } from "ai"
import { jsonOf } from "../json.ts"
import type { Described } from "../place.ts"
import { hintsOf } from "../toolHints.ts"

type AnyTool = ToolSet[string]

/** What was read of a tool. Reading a schema takes much longer than a call. */
const known = new WeakMap<AnyTool, Promise<Described>>()

/** A class, because conversations have tools of the same names. */
export class DescribedTools {
  private readonly tools = new Map<string, AnyTool>()

  /** Makes a tool known. */
  add(name: string, tool: AnyTool): void {
    this.tools.set(name, tool)
  }

  /** Returns the tool of the program with this name. */
  find(name: string): AnyTool | undefined {
    return this.tools.get(name)
  }

  /** Returns what is known about a tool. */
  readonly describe = async (name: string): Promise<Described> => {
    const tool = this.tools.get(name)
    if (tool === undefined) return {}
    const found = known.get(tool) ?? read(tool)
    known.set(tool, found)
    return await found
  }
}

const read = async (tool: AnyTool): Promise<Described> => {
  const { description, inputSchema, metadata } = tool as AnyTool & {
    readonly metadata?: { readonly annotations?: unknown }
  }
  // It is the JSON Schema that the model reads.
  const schema = jsonOf(await asSchema(inputSchema).jsonSchema) as JsonObject
  return {
    inputSchema: schema,
    ...(typeof description === "string" ? { description } : {}),
    // Those of an MCP server.
    ...hintsOf(metadata?.annotations)
  }
}
