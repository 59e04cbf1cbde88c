/** Sends a request whose answer is one JSON value. */
import type { LlmRequest } from "@belay/core/LlmCall"
import type { ProviderError } from "@belay/core/ProviderError"
import * as Effect from "effect/Effect"
import { accessOf, type AccessOptions } from "./access.ts"
import * as Line from "./line.ts"
import { errorIn } from "./response/chunk.ts"
import type { Source } from "./response/errors.ts"
import type { Assembler } from "./response/stream.ts"
import * as Exchange from "./transport/exchange.ts"
import type { Method } from "./transport/transport.ts"

/** Sends a body, or nothing for `GET`. */
export type Ask = (body: string, model: string | undefined) => Effect.Effect<unknown, ProviderError>

/** Creates the function that asks one path of an endpoint. */
export const make = (options: AccessOptions, path: string, method: Method, timeoutMs: number): Ask => {
  const access = accessOf(options, method)
  const lines = Line.make(access, path)
  return (body, model) =>
    lines.use(
      { provider: access.name, model, secrets: [] },
      ({ headers, secrets, transport }) =>
        Effect.callback<unknown, ProviderError>((resume) => {
          const source: Source = { provider: access.name, model, address: access.baseUrl + path, secrets }
          const timeouts = { headersMs: timeoutMs, firstEventMs: timeoutMs, idleMs: timeoutMs }
          const exchange = { request, headers, body, source, timeouts, sink: undefined, assembler: json }
          return Effect.sync(Exchange.run<unknown>(transport, exchange, resume))
        })
    )
}

/** The assembler of a JSON value does not read the request. */
const request: LlmRequest = { messages: [], tools: [], parameters: {} }

const json = (): Assembler<unknown> => {
  let value: unknown
  return {
    push: (given) => {
      value = given
      return errorIn(given)
    },
    pushText: () => {},
    choice: () => undefined,
    isFinished: () => false,
    partial: () => ({}),
    end: () =>
      value === undefined
        ? { type: "malformed", reason: "the answer has no JSON" }
        : { type: "response", response: value }
  }
}
