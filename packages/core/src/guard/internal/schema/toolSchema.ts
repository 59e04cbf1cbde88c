/** Turns the schema of a tool into a JSON Schema for the model and a decoder for the arguments. */
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { StandardSchemaV1 } from "effect/StandardSchema"
import { ConfigError } from "../../../data/AgentError.ts"
import { copy } from "../../../data/internal/copyJson.ts"
import { canWriteAgain } from "../../../data/internal/madeDefaults.ts"
import { isPlain, type Json, type JsonObject } from "../../../data/Json.ts"
import { messageOf } from "../../../data/text/ErrorMessage.ts"
import type { InputSchema } from "../../../data/tool/InputSchema.ts"
import { schemaCost } from "../../../data/tool/SchemaCost.ts"
import type { Decoded } from "../../../port/ToolDispatcher.ts"
import { loadOptional } from "../platform/platform.ts"
import { effectEncoder, zodEncoder } from "./encoder.ts"
import { hasDefaults } from "./jsonDefaults.ts"
import { documentOf, schemaOf } from "./jsonSchema.ts"
import { type ArgumentSchema, pathOf, type Shown, shownArguments } from "./shownArguments.ts"

/** The JSON Schema and the decoder of a tool. */
export interface ToolSchema {
  readonly inputSchema: JsonObject
  /** Returns the arguments as everybody sees them (`shownArguments`), or why they do not fit. */
  readonly decode: (args: Json) => Decoded | Promise<Decoded>
  /** Whether the tool gets the decoded `value` of the shown arguments, and not the arguments themselves. */
  readonly rich: boolean
  readonly value: (args: Json) => Promise<unknown>
  /** Decodes a value. Returns the decoded value, or all places where it does not fit. */
  readonly check: (value: unknown) => Promise<Checked>
}

/** A decoded value, or the problems. */
type Checked =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problems: ReadonlyArray<{ readonly path: string; readonly message: string }> }

/** A schema, and its JSON Schema if the library cannot write it. */
interface Given {
  readonly input: InputSchema
  readonly jsonSchema?: JsonObject
}

/** The owner of a schema. */
type Source = Given & Owner

/** The name of the owner, for error messages. */
interface Owner {
  readonly key: string
  readonly what: string
}

/** Reads the schema of a tool. Fails if it cannot be used. */
export const read = (tool: Given & { readonly name: string }): Result.Result<ToolSchema, ConfigError> =>
  of({ ...tool, key: `tools.${tool.name}.input`, what: `tool "${tool.name}"` })

/** Reads a schema. Fails if it cannot be used. */
export const of = (tool: Source): Result.Result<ToolSchema, ConfigError> => {
  const input: unknown = tool.input
  if (Schema.isSchema(input)) {
    return attempt(tool, () => {
      const schema = input as Schema.Top
      return ofEffect(schema, tool.jsonSchema ?? documentOf(schema), { encode: effectEncoder(schema) })
    })
  }
  if (isStandard(input)) {
    const { vendor } = input["~standard"]
    const cannot = `its schema (${vendor}) cannot be written as JSON Schema by itself`
    const write = () => ownJsonSchema(input) ?? valibotJsonSchema(input)
    const given = Result.try(() => tool.jsonSchema ?? write())
    if (Result.isFailure(given)) {
      return wrong(tool, `${cannot}: ${messageOf(given.failure)}: pass jsonSchema as well`)
    }
    const { success: jsonSchema } = given
    if (jsonSchema !== undefined) {
      return attempt(tool, () => {
        // Some libraries change what they validate, or cannot validate what is frozen.
        const validate = (value: unknown) => input["~standard"].validate(copy(value))
        const writeAgain = tool.jsonSchema === undefined ? write : undefined
        if (writeAgain !== undefined && hasDefaults(jsonSchema)) canWriteAgain(jsonSchema, writeAgain)
        return ofStandard({ validate, inputSchema: jsonSchema, encode: zodEncoder(input), writeAgain })
      })
    }
    const install = vendor === "valibot" ? "install @valibot/to-json-schema, or " : ""
    return wrong(tool, `${cannot}: ${install}pass jsonSchema as well`)
  }
  if (typeof input === "object" && input !== null && isPlain(input)) {
    if (schemaCost(input as JsonObject) === "expanding") {
      return wrong(tool, "its schema has more than 10,000 parts with its references in place: use fewer references")
    }
    // A plain object counts as JSON Schema. An invalid one is detected when it is used.
    return attempt(tool, () => {
      const schema = input as JsonObject
      return ofEffect(schemaOf(schema), schema, { addsDefaults: hasDefaults(schema) })
    })
  }
  return wrong(tool, "input must be a Standard Schema, an Effect Schema or a JSON Schema object")
}

