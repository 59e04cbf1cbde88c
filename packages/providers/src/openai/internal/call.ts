/** Calls one endpoint, and learns what it accepts. */
import type { LlmRequest, LlmResponse } from "@belay/core/LlmCall"
import type { DeltaSink } from "@belay/core/LlmProvider"
import type { ProviderError } from "@belay/core/ProviderError"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Codec } from "../../internal/codec.ts"
import * as Line from "./line.ts"
import { adapt } from "./request/adapt.ts"
import * as Client from "./request/client.ts"
import type { Compat } from "./request/compat.ts"
import * as Format from "./request/format.ts"
import type { Renderer } from "./request/message.ts"
import * as Errors from "./response/errors.ts"
import * as Exchange from "./transport/exchange.ts"
import type { Timeouts } from "./transport/exchangeParts.ts"

/** An endpoint of a vendor. */
export interface Vendor extends Line.Access {
  readonly codec: Codec
  readonly compatOf: (model: string) => Compat
  readonly timeouts: { readonly stream: Timeouts; readonly whole: Timeouts }
}

/** Sends a request. Without a sink, the answer is not streamed. */
export type Call = (
  request: LlmRequest,
  model: string,
  sink: DeltaSink | undefined
) => Effect.Effect<LlmResponse, ProviderError>

/** What is known about a model of the endpoint. It changes when an answer says something new. */
interface Endpoint {
  compat: Compat
  readonly render: Renderer
  /** How many answers in a row ignored the tool that the request required. */
  ignoredChoices: number
}

/** How a body is rendered. */
interface How {
  readonly stream: boolean
  readonly isWhole?: boolean
}

const mostModels = 100

/** Creates the function that calls an endpoint. */
export const make = (vendor: Vendor): Call => {
  const { codec, name } = vendor
  const endpoints = new Map<string, Endpoint>()
  const lines = Line.make(vendor, codec.path)

  const endpointOf = (model: string): Endpoint => {
    const known = endpoints.get(model)
    if (known !== undefined) return known
    const compat = vendor.compatOf(model)
    const made: Endpoint = { compat, render: codec.renderer(name, compat), ignoredChoices: 0 }
    if (endpoints.size < mostModels) endpoints.set(model, made)
    return made
  }
  const sourceOf = (model: string, secrets: ReadonlyArray<string> = []): Errors.Source => ({
    provider: name,
    model,
    address: vendor.baseUrl + codec.path,
    secrets
  })

  const bodyOf = (request: LlmRequest, model: string, { compat, render }: Endpoint, how: How) =>
    codec.body(request, { provider: name, model, compat, render, ...how })

  const exchange = (
    { headers, secrets, transport }: Line.Line,
    request: LlmRequest,
    model: string,
    endpoint: Endpoint,
    sink: DeltaSink | undefined,
    isWhole = false
  ) =>
    Effect.callback<LlmResponse, ProviderError>((resume) => {
      const stream = sink !== undefined
      const source = sourceOf(model, secrets)
      const given = request.parameters.headers
      const own = given === undefined ? undefined : Result.try(() => Client.lowerCase(given))
      if (own !== undefined && Result.isFailure(own)) {
        return resume(
          Effect.fail(Errors.unsendable(source, `a header is not allowed: ${Line.messageOf(own.failure)}`, "headers"))
        )
      }
      const body = bodyOf(request, model, endpoint, { stream, isWhole })
      if (Result.isFailure(body)) {
        return resume(Effect.fail(Errors.unsendable(source, body.failure.message, body.failure.param)))
      }
      const cancel = Exchange.run(transport, {
        request,
        headers: own === undefined ? headers : { ...headers, ...own.success },
        body: body.success,
        source: own === undefined ? source : sourceOf(model, [...secrets, ...Line.secretsIn(own.success)]),
        timeouts: stream ? vendor.timeouts.stream : vendor.timeouts.whole,
        sink,
        assembler: codec.assembler
      }, resume)
      return Effect.sync(cancel)
    })

  const send = (request: LlmRequest, model: string, endpoint: Endpoint, sink: DeltaSink | undefined) => {
    const ask = (line: Line.Line, isWhole?: boolean) => exchange(line, request, model, endpoint, sink, isWhole)
    const attempt = (line: Line.Line): Effect.Effect<LlmResponse, ProviderError> =>
      Effect.catch(ask(line), (error) => {
        const isForgotten = (error._tag === "InvalidRequest" || error._tag === "NotFound") &&
          /previous.?response/i.test(error.message)
        if (isForgotten) return ask(line, true)
        if (error._tag !== "InvalidRequest" || error.status === undefined) return Effect.fail(error)
        const learned = adapt(endpoint.compat, error)
        if (learned === undefined) return Effect.fail(error)
        const bodies = [endpoint.compat, learned].map((compat) =>
          Result.getOrUndefined(bodyOf(request, model, { ...endpoint, compat }, { stream: sink !== undefined }))
        )
        if (bodies[0] === bodies[1]) return Effect.fail(error)
        endpoint.compat = learned
        return ask(line)
      })
    return lines.use(sourceOf(model), attempt)
  }

  return (request, model, sink) => {
    const endpoint = endpointOf(model)
    const { responseFormat, toolChoice } = request.parameters
    if (responseFormat === undefined) {
      const answer = send(request, model, endpoint, sink)
      return toolChoice === undefined || endpoint.compat.toolChoiceInWords || request.tools.length === 0
        ? answer
        : Effect.map(answer, (response) => {
          endpoint.ignoredChoices = followsChoice(response, toolChoice) ? 0 : endpoint.ignoredChoices + 1
          // A model can fail once. Twice in a row, it is the server.
          if (endpoint.ignoredChoices > 1) endpoint.compat = { ...endpoint.compat, toolChoiceInWords: true }
          return response
        })
    }
    const inWords = () => {
      endpoint.compat = { ...endpoint.compat, jsonSchema: "prompt" }
    }
    const asked = () =>
      Format.sendWithFormat(
        request,
        endpoint.compat,
        sink,
        (shaped, pipe) => send(shaped, model, endpoint, pipe),
        inWords
      )
    return Effect.catch(asked(), (error) => {
      if (endpoint.compat.jsonSchema === "prompt" || !Format.isUnknown(error)) return Effect.fail(error)
      inWords()
      return asked()
    })
  }
}

type ToolChoice = NonNullable<LlmRequest["parameters"]["toolChoice"]>

/** Whether an answer calls the tools that the request required, or has a reason not to. */
const followsChoice = ({ finishReason, refusal, toolCalls }: LlmResponse, choice: ToolChoice): boolean => {
  if (choice === "auto" || finishReason === "length" || finishReason === "content-filter") return true
  if (choice === "none") return toolCalls.length === 0
  if (refusal !== undefined) return true
  return choice === "required" ? toolCalls.length > 0 : toolCalls.some(({ name }) => name === choice.tool)
}
