/** Requests JSON answers from models that may not support a response format. */
import type { LlmRequest, LlmResponse } from "@belay/core/LlmCall"
import type { DeltaSink } from "@belay/core/LlmProvider"
import type { ProviderError } from "@belay/core/ProviderError"
import type * as Effect from "effect/Effect"
import { defaults } from "../../openai/internal/request/compat.ts"
import { sendWithFormat } from "../../openai/internal/request/format.ts"

const words = { ...defaults, jsonSchema: "prompt" } as const

/**
 * Sends a request. If it has a response format, the format is also written in the instructions, and the text of the
 * response is the JSON.
 */
export const inWords = (
  request: LlmRequest,
  sink: DeltaSink | undefined,
  send: (request: LlmRequest, sink: DeltaSink | undefined) => Effect.Effect<LlmResponse, ProviderError>
): Effect.Effect<LlmResponse, ProviderError> =>
  request.parameters.responseFormat === undefined ? send(request, sink) : sendWithFormat(request, words, sink, send)