const wrong = ({ key, what }: Owner, why: string) => Result.fail(new ConfigError({ key, message: `${what}: ${why}` }))

const attempt = ({ key, what }: Owner, make: () => ToolSchema): Result.Result<ToolSchema, ConfigError> =>
  Result.try({
    try: make,
    catch: (error) =>
      new ConfigError({
        key,
        message: `${what}: its schema cannot be used: ${error instanceof Error ? error.message : String(error)}`
      })
  })

const isStandard = (input: unknown): input is StandardSchemaV1 =>
  (typeof input === "object" || typeof input === "function") && input !== null && "~standard" in input

const ownJsonSchema = (schema: StandardSchemaV1): JsonObject | undefined => {
  // Some libraries have a conversion to JSON Schema here, which is not in the type of the standard.
  const props = schema["~standard"] as {
    readonly jsonSchema?: { readonly input: (options: { readonly target: string }) => JsonObject }
  }
  return props.jsonSchema?.input({ target: "draft-2020-12" })
}

/** valibot has its conversion in another package. */
const valibotJsonSchema = (schema: StandardSchemaV1): JsonObject | undefined => {
  if (schema["~standard"].vendor !== "valibot") return undefined
  const converter = loadOptional("@valibot/to-json-schema") as Partial<ValibotConverter> | undefined
  return converter?.toJsonSchema?.(schema, { typeMode: "input", target: "draft-2020-12" })
}

/** The part of `@valibot/to-json-schema` that is used. */
interface ValibotConverter {
  readonly toJsonSchema: (
    schema: unknown,
    options: { readonly typeMode: "input"; readonly target: string }
  ) => JsonObject
}

/**
 * Makes the decoder of an Effect Schema. It decodes directly; only for an error message it is used as a Standard
 * Schema.
 */
const ofEffect = (
  schema: Schema.Top,
  inputSchema: JsonObject,
  options: Pick<ArgumentSchema, "addsDefaults" | "encode">
): ToolSchema => {
  // A tool's schema must not require services; types and encoding do not matter here.
  const standard = Schema.toStandardSchemaV1(schema as never) as StandardSchemaV1
  const decode = Schema.decodeUnknownExit(schema as Schema.Codec<unknown>)
  const { validate } = standard["~standard"]
  const quick = (value: unknown) => {
    const exit = decode(value)
    return Exit.isSuccess(exit) ? { value: exit.value } : validate(value)
  }
  return ofStandard({ validate: quick, inputSchema, ...options })
}

const ofStandard = (
  { addsDefaults, encode, inputSchema, validate, writeAgain }: ArgumentSchema
): ToolSchema => {
  const schema = { validate, inputSchema, encode, writeAgain, addsDefaults: addsDefaults === true }
  const decoded = (shown: Shown): Decoded => {
    if (!shown.ok) return { ok: false, why: shown.issues.slice(0, 5).map(issue).join("; ") }
    if (!shown.asTheyAre) tool.rich = true
    return { ok: true, args: shown.args }
  }
  const tool = {
    rich: false,
    inputSchema,
    decode: (args: Json): Decoded | Promise<Decoded> => {
      const shown = Result.try(() => shownArguments(schema, args))
      if (Result.isFailure(shown)) return failedDecoding(shown.failure)
      return shown.success instanceof Promise
        ? shown.success.then(decoded).catch(failedDecoding)
        : decoded(shown.success)
    },
    value: async (args: Json): Promise<unknown> => {
      const result = await validate(args)
      return result.issues === undefined ? result.value : args
    },
    check: async (value: unknown): Promise<Checked> => {
      const result = await validate(value)
      return result.issues === undefined
        ? { ok: true, value: result.value }
        : { ok: false, problems: result.issues.map((issue) => ({ path: pathOf(issue), message: issue.message })) }
    }
  }
  return tool
}

const failedDecoding = (error: unknown): Decoded => ({
  ok: false,
  why: `its schema failed on them: ${messageOf(error)}`
})

const issue = (found: StandardSchemaV1.Issue): string => {
  const at = pathOf(found)
  return at === "" ? found.message : `${at}: ${found.message}`
}
