/**
 * Structured output. The model receives the schema, the answer is decoded, and an answer that does not fit is sent back
 * to the model.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type AgentError, ConfigError, OutputMismatch } from "../../../data/AgentError.ts"
import { messageOf } from "../../../data/ErrorMessage.ts"
import type { TurnInput } from "../../../data/Turn.ts"
import type { AgentConfig } from "../../AgentConfig.ts"
import type { AgentContext } from "../../AgentContext.ts"
import type { AgentCore, CoreOutput } from "../../AgentCore.ts"
import type { Output } from "../../Output.ts"
import * as ToolLoop from "../../ToolLoop.ts"
import type { TurnEnded } from "../../TurnEnded.ts"
import * as ToolSchema from "../tool/toolSchema.ts"

/** A core that decodes its answers. */
export interface DecodingCore extends AgentCore {
  readonly decodeOutput: (text: string) => Effect.Effect<unknown, OutputMismatch>
}

/** Whether a core decodes its answers. */
export const decodesOutput = (core: AgentCore): core is DecodingCore => "decodeOutput" in core

/**
 * Wraps a core so that it decodes its answers, if the configuration has an `output`. Otherwise returns the core
 * unchanged.
 */
export const withOutput = (config: AgentConfig): Result.Result<AgentConfig, ConfigError> => {
  const { output } = config
  if (output === undefined) return Result.succeed(config)
  const { jsonSchema, name = "answer", retries = 2, schema: input, strict } = output
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(name)) {
    return wrong("name", `name "${name}" must be 1 to 64 letters, digits, "_" or "-"`)
  }
  if (!(Number.isInteger(retries) && retries >= 0)) {
    return wrong("retries", `retries must be 0 or more, found ${String(retries)}`)
  }
  const source = { key: "output.schema", what: "output", input, ...(jsonSchema === undefined ? {} : { jsonSchema }) }
  return Result.flatMap(ToolSchema.of(source), (schema) => {
    const { type } = schema.inputSchema
    if (type !== undefined && type !== "object") {
      return wrong("schema", `the answer must be an object, found ${messageOf(type)}: make it a field of one`)
    }
    const responseFormat = { name, schema: schema.inputSchema, ...(strict === undefined ? {} : { strict }) }
    return Result.succeed({
      ...config,
      parameters: { ...config.parameters, responseFormat },
      core: decodingCore(config.core ?? ToolLoop.make(), name, schema, retries)
    })
  })
}

const wrong = (key: keyof Output, message: string) =>
  Result.fail(new ConfigError({ key: `output.${key}`, message: `output: ${message}` }))

/** Runs a core until its answer fits the schema. */
const decodingCore = (core: AgentCore, name: string, schema: ToolSchema.ToolSchema, retries: number): DecodingCore => {
  const decodeOutput = Effect.fnUntraced(function*(text: string): Effect.fn.Return<unknown, OutputMismatch> {
    const mismatch = (problems: OutputMismatch["problems"]) => {
      const why = problems.slice(0, 5).map(({ message, path }) => path === "" ? message : `${path}: ${message}`).join(
        "; "
      )
      return new OutputMismatch({
        output: name,
        problems,
        text,
        message: `the answer does not fit output "${name}": ${why}`
      })
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
  })
  const runTurn = Effect.fnUntraced(
    function*(input: TurnInput, ctx: AgentContext): Effect.fn.Return<CoreOutput, AgentError | TurnEnded> {
      for (let retry = 0;; retry++) {
        const output = yield* core.runTurn(input, ctx)
        const found = yield* Effect.result(decodeOutput(output.text))
        if (Result.isSuccess(found)) return output
        const { message } = found.failure
        if (retry >= retries) return yield* found.failure
        if (ctx.events.active) {
          ctx.events.emit({ type: "retract", reason: message })
          ctx.events.emit({ type: "warning", hook: "output", message })
        }
        ctx.append({ role: "user", content: feedback(message, schema), source: "output" })
      }
    }
  )
  const { init, shutdown } = core
  return {
    coreType: core.coreType,
    ...(init === undefined ? {} : { init: init.bind(core) }),
    ...(shutdown === undefined ? {} : { shutdown: shutdown.bind(core) }),
    runTurn,
    decodeOutput
  }
}

const feedback = (why: string, { inputSchema }: ToolSchema.ToolSchema): string =>
  `${why}\nAnswer again, with JSON that fits this JSON Schema and nothing else:\n${JSON.stringify(inputSchema)}`
