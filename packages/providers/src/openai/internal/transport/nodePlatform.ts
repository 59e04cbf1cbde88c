/** What a provider uses of Node, Bun and Deno. `#platform` is this file there. */
import { type HttpAgent, overNode } from "./node.ts"
import { proxiesFor } from "./proxy.ts"
import type { Method, Transport } from "./transport.ts"

export type { HttpAgent }

/** Opens a transport to an address, directly or through proxies. */
export const transportTo = (
  url: string,
  proxy: string | false | HttpAgent | undefined,
  method: Method = "POST"
): Transport => {
  const route = typeof proxy === "object" ? { agent: proxy } : { proxies: proxiesFor(url, proxy, environment()) }
  return overNode(url, route, method)
}

/** Deno may forbid to read the environment. It would ask a person, or throw. */
const environment = (): Readonly<Record<string, string | undefined>> => {
  const { permissions } = (globalThis as { readonly Deno?: DenoGlobal }).Deno ?? {}
  return permissions === undefined || permissions.querySync({ name: "env" }).state === "granted" ? process.env : {}
}

/** The part of Deno that knows its permissions. */
interface DenoGlobal {
  readonly permissions: { readonly querySync: (permission: { readonly name: "env" }) => { readonly state: string } }
}

/** Decodes bytes that are whole UTF-8 characters. */
export const textOf = (bytes: Uint8Array): string =>
  (Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)).toString("utf8")
