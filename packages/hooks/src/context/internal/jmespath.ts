/** JMESPath, kept to the data: no prototype is read, and nothing but JSON comes back. */
import { type Json, whyNot } from "@belay/core/Json"
import * as jmespath from "@jmespath-community/jmespath"
import * as Result from "effect/Result"

/** Reads an expression; gives back what searches with it, or why it is none. */
export const compile = (expression: string): Result.Result<(data: Json) => Result.Result<Json, string>, string> =>
  Result.flatMap(Result.try({ try: () => jmespath.compile(expression), catch: said }), (tree) => {
    const unknown = functionsOf(tree).find((name) => !jmespath.isRegistered(name))
    return unknown === undefined
      ? Result.succeed((data: Json) =>
        Result.flatMap(Result.try({ try: () => jmespath.TreeInterpreter.search(tree, bare(data)), catch: said }), clean)
      )
      : Result.fail(`unknown function ${unknown}()`)
  })

const said = (error: unknown): string => error instanceof Error ? error.message : String(error)

/** The functions that an expression calls. */
const functionsOf = (tree: unknown): ReadonlyArray<string> => {
  if (typeof tree !== "object" || tree === null) return []
  const own = "type" in tree && tree.type === "Function" && "name" in tree && typeof tree.name === "string"
    ? [tree.name]
    : []
  return [...own, ...Object.values(tree).flatMap(functionsOf)]
}

/** A copy without prototypes: a field that is not in the data is not found in `Object` either. */
const bare = (data: Json): jmespath.JSONValue => {
  if (typeof data !== "object" || data === null) return data
  if (Array.isArray(data)) return data.map(bare)
  const copy = Object.create(null) as jmespath.JSONObject
  for (const [key, value] of Object.entries(data)) copy[key] = bare(value)
  return copy
}

/** The other way round, for those who read the result. */
const clean = (value: unknown): Result.Result<Json, string> => {
  if (value === null) return Result.fail("the expression finds nothing in it")
  const why = whyNot(value)
  return why === undefined
    ? Result.succeed(plain(value as Json))
    : Result.fail(`what the expression finds is not JSON, ${why}`)
}

const plain = (value: Json): Json => {
  if (typeof value !== "object" || value === null) return value
  return Array.isArray(value)
    ? value.map(plain)
    : Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]))
}
