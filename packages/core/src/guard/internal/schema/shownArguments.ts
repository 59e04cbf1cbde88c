/**
 * Makes the arguments that everybody sees before a tool runs: the policy, hooks, people, records and the conversation.
 * The tool gets what the schema decodes from exactly these arguments, and they contain every default:
 * 1. the decoded arguments encoded again, if the schema can encode them
 * 2. otherwise the decoded arguments, if they are JSON that the schema leaves as it is
 * 3. otherwise the JSON of the model with its defaults
 */
import type { StandardSchemaV1 } from "effect/StandardSchema"
import { type Json, type JsonObject, whyNot } from "../../../data/Json.ts"
import type { Encode } from "./encoder.ts"
import { type DefaultSource, fillDefaults } from "./jsonDefaults.ts"
import { sameJson, sameValue } from "./sameValue.ts"
import { runSteps, type Steps } from "./steps.ts"

/** What is known about a schema. */
export interface ArgumentSchema {
  readonly validate: StandardSchemaV1.Props["validate"]
  readonly inputSchema: JsonObject
  /** Present if the schema has transformations and may be able to encode. */
  readonly encode?: Encode | undefined
  /** Whether `validate` ignores the defaults of the JSON Schema, so that they are added before. */
  readonly addsDefaults?: boolean
  /** Writes the JSON Schema again, with new values of defaults that a function makes. */
  readonly writeAgain?: (() => JsonObject | undefined) | undefined
}

/** The arguments that are shown, or why the model's arguments do not fit. */
export type Shown =
  | {
    readonly ok: true
    readonly args: Json
    /** Whether the tool gets these arguments as they are. Otherwise they are decoded again for it. */
    readonly asTheyAre: boolean
  }
  | { readonly ok: false; readonly issues: ReadonlyArray<StandardSchemaV1.Issue> }

/** Returns the arguments that are shown. Throws or rejects if the schema does. */
export const shownArguments = (schema: ArgumentSchema, args: Json): Shown | Promise<Shown> => {
  // Some libraries take a list for an object.
  if (Array.isArray(args) && schema.inputSchema.type === "object") {
    return { ok: false, issues: [{ message: "expected an object" }] }
  }
  if (schema.addsDefaults === true) return runSteps(withDefaults(schema, args))
  const result = schema.validate(args)
  return result instanceof Promise || !isShownAsIs(schema, result, args)
    ? runSteps(represent(schema, args, result))
    : { ok: true, args, asTheyAre: true }
}

type Result = StandardSchemaV1.Result<unknown>

/** Most schemas change nothing, so this is decided without more work. */
const isShownAsIs = (
  { encode }: ArgumentSchema,
  result: Result,
  args: Json
): result is StandardSchemaV1.SuccessResult<unknown> =>
  result.issues === undefined && encode === undefined && whyNot(result.value) === undefined &&
  sameJson(result.value, args)

const withDefaults = function*(schema: ArgumentSchema, args: Json): Steps<Shown> {
  const filled = yield* fill(schema, args)
  return yield* represent(schema, filled, schema.validate(filled))
}

const represent = function*(
  schema: ArgumentSchema,
  args: Json,
  validated: Result | Promise<Result>
): Steps<Shown> {
  const result = (yield validated) as Result
  if (result.issues !== undefined) return { ok: false, issues: result.issues }
  if (isShownAsIs(schema, result, args)) return { ok: true, args, asTheyAre: true }
  const { value } = result
  const encoded = yield* encodedAgain(schema, value)
  if (encoded !== undefined) return { ok: true, args: encoded, asTheyAre: sameJson(encoded, value) }
  const again = whyNot(value) === undefined ? yield* check(schema, value) : undefined
  if (again?.issues === undefined && again !== undefined && sameJson(again.value, value)) {
    return { ok: true, args: value as Json, asTheyAre: true }
  }
  return { ok: true, args: yield* fill(schema, args, { value }), asTheyAre: false }
}

/**
 * Encodes a value, if the schema can encode it: the result decodes to the same value, stays the same, and has all
 * defaults.
 */
