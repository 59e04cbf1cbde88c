/**
 * A provider for endpoints with OpenAI's Chat Completions or Responses API. It has its own transport, decoder, timeouts
 * and typed errors.
 *
 * @since 0.1.0
 */
import * as Awaitable from "@belay/core/Awaitable"
import { defined } from "@belay/core/Fields"
import type { LlmRequest, LlmResponse } from "@belay/core/LlmCall"
import type { DeltaSink, LlmProvider } from "@belay/core/LlmProvider"
import { checkKinds, checkObject, checkOptions, oneOf, type OptionKinds, optionsIn } from "@belay/core/OptionCheck"
import type { ProviderError } from "@belay/core/ProviderError"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Codec from "../internal/codec.ts"
import { checkTable } from "../usage/internal/priceTable.ts"
import * as Prices from "../usage/Prices.ts"
import * as Tokens from "../usage/Tokens.ts"
import { accessKinds, accessOf, type AccessOptions } from "./internal/access.ts"
import * as Ask from "./internal/ask.ts"
import * as Call from "./internal/call.ts"
import { checkCompat, type Compat } from "./internal/request/compat.ts"
import * as Errors from "./internal/response/errors.ts"
import { readModels } from "./internal/response/models.ts"
import type * as Exchange from "./internal/transport/exchangeParts.ts"
import { type Client, overClient } from "./internal/transport/overClient.ts"
import type { Fetch } from "./internal/transport/transport.ts"
import * as Presets from "./Presets.ts"

export type { AccessOptions, Client, Compat, Fetch }

/** Options of `make`. @category models @since 0.1.0 */
export interface Options extends AccessOptions {
  /** Model for requests that name none. */
  readonly model?: string
  /**
   * Size of the context window in tokens. If compaction does not solve an overflow, the request goes to a backup with a
   * larger window.
   */
  readonly contextWindow?: number
  readonly timeouts?: Timeouts
  /** Overrides what Belay detects from the address of the endpoint. */
  readonly compat?: Partial<Compat>
  /**
   * Prices of the models: a source of `Prices`, or a table by the name of the model. With them, the results of an agent
   * have their cost. A cost that the endpoint reports counts first. Default none.
   */
  readonly prices?: Prices.Prices | { readonly [model: string]: Prices.Price }
  /** The API: `chat` (default), which every endpoint has, or `responses`. */
  readonly api?: "chat" | "responses"
  /**
   * Whether the vendor stores responses (only with `api: "responses"`). Requests then contain only the new messages and
   * `previous_response_id`. The whole conversation is sent if it was changed or the vendor has forgotten it. Default
   * `false`: the vendor stores nothing.
   */
  readonly storeResponses?: boolean
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
  ...accessKinds,
  model: "text",
  contextWindow: "number",
  timeouts: optionsIn<Timeouts>("object", {
    headersMs: "number",
    answerMs: "number",
    firstEventMs: "number",
    idleMs: "number",
    totalMs: "number"
  }),
  compat: "object",
  prices: "object",
  api: "text",
  storeResponses: "flag"
}

const { apiKey: _apiKey, baseUrl: _baseUrl, fetch: _fetch, proxy: _proxy, ...clientOptionKinds } = optionKinds
const clientKinds: OptionKinds<Client> = { baseURL: "text", post: "function" }

/**
 * Creates a provider. It reads nothing from the environment but proxies, and sends nothing before the first call.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options = {}): LlmProvider => {
  Result.getOrThrow(checkKinds("OpenAiCompatible", options, optionKinds))
  Result.getOrThrow(checkOptions("OpenAiCompatible", oneOf("api", options.api, ["chat", "responses"])))
  Result.getOrThrow(checkCompat("OpenAiCompatible.compat", options.compat ?? {}))
  const access = accessOf(options)
  const { baseUrl, name } = access
  const send = Call.make({
    ...access,
    codec: codecOf(options),
    compatOf: (model) => Presets.compatOf(baseUrl, model, options.compat),
    timeouts: { stream: limits(options.timeouts, true), whole: limits(options.timeouts, false) }
  })
  const call = (request: LlmRequest, sink: DeltaSink | undefined): Effect.Effect<LlmResponse, ProviderError> => {
    const model = request.model ?? options.model
    return model === undefined ? Effect.fail(noModel(name)) : send(request, model, sink)
  }
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
 * Creates a provider from `OPENAI_BASE_URL`, `OPENAI_API_KEY`, `OPENAI_MODEL` and `OPENAI_CUSTOM_HEADERS`. Options
 * override these variables. With the option `baseUrl` of another known vendor, the key comes from the variable of that
 * vendor (`Presets`), and custom headers are not sent.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromEnv = (
  options: Options = {},
  env: Readonly<Record<string, string | undefined>> = globalThis.process?.env ?? {}
): LlmProvider => {
  Result.getOrThrow(checkObject("OpenAiCompatible", options, "an object with options"))
  Result.getOrThrow(checkObject("OpenAiCompatible.env", env, "an object of environment variables"))
  const { OPENAI_BASE_URL: baseUrl, OPENAI_CUSTOM_HEADERS: headers, OPENAI_MODEL: model } = env
  // A program without types can pass `undefined`, which must not replace a variable.
  const given: Options = defined(options)
  const preset = given.baseUrl === undefined ? undefined : Presets.detect(given.baseUrl)
  const apiKey = env[preset === undefined ? "OPENAI_API_KEY" : preset.keyVariable ?? ""]
  return make({
    ...(baseUrl ? { baseUrl } : {}),
    ...(apiKey ? { apiKey } : {}),
    ...(model ? { model } : {}),
    ...given,
    ...(headers && given.baseUrl === undefined
      ? { headers: { ...headersIn(headers), ...lowerNames(given.headers) } }
      : {})
  })
}

/** Options of `fromClient`. The client has the address, the key and the connection. @category models @since 0.2.0 */
export type ClientOptions = Omit<Options, "baseUrl" | "apiKey" | "fetch" | "proxy">

