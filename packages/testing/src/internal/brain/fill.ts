/** Creates the arguments of a tool, or an object for a schema, from the words of the task. */
import type { Json, JsonObject } from "@belay/core/Json"
import type { Evidence } from "./evidence.ts"
import { guess } from "./guess.ts"

/** Reads the numbers of a clause. */
export const numbersIn = (text: string): Array<number> =>
  Array.from(
    text.matchAll(/(?<![\p{L}\p{N}._-])-?\d+(?:\.\d+)?(?![\p{L}\p{N}_]|[.-]\d)/gu),
    ([digits]) => Number(digits)
  )

/** Creates an object for a schema: its required properties, and optional ones with evidence. */
export const fill = (schema: JsonObject, evidence: Evidence): JsonObject => object(schema, evidence, schema, 0)

const object = (schema: JsonObject, evidence: Evidence, root: JsonObject, depth: number): JsonObject => {
  const properties = isObject(schema.properties) ? schema.properties : {}
  const required = Array.isArray(schema.required) ? schema.required : []
  const filled: Record<string, Json> = {}
  for (const [name, property] of Object.entries(properties)) {
    if (!isObject(property)) continue
    const made = value(name, property, evidence, required.includes(name), root, depth)
    if (made !== undefined) filled[name] = made
  }
  return filled
}

const value = (
  name: string,
  given: JsonObject,
  evidence: Evidence,
  required: boolean,
  root: JsonObject,
  depth: number
): Json | undefined => {
  const schema = resolve(given, root)
  if (schema.const !== undefined) return schema.const
  if (Array.isArray(schema.enum)) return choose(schema.enum, evidence) ?? (required ? schema.enum[0] : undefined)
  switch (typeOf(schema)) {
    case "number":
    case "integer":
      return evidence.numbers.shift() ??
        (required ? fallback(schema, typeof schema.minimum === "number" ? schema.minimum : 1) : undefined)
    case "boolean":
      return new RegExp(`\\b${name.replace(/[^\p{L}\p{N}]+/gu, ".?")}`, "iu").test(evidence.clause)
        ? true
        : required
        ? fallback(schema, false)
        : undefined
    case "array":
      return array(name, schema, evidence, required, root, depth)
    case "object":
      return depth < 6 && (required || depth === 0) ? object(schema, evidence, root, depth + 1) : undefined
    case "null":
      return null
    default:
      return guess(name, schema, evidence, required) ?? (required ? fallback(schema, name) : undefined)
  }
}

const array = (
  name: string,
  schema: JsonObject,
  evidence: Evidence,
  required: boolean,
  root: JsonObject,
  depth: number
): Json | undefined => {
  const items = isObject(schema.items) ? resolve(schema.items, root) : {}
  const type = typeOf(items)
  if (type === "number" || type === "integer") return evidence.numbers.splice(0)
  if (!required || depth > 5) return undefined
  const one = value(name.replace(/s$/, ""), items, evidence, true, root, depth + 1)
  return one === undefined ? [] : [one]
}

const choose = (options: ReadonlyArray<Json>, evidence: Evidence): Json | undefined =>
  options.find((option) =>
    typeof option === "string" && new RegExp(`(?<![\\p{L}])${escape(option)}(?![\\p{L}])`, "iu").test(evidence.clause)
  )
    ?? options.find((option) =>
      typeof option === "string" && evidence.task.toLowerCase().includes(option.toLowerCase())
    )

const fallback = (schema: JsonObject, otherwise: Json): Json =>
  schema.default ?? (Array.isArray(schema.examples) ? schema.examples[0] : undefined) ?? otherwise

const resolve = (schema: JsonObject, root: JsonObject): JsonObject => {
  if (typeof schema.$ref === "string") {
    const target = schema.$ref.replace(/^#\//, "").split("/").reduce<Json | undefined>(
      (at, key) => isObject(at) ? at[key] : undefined,
      root
    )
    return isObject(target) ? target : {}
  }
  const options = [schema.anyOf, schema.oneOf, schema.allOf].find(Array.isArray)
  const chosen = options?.find((option) => isObject(option) && option.type !== "null")
  return isObject(chosen) ? resolve(chosen, root) : schema
}

const typeOf = (schema: JsonObject): string => {
  if (typeof schema.type === "string") return schema.type
  if (Array.isArray(schema.type)) return String(schema.type.find((type) => type !== "null") ?? "string")
  return isObject(schema.properties) ? "object" : isObject(schema.items) ? "array" : "string"
}

const isObject = (json: Json | undefined): json is JsonObject =>
  typeof json === "object" && json !== null && !Array.isArray(json)

const escape = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