const encodedAgain = function*(schema: ArgumentSchema, value: unknown): Steps<Json | undefined> {
  const { encode } = schema
  if (encode === undefined) return undefined
  const encoded = yield* attempt(() => encode(value))
  if (encoded === undefined || whyNot(encoded.value) !== undefined) return undefined
  const again = yield* check(schema, encoded.value)
  if (again?.issues !== undefined || again === undefined || !sameValue(again.value, value)) return undefined
  const twice = yield* attempt(() => encode(again.value))
  if (twice === undefined || !sameJson(twice.value, encoded.value)) return undefined
  const json = encoded.value as Json
  return addDefaults(schema, json, value, () => "decoded").added.length === 0 ? json : undefined
}

/** The maximum number of attempts to add defaults that the schema accepts. */
const maxAttempts = 8

/**
 * Adds the defaults to the JSON of the model. A default is what the schema decoded, if that is JSON, so that a value
 * that a function made is the one that the tool gets; otherwise it is the `default` of the JSON Schema. What the schema
 * does not accept as an argument is left out.
 */
const fill = function*(schema: ArgumentSchema, args: Json, decoded?: { readonly value: unknown }): Steps<Json> {
  const sources = new Map<string, DefaultSource>()
  const sourceOf = (path: string): DefaultSource => sources.get(path) ?? (decoded === undefined ? "schema" : "decoded")
  let accepted = args
  for (let count = 0; count < maxAttempts; count++) {
    const { added, filled } = addDefaults(schema, args, decoded?.value, sourceOf)
    if (added.length === 0) return accepted
    const found = yield* check(schema, filled)
    if (found === undefined) return accepted
    const { issues } = found
    if (issues === undefined) {
      if (decoded === undefined || sameValue(found.value, decoded.value)) return filled
      accepted = filled
    }
    const wrong = issues === undefined ? added : added.filter((path) => issues.some((one) => isAbout(one, path)))
    const next = wrong.filter((path) => issues !== undefined || sourceOf(path) === "decoded")
    if (next.length === 0) return accepted
    for (const path of next) sources.set(path, sourceOf(path) === "decoded" ? "schema" : "none")
  }
  return accepted
}

/** Fills the arguments, with new values where a default of the JSON Schema is used. */
const addDefaults = (
  { addsDefaults, inputSchema, writeAgain }: ArgumentSchema,
  args: Json,
  decoded: unknown,
  sourceOf: (path: string) => DefaultSource
): { readonly filled: Json; readonly added: ReadonlyArray<string> } => {
  const fillWith = (root: JsonObject) => {
    const added: Array<string> = []
    let isFromSchema = false
    const filled = fillDefaults({
      root,
      decoded,
      sourceOf,
      onFilled: (path, source) => {
        added.push(path)
        isFromSchema ||= source === "schema"
      }
    }, args)
    return { filled, added, isFromSchema }
  }
  const first = fillWith(inputSchema)
  const written = addsDefaults !== true && first.isFromSchema ? writeAgain?.() : undefined
  return written === undefined ? first : fillWith(written)
}

/** Validates a value. Returns nothing if the schema throws. */
const check = function*({ validate }: ArgumentSchema, value: unknown): Steps<Result | undefined> {
  const found = yield* attempt(() => validate(value))
  return found?.value as Result | undefined
}

const attempt = function*(run: () => unknown): Steps<{ readonly value: unknown } | undefined> {
  // oxlint-disable-next-line belay/no-try -- a schema is foreign code, called on a synchronous path
  try {
    return { value: yield run() }
  } catch {
    return undefined
  }
}

const isAbout = (issue: StandardSchemaV1.Issue, path: string): boolean => {
  const place = pathOf(issue)
  return place === path || path.startsWith(`${place}.`) || place.startsWith(`${path}.`)
}

/** The place of an issue: keys, joined by dots. */
export const pathOf = ({ path = [] }: StandardSchemaV1.Issue): string =>
  path.map((key) => typeof key === "object" ? String(key.key) : String(key)).join(".")
