/** The schema of an answer: what the model receives, and how its text is decoded. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { ConfigError, OutputMismatch } from "../../../data/AgentError.ts"
import type { JsonObject } from "../../../data/Json.ts"
import type { ResponseFormat } from "../../../data/LlmCall.ts"
import { messageOf } from "../../../data/text/ErrorMessage.ts"
import type { InputSchema } from "../../../data/tool/InputSchema.ts"
import * as ToolSchema from "../../../guard/internal/schema/toolSchema.ts"

/** The fields of an `Output` that describe the answer. */
interface AnswerOptions {
  readonly schema: InputSchema
  readonly jsonSchema?: JsonObject
  readonly name?: string
  readonly strict?: boolean
}

export interface AnswerSchema {
  readonly responseFormat: ResponseFormat
  readonly decode: (text: string) => Effect.Effect<unknown, OutputMismatch>
  /** Returns the message that asks the model to answer again. */
  readonly feedback: (why: string) => string
}

/** Reads a schema. Fails if it cannot be used. `what` is its owner, for messages. */
export const readAnswerSchema = (
  { jsonSchema, name = "answer", schema: input, strict }: AnswerOptions,
  what: string
): Result.Result<AnswerSchema, ConfigError> => {
  const key = `${what}.schema`
  const source = { key, what, input, ...(jsonSchema === undefined ? {} : { jsonSchema }) }
  return Result.flatMap(ToolSchema.of(source), (schema) => {
    const { type } = schema.inputSchema
    if (type !== undefined && type !== "object") {
      const message = `${what}: the answer must be an object, found ${messageOf(type)}: make it a field of one`
      return Result.fail(new ConfigError({ key, message }))
    }
    return Result.succeed({
      responseFormat: { name, schema: schema.inputSchema, ...(strict === undefined ? {} : { strict }) },
      decode: (text) => decodeAnswer(name, schema, text),
      feedback: (why) =>
        `${why}\nAnswer again, with JSON that fits this JSON Schema and nothing else:\n${
          JSON.stringify(schema.inputSchema)
        }`
    })
  })
}

const decodeAnswer = Effect.fnUntraced(
  function*(name: string, schema: ToolSchema.ToolSchema, text: string): Effect.fn.Return<unknown, OutputMismatch> {
    const mismatch = (problems: OutputMismatch["problems"]) => {
      const why = problems.slice(0, 5).map(({ message, path }) => path === "" ? message : `${path}: ${message}`).join(
        "; "
      )
      const message = `the answer does not fit output "${name}": ${why}`
      return new OutputMismatch({ output: name, problems, text, message })
    }
    const value = Result.try((): unknown => JSON.parse(text))
    if (Result.isFailure(value)) {
      return yield* mismatch([{
        path: "",
        message: text === "" ? "it is empty" : `it is not JSON: ${messageOf(value.failure)}`
      }])
    }
    const checked = yield* Effect.tryPromise({
      try: () => schema.check(value.success),
      catch: (error) => mismatch([{ path: "", message: `its schema failed on it: ${messageOf(error)}` }])
    })
    return checked.ok ? checked.value : yield* mismatch(checked.problems)
  }
)
