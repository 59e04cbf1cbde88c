/** Reads the options that say how an endpoint is reached. */
import { transportTo } from "#platform"
import * as Presets from "../Presets.ts"
import type { Access } from "./line.ts"
import { baseOf } from "./request/client.ts"
import type { HttpAgent } from "./transport/node.ts"
import { type Fetch, type Method, overFetch } from "./transport/transport.ts"

/** How an endpoint is reached. @category models @since 0.1.0 */
export interface AccessOptions {
  /** Base URL of the endpoint. Default: OpenAI. */
  readonly baseUrl?: string
  /**
   * The API key, or a function that returns it before every call. After a 401 the function is called once more, and a
   * key that differs is tried. Leave the key out for servers without keys.
   */
  readonly apiKey?: string | (() => PromiseLike<string>)
  /** Name of the provider in an agent and in errors. Default: the name of the preset, or the host. */
  readonly name?: string
  /** Headers for every request. */
  readonly headers?: Readonly<Record<string, string>>
  /** Replaces the built-in transport, for example for signing or recording. */
  readonly fetch?: Fetch
  /**
   * URL of an HTTP proxy, or its host and port; an agent of `node:http` or `node:https`; or `false` for direct
   * connections. With another proxy, such as SOCKS, calls fail with `InvalidRequest`. Default: the
   * proxies in the variables `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, except for servers on this machine. With
   * `NODE_USE_ENV_PROXY=1` they count for these servers too. It has no effect on `fetch`.
   */
  readonly proxy?: string | false | HttpAgent
}

/** The kinds of these options. */
export const accessKinds = {
  baseUrl: "text",
  apiKey: "any",
  name: "text",
  headers: "any",
  fetch: "any",
  proxy: "any"
} as const

/** Returns how to reach the endpoint. */
export const accessOf = (options: AccessOptions, method: Method = "POST"): Access => {
  const baseUrl = baseOf(options.baseUrl ?? "https://api.openai.com/v1")
  const { apiKey, fetch, headers, proxy } = options
  return {
    name: options.name ?? Presets.detect(baseUrl)?.name ?? hostOf(baseUrl),
    baseUrl,
    apiKey,
    headers,
    transport: (url) => fetch === undefined ? transportTo(url, proxy, method) : overFetch(url, fetch, method)
  }
}

const hostOf = (baseUrl: string): string => (URL.canParse(baseUrl) && new URL(baseUrl).host) || baseUrl || "vendor"
