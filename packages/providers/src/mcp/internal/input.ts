/**
 * Uses the JSON Schema of an MCP tool if Belay can read it and its check costs little, and otherwise leaves the check
 * to the server.
 */
import type { Tool } from "@belay/core/defineTool"
import type { Json, JsonObject } from "@belay/core/Json"
import { schemaCost } from "@belay/core/SchemaCost"
import * as JsonSchema from "effect/JsonSchema"
import * as Result from "effect/Result"
import * as SchemaRepresentation from "effect/SchemaRepresentation"
import type { StandardSchemaV1 } from "effect/StandardSchema"

/**
 * Returns the input of a tool. If one schema could not be read, the agent would otherwise lose all tools of the server.
 */
export const of = (schema: JsonObject): Pick<Tool, "input" | "jsonSchema"> =>
  schemaCost(schema) === "bounded" && isReadable(schema) ? { input: schema } : { input: anyObject, jsonSchema: schema }

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
      key === "const" || key === "enum" || key === "default"
        ? value
        // A schema contains JSON only.
        : understood(value as Json, !isNames && (key === "properties" || key === "$defs" || key === "definitions"))
    ])
  )
}
