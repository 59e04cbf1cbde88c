/** Finds the parts of a JSON Schema. */
import type { Json, JsonObject } from "@belay/core/Json"

type Properties = { readonly [name: string]: JsonObject }

/** The schemas of the arguments, by name, also those of the alternatives of a schema. */
export const propertiesOf = (schema: JsonObject | undefined): Properties =>
  schema === undefined ? {} : Object.assign({}, ...alternativesOf(schema, schema).map(ownProperties))

// A JSON Schema has schemas there; anything else has no format and no enumeration.
const ownProperties = (schema: JsonObject): Properties => objectIn(schema, "properties") as Properties | undefined ?? {}

/** How many values are remembered for one schema. Places in lists have no end. */
const maxRemembered = 500

/** Returns the value of a place in a schema, which is computed once. */
export const remembered = <A>(
  known: WeakMap<JsonObject, Map<string, A>>,
  schema: JsonObject,
  place: string,
  compute: () => A
): A => {
  let values = known.get(schema)
  if (values === undefined) known.set(schema, values = new Map())
  const before = values.get(place)
  if (before !== undefined) return before
  if (values.size >= maxRemembered) values.clear()
  const value = compute()
  values.set(place, value)
  return value
}

/** The schemas of one value of the arguments, by its place, such as `items[2].iban`. There are several in a union. */
export const schemasAt = (schema: JsonObject, place: string): ReadonlyArray<JsonObject> =>
  remembered(places, schema, place, () => findSchemas(schema, place))

const places = new WeakMap<JsonObject, Map<string, ReadonlyArray<JsonObject>>>()

const findSchemas = (schema: JsonObject, place: string): ReadonlyArray<JsonObject> => {
  let found = alternativesOf(schema, schema)
  for (const [, name, index] of place.matchAll(/([^.[\]]+)|\[(\d+)\]/g)) {
    const inner = found.flatMap((one) => {
      const next = index === undefined
        ? ownProperties(one)[name!] ?? objectIn(one, "additionalProperties")
        : itemOf(one, Number(index))
      return next === undefined ? [] : alternativesOf(next, schema)
    })
    // A value of a schema that says no more about its parts.
    if (inner.length === 0) return []
    found = inner
  }
  return found
}

const itemOf = (schema: JsonObject, index: number): JsonObject | undefined => {
  const first = schema["prefixItems"]
  const own = Array.isArray(first) ? asObject(first[index]) : undefined
  return own ?? objectIn(schema, "items")
}

const maxAlternatives = 50

/** A schema with those that it refers to or chooses from. */
const alternativesOf = (schema: JsonObject, root: JsonObject): ReadonlyArray<JsonObject> => {
  const found = new Set<JsonObject>()
  const left = [schema]
  while (left.length > 0 && found.size < maxAlternatives) {
    const one = left.pop()!
    if (found.has(one)) continue
    found.add(one)
    const target = typeof one["$ref"] === "string" ? referred(root, one["$ref"]) : undefined
    if (target !== undefined) left.push(target)
    for (const key of ["anyOf", "oneOf", "allOf"]) {
      const several = one[key]
      if (!Array.isArray(several)) continue
      for (const each of several) {
        const next = asObject(each)
        if (next !== undefined) left.push(next)
      }
    }
  }
  return [...found]
}

const referred = (root: JsonObject, reference: string): JsonObject | undefined => {
  if (!reference.startsWith("#")) return undefined
  let found: Json | undefined = root
  for (const part of reference.slice(1).split("/").filter((one) => one !== "")) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~")
    const inside = asObject(found) as JsonObject | undefined
    found = inside !== undefined && Object.hasOwn(inside, name) ? inside[name] : undefined
  }
  return asObject(found)
}

const objectIn = (schema: JsonObject, name: string): JsonObject | undefined =>
  Object.hasOwn(schema, name) ? asObject(schema[name]) : undefined

const asObject = (value: Json | undefined): JsonObject | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? value as JsonObject : undefined
