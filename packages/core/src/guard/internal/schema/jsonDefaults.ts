/** Adds the defaults of a JSON Schema to a value. */
import { type Json, type JsonObject, whyNot } from "../../../data/Json.ts"

/** Where the default of a missing property comes from: what the schema decoded, its `default`, or nowhere. */
export type DefaultSource = "decoded" | "schema" | "none"

/** What to add. */
export interface Filling {
  /** The JSON Schema of the value. */
  readonly root: JsonObject
  /** The value that the schema of the tool decoded, if there is one. */
  readonly decoded?: unknown
  /** Returns where the default of the property at this path comes from. */
  readonly sourceOf: (path: string) => DefaultSource
  /** Called with the path of every property that is added, and where its value comes from. */
  readonly onFilled: (path: string, source: DefaultSource) => void
}

/** The maximum number of values in the result. It bounds a recursive schema whose defaults contain themselves. */
const maxValues = 10_000

/**
 * Returns the value with a value for each property that it lacks and that has a default. Parts without defaults are not
 * copied.
 */
export const fillDefaults = (filling: Filling, value: Json): Json => {
  const walk = new Filler(filling)
  const filled = walk.fill([filling.root], value, filling.decoded, "")
  return walk.count > maxValues ? value : filled
}

/** Whether a JSON Schema has defaults. */
export const hasDefaults = (schema: Json | undefined): boolean => {
  if (typeof schema !== "object" || schema === null) return false
  if (Array.isArray(schema)) return schema.some(hasDefaults)
  return Object.entries(schema).some(([key, one]) => key === "default" || hasDefaults(one as Json))
}

interface Default {
  readonly value: Json
  readonly source: DefaultSource
}

/** A class: its fields are the state of the walk. */
class Filler {
  count = 0
  private readonly filling: Filling

  constructor(filling: Filling) {
    this.filling = filling
  }

  /** Fills a value that has to fit all these schemas. */
  fill(schemas: ReadonlyArray<Json>, value: Json, decoded: unknown, path: string): Json {
    if (++this.count > maxValues || typeof value !== "object" || value === null) return value
    const all = schemas.flatMap((schema) => this.expand(schema, value, new Set()))
    if (!Array.isArray(value)) return this.fillObject(all, value as JsonObject, decoded, path)
    const filled = value.map((item: Json, index) => {
      const inner = all.flatMap((one) => itemSchemas(one, index))
      return this.fill(inner, item, at(decoded, index), join(path, String(index)))
    })
    return filled.every((item, index) => item === value[index]) ? value : filled
  }

  private fillObject(all: ReadonlyArray<JsonObject>, value: JsonObject, decoded: unknown, path: string): Json {
    const { filling: { onFilled } } = this
    const entries: Array<readonly [string, Json]> = []
    let isChanged = false
    for (const [name, item] of Object.entries(value)) {
      const filled = this.fill(
        all.flatMap((one) => propertySchemas(one, name)),
        item,
        at(decoded, name),
        join(path, name)
      )
      isChanged ||= filled !== item
      entries.push([name, filled])
    }
    for (const name of new Set(all.flatMap(({ properties }) => Object.keys(objectOf(properties))))) {
      if (Object.hasOwn(value, name)) continue
      const place = join(path, name)
      const found = this.defaultOf(all.flatMap((one) => propertySchemas(one, name)), at(decoded, name), place)
      if (found === undefined) continue
      isChanged = true
      onFilled(place, found.source)
      entries.push([name, found.value])
    }
    return isChanged ? Object.fromEntries(entries) : value
  }

  private defaultOf(schemas: ReadonlyArray<Json>, decoded: unknown, path: string): Default | undefined {
    const source = this.filling.sourceOf(path)
    if (source === "none") return undefined
    // `whyNot` found no problem, so it is JSON.
    if (source === "decoded" && decoded !== undefined && whyNot(decoded) === undefined) {
      return { value: decoded as Json, source }
    }
    const all = schemas.flatMap((schema) => this.expand(schema, undefined, new Set()))
    const found = all.find((one) => Object.hasOwn(one, "default"))?.default
    if (found === undefined) return undefined
    return { value: this.fill(schemas, found, undefined, path), source: "schema" }
  }