/**
 * Creates a provider that sends its requests with your own client of the package `openai`, for example `AzureOpenAI`,
 * or a client with a `fetch` or with credentials of your own. The retries of the client are switched off, because those
 * of the agent count; time limits are those of this provider. Everything else is as with `make`.
 *
 * @example
 * ```ts
 * import * as OpenAiCompatible from "@belay/providers/OpenAiCompatible"
 * import { AzureOpenAI } from "openai"
 *
 * const endpoint = "https://example.openai.azure.com"
 * const client = new AzureOpenAI({ endpoint, apiKey: "none", apiVersion: "2026-01-01" })
 * const provider = OpenAiCompatible.fromClient(client, { model: "gpt-5.4-mini" })
 * ```
 * @category constructors
 * @since 0.2.0
 */
export const fromClient = (client: Client, options: ClientOptions = {}): LlmProvider => {
  Result.getOrThrow(checkObject("OpenAiCompatible.client", client, "a client of the package openai"))
  Result.getOrThrow(
    checkKinds("OpenAiCompatible.client", { post: Reflect.get(client, "post"), baseURL: client.baseURL }, clientKinds, [
      "post",
      "baseURL"
    ])
  )
  Result.getOrThrow(checkKinds("OpenAiCompatible.fromClient", options, clientOptionKinds))
  return make({ ...options, baseUrl: client.baseURL, fetch: overClient(client) })
}

/** Reads headers that are lines of `name: value`. */
const headersIn = (text: string): Readonly<Record<string, string>> =>
  lowerNames(Object.fromEntries(
    text.split("\n").flatMap((line) => {
      const at = line.indexOf(":")
      return at < 1 ? [] : [[line.slice(0, at).trim(), line.slice(at + 1).trim()]]
    })
  ))

const lowerNames = (headers: Options["headers"] = {}): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

const noModel = (provider: string) =>
  Errors.unsendable(
    { provider, model: undefined, secrets: [] },
    "no model is set: set OPENAI_MODEL, pass `fromEnv({ model })` or `make({ model })`, or name one in the request",
    "model"
  )

const codecOf = ({ api, storeResponses }: Options): Codec.Codec => {
  if (api !== "responses") return Codec.chat
  return storeResponses === true ? Codec.storedResponses : Codec.responses
}

/** A model of an endpoint. @category models @since 0.1.0 */
export interface Model {
  readonly id: string
  readonly name?: string
  readonly ownedBy?: string
  /** Size of the context window in tokens, if the endpoint reports it. */
  readonly contextWindow?: number
}

/**
 * Returns the models of an endpoint, in the order of the endpoint. It can be awaited, and it is an Effect that fails
 * with a `ProviderError`.
 *
 * @example
 * ```ts
 * import * as OpenAiCompatible from "@belay/providers/OpenAiCompatible"
 *
 * const ids = async () => {
 *   const models = await OpenAiCompatible.models({ baseUrl: "http://localhost:11434/v1" })
 *   return models.map(({ id }) => id)
 * }
 * ```
 * @category reading
 * @since 0.1.0
 */
export const models = (options: AccessOptions = {}): Awaitable.Awaitable<ReadonlyArray<Model>, ProviderError> => {
  Result.getOrThrow(checkKinds("OpenAiCompatible.models", options, accessKinds))
  return Awaitable.make(Effect.map(Ask.make(options, "/models", "GET", 30_000)("", undefined), readModels))
}

type PriceTable = { readonly [model: string]: Prices.Price }

const costWith = (given: NonNullable<Options["prices"]>, provider: string): NonNullable<LlmProvider["costOf"]> => {
  // A table has no functions, so it has none with this name.
  if (typeof given.costOf !== "function") Result.getOrThrow(checkTable("OpenAiCompatible.prices", given))
  const { costOf } = typeof given.costOf === "function" ? given as Prices.Prices : Prices.table(given as PriceTable)
  return (usage, model) => costOf(usage, model, provider)
}

const limits = (given: Timeouts = {}, stream: boolean): Exchange.Timeouts => ({
  headersMs: stream ? given.headersMs ?? 30_000 : given.answerMs ?? given.headersMs ?? 600_000,
  firstEventMs: given.firstEventMs ?? 60_000,
  idleMs: given.idleMs ?? 60_000,
  ...(given.totalMs === undefined ? {} : { totalMs: given.totalMs })
})
