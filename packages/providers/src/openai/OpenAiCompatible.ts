/**
 * A provider for endpoints with OpenAI's Chat Completions or Responses API. It has its own transport, decoder, timeouts
 * and typed errors.
 *
 * @since 0.1.0
 */
import { defined } from "@belay/core/Fields"
import type { LlmRequest, LlmResponse } from "@belay/core/LlmCall"
import type { DeltaSink, LlmProvider } from "@belay/core/LlmProvider"
import { checkKinds, type OptionKinds } from "@belay/core/OptionCheck"
import type { ProviderError } from "@belay/core/ProviderError"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Codec from "../internal/codec.ts"
import * as Prices from "../usage/Prices.ts"
import * as Tokens from "../usage/Tokens.ts"
import * as Client from "./internal/request/client.ts"
import type { Compat } from "./internal/request/compat.ts"
import * as Format from "./internal/request/format.ts"
import type { Renderer } from "./internal/request/message.ts"
import * as Errors from "./internal/response/errors.ts"
import * as Exchange from "./internal/transport/exchange.ts"
import { type HttpAgent, overNode } from "./internal/transport/node.ts"
import { proxiesFor } from "./internal/transport/proxy.ts"
import { type Fetch, overFetch, type Transport } from "./internal/transport/transport.ts"
import * as Presets from "./Presets.ts"

export type { Compat, Fetch }

/** Options of `make`. @category models @since 0.1.0 */
export interface Options {
  /** Base URL of the endpoint. Default: OpenAI. */
  readonly baseUrl?: string
  /** The API key, or a function that returns it before every call. Leave it out for servers without keys. */
  readonly apiKey?: string | (() => Promise<string>)
  /** Model for requests that name none. */
  readonly model?: string
  /** Name of the provider in an agent. Default: the name of the preset, or the host. */
  readonly name?: string
  /**
   * Size of the context window in tokens. If compaction does not solve an overflow, the request goes to a backup with a
   * larger window.
   */
  readonly contextWindow?: number
  readonly timeouts?: Timeouts
  /** Headers for every request. */
  readonly headers?: Readonly<Record<string, string>>
  /** Replaces the built-in transport, for example for signing or recording. */
  readonly fetch?: Fetch
  /**
   * URL of an HTTP proxy, an agent of `node:http` or `node:https`, or `false` for direct connections. Default: the
   * proxies in the variables `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, except for servers on this machine. With
   * `NODE_USE_ENV_PROXY=1` they count for these servers too. It has no effect on `fetch`.
   */
  readonly proxy?: string | false | HttpAgent
  /** Overrides what Belay detects from the address of the endpoint. */
  readonly compat?: Partial<Compat>
  /**
   * Prices of the models: a source of `Prices`, or a table by the name of the model. With them, the results of an agent
   * have their cost. A cost that the endpoint reports counts first. Default none.
   */
  readonly prices?: Prices.Prices | { readonly [model: string]: Prices.Price }
  /** The API: `chat` (default), which every endpoint has, or `responses`. */
  readonly api?: "chat" | "responses"
}

/** Time limits in milliseconds. @category models @since 0.1.0 */
export interface Timeouts {
  /** Until the headers of a stream. Default 30 s. */
  readonly headersMs?: number
  /**
   * Until the headers of an answer that is not streamed. They arrive when the model has finished. Default: `headersMs`
   * if it is set, otherwise 10 minutes.
   */
  readonly answerMs?: number
  /** From the headers to the first data. Default 60 s. */
  readonly firstEventMs?: number
  /** Between two pieces of data. Comments that keep the connection alive do not count. Default 60 s. */
  readonly idleMs?: number
  /** For the whole call. Default: no limit. */
  readonly totalMs?: number
}

const optionKinds: OptionKinds<Options> = {
  baseUrl: "text",
  apiKey: "any",
  model: "text",
  name: "text",
  contextWindow: "number",
  timeouts: "any",
  headers: "any",
  fetch: "any",
  proxy: "any",
  compat: "any",
  prices: "object",
  api: "text"
}

