/** Recognises a JSON Schema from a server. */
import { type JsonObject, whyNot } from "@belay/core/Json"

export const isSchema = (schema: unknown): schema is JsonObject =>
  typeof schema === "object" && schema !== null && !Array.isArray(schema) && whyNot(schema) === undefined
