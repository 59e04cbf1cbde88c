/** Converts requests to bodies and bodies to answers, for Chat Completions and for Responses. */
import type { LlmDelta, LlmRequest } from "@belay/core/LlmCall"
import type * as Result from "effect/Result"
import type { Compat } from "../openai/internal/request/compat.ts"
import type { Conflict } from "../openai/internal/request/extra.ts"
import * as Message from "../openai/internal/request/message.ts"
import * as Request from "../openai/internal/request/request.ts"
import * as Stream from "../openai/internal/response/stream.ts"
import * as Items from "../openai/internal/responses/items.ts"
import * as ResponsesRequest from "../openai/internal/responses/request.ts"
import * as ResponsesStream from "../openai/internal/responses/stream.ts"

/** One API: how to render requests and read answers. */
export interface Codec {
  readonly path: string
  readonly renderer: (provider: string, compat: Compat) => Message.Renderer
  readonly body: (request: LlmRequest, options: Request.BodyOptions) => Result.Result<string, Conflict>
  readonly assembler: (
    request: LlmRequest,
    provider: string,
    emit: ((delta: LlmDelta) => void) | undefined
  ) => Stream.Assembler
}

/** `POST /chat/completions`. */
export const chat: Codec = {
  path: "/chat/completions",
  renderer: Message.renderer,
  body: Request.body,
  assembler: Stream.make
}

/** `POST /responses`, where the vendor stores the responses. */
export const storedResponses: Codec = {
  path: "/responses",
  renderer: Items.renderer,
  body: (request, options) => ResponsesRequest.body(request, options, true),
  assembler: (request, provider, emit) => ResponsesStream.make(request, provider, emit, true)
}

/** `POST /responses`. */
export const responses: Codec = {
  path: "/responses",
  renderer: Items.renderer,
  body: (request, options) => ResponsesRequest.body(request, options),
  assembler: (request, provider, emit) => ResponsesStream.make(request, provider, emit)
}