/**
 * Creates a provider. It reads nothing from the environment but proxies, and sends nothing before the first call.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options = {}): LlmProvider => {
  Result.getOrThrow(checkKinds("OpenAiCompatible", options, optionKinds))
  const baseUrl = options.baseUrl ?? "https://api.openai.com/v1"
  const name = options.name ?? Presets.detect(baseUrl)?.name ?? hostOf(baseUrl)
  const codec = options.api === "responses" ? Codec.responses : Codec.chat
  const endpoints = new Map<string, Endpoint>()
  let prepared: PreparedCall | undefined

  const endpointOf = (model: string): Endpoint => {
    const known = endpoints.get(model)
    if (known !== undefined) return known
    const compat = Presets.compatOf(baseUrl, model, options.compat)
    const made = { compat, render: codec.renderer(name, compat) }
    if (endpoints.size < mostModels) endpoints.set(model, made)
    return made
  }
  const source = (model: string | undefined, secrets: ReadonlyArray<string> = []): Errors.Source => ({
    provider: name,
    model,
    secrets
  })

  const prepare = (model: string | undefined) =>
    Effect.map(
      Effect.tryPromise({
        try: () => Client.prepare({ baseUrl, apiKey: options.apiKey, headers: options.headers }, codec.path),
        catch: (error) => Errors.unsendable(source(model), error instanceof Error ? error.message : String(error))
      }),
      ({ headers, url }) => {
        const secrets = secretHeaders.flatMap((header) => headers[header]?.replace(/^Bearer /, "") ?? [])
        const made = {
          headers,
          secrets,
          transport: options.fetch === undefined
            ? overNode(url, routeTo(url, options.proxy))
            : overFetch(url, options.fetch)
        }
        if (typeof options.apiKey !== "function") prepared = made
        return made
      }
    )

  const call = (request: LlmRequest, sink: DeltaSink | undefined): Effect.Effect<LlmResponse, ProviderError> => {
    const model = request.model ?? options.model
    if (model === undefined) {
      return Effect.fail(
        Errors.unsendable(
          source(undefined),
          "no model is set: use the option `model`, set OPENAI_MODEL (with `fromEnv`), or name one in the request",
          "model"
        )
      )
    }
    const endpoint = endpointOf(model)
    if (request.parameters.responseFormat === undefined) return send(request, model, endpoint, sink)
    const asked = () =>
      Format.sendWithFormat(request, endpoint.compat, sink, (shaped, pipe) => send(shaped, model, endpoint, pipe))
    return Effect.catch(asked(), (error) => {
      if (endpoint.compat.jsonSchema === "prompt" || !Format.isUnknown(error)) return Effect.fail(error)
      endpoint.compat = { ...endpoint.compat, jsonSchema: "prompt" }
      return asked()
    })
  }

  const send = (request: LlmRequest, model: string, endpoint: Endpoint, sink: DeltaSink | undefined) => {
    const attempt = (ready: PreparedCall) => {
      const answer = exchange(ready, request, model, endpoint, sink)
      return sink === undefined || !endpoint.compat.usageInStream ? answer : Effect.catch(answer, (error) => {
        if (error._tag !== "InvalidRequest" || !/stream_options|include_usage/.test(error.message)) {
          return Effect.fail(error)
        }
        endpoint.compat = { ...endpoint.compat, usageInStream: false }
        return exchange(ready, request, model, endpoint, sink)
      })
    }
    return prepared === undefined ? Effect.flatMap(prepare(model), attempt) : attempt(prepared)
  }

  const exchange = (
    { headers, secrets, transport }: PreparedCall,
    request: LlmRequest,
    model: string,
    endpoint: Endpoint,
    sink: DeltaSink | undefined
  ) =>
    Effect.callback<LlmResponse, ProviderError>((resume) => {
      const stream = sink !== undefined
      const body = codec.body(request, { model, stream, compat: endpoint.compat, render: endpoint.render })
      const cancel = Exchange.run(transport, {
        request,
        headers,
        body,
        source: source(model, secrets),
        timeouts: limits(options.timeouts, stream),
        sink,
        assembler: codec.assembler
      }, resume)
      return Effect.sync(cancel)
    })

  return {
    name,
    ...defined({ model: options.model, contextWindow: options.contextWindow }),
    ...defined({ costOf: options.prices && costWith(options.prices, name) }),
    tokenizer: Tokens.estimate,
    complete: (request) => call(request, undefined),
    stream: (request, sink) => call(request, sink)
  }
}

/**
 * Creates a provider from `OPENAI_BASE_URL`, `OPENAI_API_KEY` and `OPENAI_MODEL`. Options override these variables.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromEnv = (
  options: Options = {},
  env: Readonly<Record<string, string | undefined>> = process.env
): LlmProvider => {
  const { OPENAI_API_KEY: apiKey, OPENAI_BASE_URL: baseUrl, OPENAI_MODEL: model } = env
  return make({
    ...(baseUrl ? { baseUrl } : {}),
    ...(apiKey ? { apiKey } : {}),
    ...(model ? { model } : {}),
    ...options
  })
}

const routeTo = (url: string, proxy: Options["proxy"]) =>
  typeof proxy === "object" ? { agent: proxy } : { proxies: proxiesFor(url, proxy, process.env) }

type PriceTable = { readonly [model: string]: Prices.Price }

const costWith = (given: NonNullable<Options["prices"]>, provider: string): NonNullable<LlmProvider["costOf"]> => {
  // A table has no functions, so it has none with this name.
  const { costOf } = typeof given.costOf === "function" ? given as Prices.Prices : Prices.table(given as PriceTable)
  return (usage, model) => costOf(usage, model, provider)
}

interface PreparedCall {
  readonly headers: Readonly<Record<string, string>>
  readonly secrets: ReadonlyArray<string>
  readonly transport: Transport
}

interface Endpoint {
  compat: Compat
  readonly render: Renderer
}

const mostModels = 100

const secretHeaders = ["authorization", "api-key", "x-api-key"]

const limits = (given: Timeouts = {}, stream: boolean): Exchange.Timeouts => ({
  headersMs: stream ? given.headersMs ?? 30_000 : given.answerMs ?? given.headersMs ?? 600_000,
  firstEventMs: given.firstEventMs ?? 60_000,
  idleMs: given.idleMs ?? 60_000,
  ...(given.totalMs === undefined ? {} : { totalMs: given.totalMs })
})

const hostOf = (baseUrl: string): string => URL.canParse(baseUrl) ? new URL(baseUrl).host : baseUrl