  /** Lists the schema and those that it consists of: references, `allOf`, and the fitting branches of a union. */
  private expand(schema: Json | undefined, value: Json | undefined, seen: Set<Json>): ReadonlyArray<JsonObject> {
    if (typeof schema !== "object" || schema === null || Array.isArray(schema) || seen.has(schema)) return []
    seen.add(schema)
    const { $ref, allOf, anyOf, oneOf } = schema as JsonObject
    const branches = [...listOf(anyOf), ...listOf(oneOf)]
    const fitting = value === undefined ? branches : branches.filter((one) => this.fits(one, value, 0)).slice(0, 1)
    const target = typeof $ref === "string" ? [find(this.filling.root, $ref)] : []
    return [
      schema as JsonObject,
      ...[...target, ...listOf(allOf), ...fitting].flatMap((one) => this.expand(one, value, seen))
    ]
  }

  /** Whether a value can be meant for this branch of a union. It compares types, constants and names. */
  private fits(schema: Json | undefined, value: Json, depth: number): boolean {
    if (typeof schema === "boolean") return schema
    if (depth > 8 || ++this.count > maxValues) return true
    const one = objectOf(schema)
    const { $ref, additionalProperties, allOf, anyOf, const: only, enum: some, oneOf, properties, required, type } = one
    const fitsInner = (inner: Json | undefined) => this.fits(inner, value, depth + 1)
    if (typeof $ref === "string" && !fitsInner(find(this.filling.root, $ref))) return false
    if (!listOf(allOf).every(fitsInner)) return false
    if (Array.isArray(anyOf) && !anyOf.some(fitsInner)) return false
    if (Array.isArray(oneOf) && !oneOf.some(fitsInner)) return false
    if (type !== undefined && !listOf(Array.isArray(type) ? type : [type]).some((name) => isOfType(value, name))) {
      return false
    }
    if (Object.hasOwn(one, "const") && typeof only !== "object" && only !== value) return false
    if (Array.isArray(some) && typeof value !== "object" && !some.includes(value)) return false
    if (typeof value !== "object" || value === null || Array.isArray(value)) return true
    const known = objectOf(properties)
    const lacks = (name: Json) =>
      typeof name === "string" && !Object.hasOwn(value, name) && !Object.hasOwn(objectOf(own(known, name)), "default")
    if (listOf(required).some(lacks)) return false
    return Object.entries(value as JsonObject).every(([name, item]) =>
      Object.hasOwn(known, name)
        ? this.fits(known[name], item, depth + 1)
        : additionalProperties !== false
    )
  }
}

const join = (path: string, name: string): string => path === "" ? name : `${path}.${name}`

const at = (value: unknown, key: string | number): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, key)
    // It is an object, so any key may be read.
    ? (value as Record<string | number, unknown>)[key]
    : undefined

const own = (record: JsonObject, name: string): Json | undefined =>
  Object.hasOwn(record, name) ? record[name] : undefined

// `Array.isArray` loses the information that the items are JSON.
const listOf = (value: unknown): ReadonlyArray<Json> => Array.isArray(value) ? value as ReadonlyArray<Json> : []

const objectOf = (value: Json | undefined): JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? value as JsonObject : {}

const propertySchemas = ({ additionalProperties, properties }: JsonObject, name: string): ReadonlyArray<Json> => {
  const known = objectOf(properties)
  const found = Object.hasOwn(known, name) ? known[name] : additionalProperties
  return found === undefined ? [] : [found]
}

const itemSchemas = ({ items, prefixItems }: JsonObject, index: number): ReadonlyArray<Json> => {
  const tuple = listOf(prefixItems ?? (Array.isArray(items) ? items : undefined))
  const found = index < tuple.length ? tuple[index] : items
  return found === undefined ? [] : [found]
}

const isOfType = (value: Json, type: Json): boolean => {
  switch (type) {
    case "null":
      return value === null
    case "array":
      return Array.isArray(value)
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value)
    case "integer":
      return Number.isInteger(value)
    default:
      return typeof value === type
  }
}

const find = (root: JsonObject, ref: string): Json | undefined => {
  if (!ref.startsWith("#")) return undefined
  const names = ref.slice(1).split("/").slice(1).map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"))
  // A list has its items as own properties too.
  return names.reduce<Json | undefined>((found, name) => at(found, name) as Json | undefined, root)
}
