/** Selects the proxies of an address. */
import { ConfigError } from "@belay/core/AgentError"

/** Proxies by protocol, as `node:http` reads them. */
export interface ProxyVariables {
  readonly HTTP_PROXY?: string
  readonly HTTPS_PROXY?: string
  readonly NO_PROXY?: string
}

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Returns the proxies for an address: the given one, or those of the environment. Servers on this machine are reached
 * directly, unless `NODE_USE_ENV_PROXY` asks for Node's own rules. Throws a `ConfigError` for a proxy that cannot be
 * used, because Node would send the request without it.
 */
export const proxiesFor = (address: string, proxy: string | false | undefined, env: Environment) => {
  if (proxy === false) return undefined
  if (proxy !== undefined) {
    const url = proxyUrl("OpenAiCompatible.proxy", proxy)
    return { HTTP_PROXY: url, HTTPS_PROXY: url } satisfies ProxyVariables
  }
  const { hostname, protocol } = new URL(address)
  if (env.NODE_USE_ENV_PROXY !== "1" && isLoopback(hostname)) return undefined
  const name = protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY"
  const given = env[name.toLowerCase()] || env[name]
  if (!given) return undefined
  const none = env.no_proxy || env.NO_PROXY
  const proxies: ProxyVariables = { [name]: proxyUrl(name, given), ...(none ? { NO_PROXY: none } : {}) }
  return proxies
}

/** Returns the address of a proxy, which can be given as `host:port`. The error does not show its password. */
const proxyUrl = (key: string, given: string): string => {
  const url = given.includes("://") ? given : `http://${given}`
  if (/^https?:/i.test(url) && URL.canParse(url)) return url
  throw new ConfigError({ key, message: `${key}: must be the address of an HTTP proxy, such as http://host:8080` })
}

/** Whether a host name is this machine. */
export const isLoopback = (host: string): boolean =>
  host === "localhost" || host.endsWith(".localhost") || /^127(?:\.\d+){3}$/.test(host) || host === "[::1]" ||
  host === "0.0.0.0"

/** Returns an error that names the proxy, if it was the proxy that could not be reached. */
export const ofProxy = (proxies: ProxyVariables | undefined, error: Error): Error => {
  if (proxies === undefined) return error
  const failures: ReadonlyArray<Failed> = error instanceof AggregateError ? error.errors : [error]
  for (const name of ["HTTPS_PROXY", "HTTP_PROXY"] as const) {
    const given = proxies[name]
    if (given === undefined) continue
    const { host, hostname, port, protocol } = new URL(given)
    const failed = failures.find((one) =>
      one.hostname === hostname ||
      (one.syscall === "connect" && String(one.port) === (port || (protocol === "https:" ? "443" : "80")))
    )
    if (failed === undefined) continue
    const message =
      `the proxy ${host} cannot be reached (${failed.message}): correct \`proxy\` or the variable ${name}, ` +
      "or set `proxy: false` to connect directly"
    return Object.assign(new Error(message), { code: failed.code })
  }
  return error
}

/** What Node says about a failed connection. */
interface Failed extends Error {
  readonly code?: string
  readonly syscall?: string
  readonly hostname?: string
  readonly port?: number
}
