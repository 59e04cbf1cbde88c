/** What the AI SDK tells the model about tools. */
import type { JsonObject } from "@belay/core/Json"
import { asSchema, type ToolSet } from "ai"
import { jsonOf } from "../json.ts"
import type { Described } from "../place.ts"

type AnyTool = ToolSet[string]

/** A class, because it keeps the descriptions that were read. */
export class DescribedTools {
  private readonly tools = new Map<string, AnyTool>()
  private readonly known = new Map<string, Promise<Described>>()

  /** Makes a tool known. */
  add(name: string, tool: AnyTool): void {
    if (this.tools.get(name) === tool) return
    this.tools.set(name, tool)
    this.known.delete(name)
  }

  /** Returns what is known about a tool. */
  readonly describe = (name: string): Promise<Described> => {
    const known = this.known.get(name) ?? this.read(name)
    this.known.set(name, known)
    return known
  }

  private async read(name: string): Promise<Described> {
    const tool = this.tools.get(name)
    if (tool === undefined) return {}
    const { description, inputSchema } = tool
    // It is the JSON Schema that the model reads.
    const schema = jsonOf(await asSchema(inputSchema).jsonSchema) as JsonObject
    return { inputSchema: schema, ...(typeof description === "string" ? { description } : {}) }
  }
}
