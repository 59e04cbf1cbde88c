/** What a provider uses where there is no Node: in browsers and in workers. `#platform` is this file there. */
import { ConfigError } from "@belay/core/AgentError"
import type { HttpAgent } from "./node.ts"
import { type Method, overFetch, type Transport } from "./transport.ts"

export type { HttpAgent }

/** Opens a transport over the global `fetch`. */
export const transportTo = (
  url: string,
  proxy: string | false | HttpAgent | undefined,
  method: Method = "POST"
): Transport => {
  if (proxy !== undefined && proxy !== false) {
    throw new ConfigError({
      key: "OpenAiCompatible.proxy",
      message: "OpenAiCompatible.proxy: this runtime has no sockets, and chooses proxies itself: leave the option out"
    })
  }
  return overFetch(url, (address, init) => globalThis.fetch(address, init), method)
}

const utf8 = new TextDecoder()

/** Decodes bytes that are whole UTF-8 characters. */
export const textOf = (bytes: Uint8Array): string => utf8.decode(bytes)
