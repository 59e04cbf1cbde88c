/** JMESPath expressions that read only the data, never a prototype, and return only JSON. */
import { messageOf } from "@belay/core/ErrorMessage"
import { type Json, whyNot } from "@belay/core/Json"
import * as jmespath from "@jmespath-community/jmespath"
import * as Result from "effect/Result"

/** Compiles an expression to a search function. Fails with a text that says what is wrong. */
export const compileJmesPath = (
  expression: string
): Result.Result<(data: Json) => Result.Result<Json, string>, string> =>
  Result.flatMap(Result.try({ try: () => jmespath.compile(expression), catch: messageOf }), (tree) => {
    const unknown = functionsOf(tree).find((name) => !jmespath.isRegistered(name))
    return unknown === undefined
      ? Result.succeed((data: Json) =>
        Result.flatMap(
          Result.try({ try: () => jmespath.TreeInterpreter.search(tree, withoutPrototypes(data)), catch: messageOf }),
          toJson
        )
      )
      : Result.fail(`unknown function ${unknown}()`)
  })

/** The functions that an expression calls. */
const functionsOf = (tree: unknown): ReadonlyArray<string> => {
  if (typeof tree !== "object" || tree === null) return []
  const names = "type" in tree && tree.type === "Function" && "name" in tree && typeof tree.name === "string"
    ? [tree.name]
    : []
  return [...names, ...Object.values(tree).flatMap(functionsOf)]
}

/** A copy without prototypes, so that a missing field is not found in `Object` either. */
const withoutPrototypes = (data: Json): jmespath.JSONValue => {
  if (typeof data !== "object" || data === null) return data
  if (Array.isArray(data)) return data.map(withoutPrototypes)
  const copy = Object.create(null) as jmespath.JSONObject
  for (const [key, value] of Object.entries(data)) copy[key] = withoutPrototypes(value)
  return copy
}

/** Checks that a result is JSON, and gives its objects their prototypes again. */
const toJson = (value: unknown): Result.Result<Json, string> => {
  if (value === null) return Result.fail("the expression finds nothing")
  const why = whyNot(value)
  return why === undefined
    ? Result.succeed(withPrototypes(value as Json))
    : Result.fail(`what the expression finds is not JSON, ${why}`)
}

const withPrototypes = (value: Json): Json => {
  if (typeof value !== "object" || value === null) return value
  return Array.isArray(value)
    ? value.map(withPrototypes)
    : Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withPrototypes(inner)]))
}
