/** Selects the proxies of an address. */

/** Proxies by protocol, as `node:http` reads them. */
export interface ProxyVariables {
  readonly HTTP_PROXY?: string
  readonly HTTPS_PROXY?: string
  readonly NO_PROXY?: string
}

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Returns the proxies for an address: the given one, or those of the environment. Servers on this machine are reached
 * directly, unless `NODE_USE_ENV_PROXY` asks for Node's own rules.
 */
export const proxiesFor = (address: string, proxy: string | false | undefined, env: Environment) => {
  if (proxy === false) return undefined
  if (proxy !== undefined) return { HTTP_PROXY: proxy, HTTPS_PROXY: proxy } satisfies ProxyVariables
  if (env.NODE_USE_ENV_PROXY !== "1" && isLoopback(new URL(address).hostname)) return undefined
  const http = env.http_proxy || env.HTTP_PROXY
  const https = env.https_proxy || env.HTTPS_PROXY
  const none = env.no_proxy || env.NO_PROXY
  if (!http && !https) return undefined
  const proxies: ProxyVariables = {
    ...(http ? { HTTP_PROXY: http } : {}),
    ...(https ? { HTTPS_PROXY: https } : {}),
    ...(none ? { NO_PROXY: none } : {})
  }
  return proxies
}

/** Whether a host name is this machine. */
export const isLoopback = (host: string): boolean =>
  host === "localhost" || host.endsWith(".localhost") || /^127(?:\.\d+){3}$/.test(host) || host === "[::1]" ||
  host === "0.0.0.0"
