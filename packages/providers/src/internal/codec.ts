/** How a request becomes a body and a body an answer. There are two: chat completions, and Responses. */
import type { LlmDelta, LlmRequest } from "@belay/core/LlmCall"
import type { Compat } from "./openai/compat.ts"
import * as Message from "./openai/message.ts"
import * as Request from "./openai/request.ts"
import * as Stream from "./openai/stream.ts"
import * as Items from "./responses/items.ts"
import * as ResponsesRequest from "./responses/request.ts"
import * as ResponsesStream from "./responses/stream.ts"

/** A dialect. */
export interface Codec {
  readonly path: string
  readonly renderer: (provider: string, compat: Compat) => Message.Renderer
  readonly body: (request: LlmRequest, options: Request.BodyOptions) => string
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

/** `POST /responses`. */
export const responses: Codec = {
  path: "/responses",
  renderer: Items.renderer,
  body: ResponsesRequest.body,
  assembler: ResponsesStream.make
}
