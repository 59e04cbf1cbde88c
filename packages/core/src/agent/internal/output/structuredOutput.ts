/**
 * Structured output. The model receives the schema, the answer is decoded, and an answer that does not fit is sent back
 * to the model.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type AgentError, ConfigError, OutputMismatch } from "../../../data/AgentError.ts"
import { noEffect } from "../../../data/effect/portEffect.ts"
import type { TurnInput } from "../../../data/Turn.ts"
import type { TurnEnded } from "../../../guard/TurnEnded.ts"
import type { AgentConfig } from "../../AgentConfig.ts"
import type { AgentContext } from "../../AgentContext.ts"
import type { AgentCore, CoreOutput } from "../../AgentCore.ts"
import type { Output } from "../../Output.ts"
import * as ToolLoop from "../../ToolLoop.ts"
import { type AnswerSchema, readAnswerSchema } from "./answerSchema.ts"

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
  const { name = "answer", retries = 2 } = output
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(name)) {
    return wrong("name", `name "${name}" must be 1 to 64 letters, digits, "_" or "-"`)
  }
  if (!(Number.isInteger(retries) && retries >= 0)) {
    return wrong("retries", `retries must be 0 or more, found ${String(retries)}`)
  }
  return Result.map(readAnswerSchema(output, "output"), (schema) => ({
    ...config,
    parameters: { ...config.parameters, responseFormat: schema.responseFormat },
    core: decodingCore(config.core ?? ToolLoop.make(), schema, retries)
  }))
}

const wrong = (key: keyof Output, message: string) =>
  Result.fail(new ConfigError({ key: `output.${key}`, message: `output: ${message}` }))

/** Runs a core until its answer fits the schema. */
const decodingCore = (core: AgentCore, schema: AnswerSchema, retries: number): DecodingCore => {
  const runTurn = Effect.fnUntraced(
    function*(input: TurnInput, ctx: AgentContext): Effect.fn.Return<CoreOutput, AgentError | TurnEnded> {
      for (let retry = 0;; retry++) {
        const running = core.runTurn(input, ctx)
        const output = yield* Effect.isEffect(running) ? running : noEffect("runTurn", running)
        const found = yield* Effect.result(schema.decode(output.text))
        if (Result.isSuccess(found)) return output
        const { message } = found.failure
        if (retry >= retries) return yield* found.failure
        if (ctx.events.active) {
          ctx.events.emit({ type: "retract", reason: message })
          ctx.events.emit({ type: "warning", hook: "output", message })
        }
        ctx.append({ role: "user", content: schema.feedback(message), source: "output" })
      }
    }
  )
  const { init, shutdown } = core
  return {
    coreType: core.coreType,
    ...(init === undefined ? {} : { init: init.bind(core) }),
    ...(shutdown === undefined ? {} : { shutdown: shutdown.bind(core) }),
    runTurn,
    decodeOutput: schema.decode
  }
}
