/** Turns an Effect Schema into a JSON Schema, and back. */
import * as JsonSchema from "effect/JsonSchema"
import * as Schema from "effect/Schema"
import * as SchemaRepresentation from "effect/SchemaRepresentation"
import type { Json, JsonObject } from "../../../data/Json.ts"

/** Writes the encoded form of a schema as a JSON Schema. Throws if it cannot be written. */
export const documentOf = (schema: Schema.Top): JsonObject => {
  const { definitions, schema: root } = Schema.toJsonSchemaDocument(schema, { onExcessProperty: "error" })
  // A JSON Schema document is a JSON object.
  return (Object.keys(definitions).length === 0 ? root : { ...root, $defs: definitions }) as JsonObject
}

/**
 * Reads a JSON Schema. The tool must check `pattern` (because a foreign regular expression can hang), `not` and `if`.
 */
export const schemaOf = (schema: JsonObject): Schema.Top =>
  SchemaRepresentation.fromJsonSchemaDocument(JsonSchema.fromSchemaDraft2020_12(withoutIgnored(schema) as never))

const ignoredKeywords: ReadonlySet<string> = new Set([
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

const withoutIgnored = (schema: Json, names = false): Json => {
  // `Array.isArray` and `Object.entries` lose the information that the items are JSON.
  if (Array.isArray(schema)) return schema.map((item) => withoutIgnored(item as Json))
  if (typeof schema !== "object" || schema === null) return schema
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([key]) => names || !ignoredKeywords.has(key))
      .map((
        [key, value]
      ) => [
        key,
        key === "const" || key === "enum" || key === "default"
          ? value
          : withoutIgnored(value as Json, !names && (key === "properties" || key === "$defs" || key === "definitions"))
      ])
  )
}
