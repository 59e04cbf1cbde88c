/**
 * Estimates what checking a value against a JSON Schema can cost. A few lines of schema can take minutes, so a schema
 * from a server is estimated before it is used.
 *
 * @since 0.1.0
 */
import type { Json, JsonObject } from "../Json.ts"

/**
 * `large`: the schema has more than 5,000 values. `expanding`: with its references in place, it has more than 10,000
 * parts. `ambiguous`: it is recursive, and several branches check the same part of a value again, so the cost grows
 * exponentially with the depth of the value. `bounded`: none of these.
 *
 * @category models
 * @since 0.1.0
 */
export type SchemaCost = "bounded" | "large" | "expanding" | "ambiguous"

const maxValues = 5_000
const maxParts = 10_000

/** The estimate of a schema. @category models @since 0.1.0 */
export interface SchemaEstimate {
  readonly cost: SchemaCost
  /**
   * How many values the schema has and how many parts with its references in place, as far as they were counted. The
   * time to read a bounded schema grows with it. Use it to limit many schemas together.
   */
  readonly size: number
}

/** Estimates the cost of a JSON Schema in the worst case. @category reading @since 0.1.0 */
export const schemaCost = (schema: JsonObject): SchemaCost => estimateSchema(schema).cost

/** Estimates the cost and the size of a JSON Schema in the worst case. @category reading @since 0.1.0 */
export const estimateSchema = (schema: JsonObject): SchemaEstimate => {
  const expansion = new Expansion(schema)
  expansion.walk(schema, "")
  const { isAmbiguous, parts } = expansion
  const values = countValues(schema, 0)
  const cost = parts > maxParts
    ? "expanding"
    : isAmbiguous
    ? "ambiguous"
    : values > maxValues
    ? "large"
    : "bounded"
  return { cost, size: parts + values }
}

const countValues = (value: Json, before: number): number => {
  if (typeof value !== "object" || value === null || before > maxValues) return before + 1
  return Object.values(value).reduce<number>((count, item) => countValues(item as Json, count), before + 1)
}

/** A definition that is being expanded: where it began, and the places below at which it is used again. */
interface Open {
  readonly path: string
  readonly places: Set<string>
}

/** Keywords whose schemas apply to another part of the value, and how that part is written in a path. */
const inner = [
  ["items", "[]"],
  ["prefixItems", "[]"],
  ["contains", "[]"],
  ["additionalProperties", ".*"],
  ["propertyNames", ".*"]
] as const

/** Goes through a schema as a decoder does, with references in place. A class: its fields are the state of the walk. */
class Expansion {
  parts = 0
  isAmbiguous = false
  private readonly root: JsonObject
  private readonly open = new Map<string, Open>()

  constructor(root: JsonObject) {
    this.root = root
  }

  /** `path` is the part of the value to which the schema applies. */
  walk(schema: Json | undefined, path: string): void {
    if (this.parts > maxParts || this.isAmbiguous || typeof schema !== "object" || schema === null) return
    this.parts++
    if (Array.isArray(schema)) {
      for (const one of schema) this.walk(one as Json, path)
      return
    }
    const { $ref, allOf, anyOf, oneOf, patternProperties, properties } = schema as JsonObject
    if (typeof $ref === "string") this.follow($ref, path)
    this.walk(allOf, path)
    this.branches(anyOf, path)
    this.branches(oneOf, path)
    for (const [name, one] of Object.entries(objectOf(properties))) this.walk(one, `${path}.${JSON.stringify(name)}`)
    for (const one of Object.values(objectOf(patternProperties))) this.walk(one, `${path}.*`)
    for (const [keyword, part] of inner) this.walk((schema as JsonObject)[keyword], path + part)
  }

  /** A decoder tries only one of the objects of a union if they have different tags. */
  private branches(union: Json | undefined, path: string): void {
    if (!Array.isArray(union)) return
    // `Array.isArray` loses the information that the items are JSON.
    const all = union.map((one) => ({ one: one as Json, resolved: this.resolved(one as Json) }))
    const isTagged = haveTags(all.flatMap(({ resolved }) => isOfObjects(resolved) ? [resolved] : []))
    for (const [index, { one, resolved }] of all.entries()) {
      this.walk(one, isTagged && isOfObjects(resolved) ? `${path}|${index}` : path)
    }
  }

  private follow(ref: string, path: string): void {
    const open = this.open.get(ref)
    if (open !== undefined) {
      const place = path.slice(open.path.length)
      // At the same place, the recursion has no end.
      if (place === "" || open.places.has(place)) this.isAmbiguous = true
      open.places.add(place)
      return
    }
    this.open.set(ref, { path, places: new Set() })
    this.walk(this.find(ref), path)
    this.open.delete(ref)
  }

  private find(ref: string): Json | undefined {
    if (!ref.startsWith("#")) return undefined
    const names = ref.slice(1).split("/").slice(1).map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"))
    return names.reduce<Json | undefined>(
      (found, name) => {
        if (typeof found !== "object" || found === null || !Object.hasOwn(found, name)) return undefined
        return (found as JsonObject)[name]
      },
      this.root
    )
  }

  private resolved(schema: Json): JsonObject {
    const { $ref } = objectOf(schema)
    return objectOf(typeof $ref === "string" ? this.find($ref) : schema)
  }
}

const objectOf = (value: Json | undefined): JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? value as JsonObject : {}

const isOfObjects = ({ type }: JsonObject): boolean => typeof type !== "string" || type === "object"

/** Whether all schemas require the same property, each with another constant. */
const haveTags = (schemas: ReadonlyArray<JsonObject>): boolean => {
  const tags = schemas.map(tagsOf)
  return Object.keys(tags[0] ?? {}).some((name) =>
    tags.every((one) => Object.hasOwn(one, name)) && new Set(tags.map((one) => one[name])).size === tags.length
  )
}

/** The required properties of an object that are constants. */
const tagsOf = ({ properties, required }: JsonObject): { readonly [name: string]: string } =>
  Object.fromEntries(
    Object.entries(objectOf(properties)).flatMap(([name, one]) => {
      const { const: tag } = objectOf(one)
      return typeof tag === "string" && Array.isArray(required) && required.includes(name) ? [[name, tag]] : []
    })
  )
