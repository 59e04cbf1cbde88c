/** Calls one endpoint: learns what it accepts, fetches its key, and sends the request. */
import type { LlmRequest, LlmResponse } from "@belay/core/LlmCall"
import type { DeltaSink } from "@belay/core/LlmProvider"
import { Auth, type ProviderError } from "@belay/core/ProviderError"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Codec } from "../../internal/codec.ts"
import { adapt } from "./request/adapt.ts"
import * as Client from "./request/client.ts"
import type { Compat } from "./request/compat.ts"
import * as Format from "./request/format.ts"
import type { Renderer } from "./request/message.ts"
import * as Errors from "./response/errors.ts"
import * as Exchange from "./transport/exchange.ts"
import type { Transport } from "./transport/transport.ts"

/** An endpoint of a vendor. */
export interface Vendor {
  readonly name: string
  readonly baseUrl: string
  readonly codec: Codec
  readonly apiKey: string | (() => PromiseLike<string>) | undefined
  readonly headers: Readonly<Record<string, string>> | undefined
  readonly compatOf: (model: string) => Compat
  readonly transport: (url: string) => Transport
  readonly timeouts: (isStream: boolean) => Exchange.Timeouts
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

/** Everything about a call that does not depend on its request. */
interface Line {
  readonly headers: Readonly<Record<string, string>>
  readonly secrets: ReadonlyArray<string>
  readonly transport: Transport
}

const mostModels = 100
const secretHeaders = ["authorization", "api-key", "x-api-key"]

/** Creates the function that calls an endpoint. */
export const make = (vendor: Vendor): Call => {
  const { apiKey, codec, name } = vendor
  const endpoints = new Map<string, Endpoint>()
  let opened: Omit<Line, "secrets"> | undefined
  let line: Line | undefined

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
    secrets
  })

  const open = Effect.fnUntraced(function*(model: string) {
    const problem = Client.whyNotAddress(vendor.baseUrl)
    if (problem !== undefined) return yield* Errors.unsendable(sourceOf(model), problem, "baseUrl")
    if (opened === undefined) {
      const { headers, url } = Client.readyFor(vendor, codec.path)
      opened = { headers, transport: vendor.transport(url) }
    }
    return opened
  })
  /** Fetches the key and prepares the headers. A fixed key is used again. */
  const connect = Effect.fnUntraced(function*(model: string) {
    const { headers, transport } = yield* open(model)
    const key = typeof apiKey !== "function" ? apiKey : yield* Effect.tryPromise({
      try: async () => apiKey(),
      catch: (error) => keyError(sourceOf(model), `the function \`apiKey\` failed: ${messageOf(error)}`)
    })
    if (key === "") return yield* keyError(sourceOf(model), "the API key is empty")
    if (typeof apiKey === "function" && typeof key !== "string") {
      return yield* keyError(sourceOf(model), "the function `apiKey` returned no text")
    }
    const all = yield* Effect.try({
      try: () => Client.withKey(headers, key),
      catch: () => keyError(sourceOf(model), "the API key has characters that are not allowed in a header")
    })
    const made: Line = { headers: all, secrets: secretsIn(all), transport }
    if (typeof apiKey !== "function") line = made
    return made
  })

  const bodyOf = (request: LlmRequest, model: string, { compat, render }: Endpoint, stream: boolean) =>
    codec.body(request, { model, stream, compat, render })

  const exchange = (
    { headers, secrets, transport }: Line,
    request: LlmRequest,
    model: string,
    endpoint: Endpoint,
    sink: DeltaSink | undefined
  ) =>
    Effect.callback<LlmResponse, ProviderError>((resume) => {
      const stream = sink !== undefined
      const source = sourceOf(model, secrets)
      const given = request.parameters.headers
      const own = given === undefined ? undefined : Result.try(() => Client.lowerCase(given))
      if (own !== undefined && Result.isFailure(own)) {
        return resume(
          Effect.fail(Errors.unsendable(source, `a header is not allowed: ${messageOf(own.failure)}`, "headers"))
        )
      }
      const body = bodyOf(request, model, endpoint, stream)
      if (Result.isFailure(body)) {
        return resume(Effect.fail(Errors.unsendable(source, body.failure.message, body.failure.param)))
      }
      const cancel = Exchange.run(transport, {
        request,
        headers: own === undefined ? headers : { ...headers, ...own.success },
        body: body.success,
        source: own === undefined ? source : sourceOf(model, [...secrets, ...secretsIn(own.success)]),
        timeouts: vendor.timeouts(stream),
        sink,
        assembler: codec.assembler
      }, resume)
      return Effect.sync(cancel)
    })

  const send = (request: LlmRequest, model: string, endpoint: Endpoint, sink: DeltaSink | undefined) => {
    const ask = (through: Line) => exchange(through, request, model, endpoint, sink)
    const attempt = (through: Line): Effect.Effect<LlmResponse, ProviderError> =>
      Effect.catch(ask(through), (error) => {
        if (error._tag === "Auth" && typeof apiKey === "function") {
          // The key can have expired since it was fetched. Another one is worth one more attempt.
          return Effect.flatMap(
            connect(model),
            (fresh) => fresh.headers.authorization === through.headers.authorization ? Effect.fail(error) : ask(fresh)
          )
        }
        if (error._tag !== "InvalidRequest" || error.status === undefined) return Effect.fail(error)
        const learned = adapt(endpoint.compat, error)
        if (learned === undefined) return Effect.fail(error)
        const bodies = [endpoint.compat, learned].map((compat) =>
          Result.getOrUndefined(bodyOf(request, model, { ...endpoint, compat }, sink !== undefined))
        )
        if (bodies[0] === bodies[1]) return Effect.fail(error)
        endpoint.compat = learned
        return ask(through)
      })
    return line === undefined ? Effect.flatMap(connect(model), attempt) : attempt(line)
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

const secretsIn = (headers: Readonly<Record<string, string>>): ReadonlyArray<string> =>
  secretHeaders.flatMap((header) => headers[header]?.replace(/^Bearer /, "") ?? [])

const keyError = ({ model, provider }: Errors.Source, message: string): Auth =>
  new Auth({
    provider,
    message: Errors.redactKeys(`${provider}: ${message}`),
    ...(model === undefined ? {} : { model })
  })

const messageOf = (error: unknown): string => error instanceof Error ? error.message : String(error)
