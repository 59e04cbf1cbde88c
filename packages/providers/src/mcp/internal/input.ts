/**
 * Uses the JSON Schema of an MCP tool if Belay can read it and its check costs little, and otherwise leaves the check
 * to the server.
 */
import type { Tool } from "@belay/core/defineTool"
import type { Json, JsonObject } from "@belay/core/Json"
import { estimateSchema } from "@belay/core/SchemaCost"
import * as JsonSchema from "effect/JsonSchema"
import * as Result from "effect/Result"
import * as SchemaRepresentation from "effect/SchemaRepresentation"
import type { StandardSchemaV1 } from "effect/StandardSchema"

/** How large all schemas of a server may be together. 1,000 tools of usual size have less than this. */
const maxSize = 50_000

/**
 * Makes a function that returns the input of a tool, for the tools of one server. If one schema could not be read, the
 * agent would otherwise lose all tools of the server. When the schemas together become too large, the others are left
 * to the server.
 */
export const makeReader = (): (schema: JsonObject) => Pick<Tool, "input" | "jsonSchema"> => {
  let left = maxSize
  return (schema) => {
    if (left > 0) {
      const { cost, size } = estimateSchema(schema)
      left -= size
      if (cost === "bounded" && left >= 0 && isReadable(schema)) return { input: schema }
    }
    return { input: anyObject, jsonSchema: schema }
  }
}

const anyObject: StandardSchemaV1<JsonObject> = {
  "~standard": {
    version: 1,
    vendor: "mcp",
    validate: (value) =>
      typeof value === "object" && value !== null && !Array.isArray(value)
        // The check above makes sure that it is an object.
        ? { value: value as JsonObject }
        : { issues: [{ message: "expected an object" }] }
  }
}

/**
 * Whether Belay can build a decoder from a schema. It cannot for references to other documents and for property names
 * by pattern.
 */
const isReadable = (schema: JsonObject): boolean =>
  Result.isSuccess(
    Result.try(() =>
      // The parser checks the document itself.
      SchemaRepresentation.fromJsonSchemaDocument(JsonSchema.fromSchemaDraft2020_12(understood(schema) as never))
    )
  )

/** Keywords that Belay does not check. */
const left: ReadonlySet<string> = new Set([
  "pattern",
  "not",
  "if",
  "then",
  "else",
  "$schema",
  "$id",
  "dependentSchemas",
  "unevaluatedProperties"
])

const understood = (schema: Json, isNames = false): Json => {
  if (Array.isArray(schema)) return schema.map((item: Json) => understood(item))
  if (typeof schema !== "object" || schema === null) return schema
  return Object.fromEntries(
    Object.entries(schema).filter(([key]) => isNames || !left.has(key)).map(([key, value]) => [
      key,
      // A schema contains JSON only.
      understood(value as Json, !isNames && (key === "properties" || key === "$defs" || key === "definitions"))
    ])
  )
}
