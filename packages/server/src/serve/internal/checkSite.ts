/**
 * Refuses requests that a page of another site has made a browser send. A browser says where a page comes from
 * (`Origin`), and under which name it has reached the server (`Host`).
 */
import type { Serve } from "../Serve.ts"
import { localAddressOf } from "./localAddress.ts"
import { Refusal } from "./refusal.ts"

/**
 * Refuses a request for another server, and one of a foreign page. A request of a foreign page that the server allows
 * is returned without its cookies: they are the user's, and the page has not shown that it may act for the user.
 */
export const checkSite = (serve: Serve, request: Request): Request => {
  const { headers, method } = request
  const host = headers.get("host")
  if (host !== null && !isServed(serve, host, localAddressOf(request))) {
    throw new Refusal(
      "forbidden",
      `this server is not reached as ${
        JSON.stringify(host.slice(0, 200))
      }: its owner can name the host in the option ` +
        "`allowedHosts` of Serve.make"
    )
  }
  if (!isForeign(request)) return request
  // A page can make a browser read anything, as a link does. It does not see the response.
  if (method !== "GET" && method !== "OPTIONS") checkOrigin(serve, request)
  return withoutCookies(request)
}

/** Refuses a request of a foreign page, unless the owner has named its origin. */
export const checkOrigin = (serve: Serve, request: Request): void => {
  if (!isForeign(request) || isAllowed(serve, request.headers.get("origin"))) return
  throw new Refusal(
    "forbidden",
    "pages of this origin may not use this server: its owner can allow them with the option `origins` of Serve.make"
  )
}

/** Whether a browser says that a page of another origin has sent the request. */
const isForeign = ({ headers, url }: Request): boolean => {
  const origin = headers.get("origin")
  if (origin !== null) return !isSameHost(origin, headers.get("host") ?? new URL(url).host)
  const site = headers.get("sec-fetch-site")
  return site === "cross-site" || site === "same-site"
}

/** Whether the owner has named the origin. */
export const isAllowed = ({ origins }: Serve, origin: string | null): boolean =>
  origin !== null && (origins.includes(origin) || origins.includes("*"))

const isServed = ({ allowedHosts }: Serve, host: string, localAddress: string | undefined): boolean => {
  const given = host.toLowerCase()
  const name = nameOf(given)
  // An address is not a name that somebody else could let point here.
  if (localAddress !== undefined && name === localAddress) return true
  return allowedHosts.some((one) => {
    const allowed = one.toLowerCase()
    return allowed === "*" || allowed === given || allowed === name
  })
}

/** Returns the name without the port, and without the dot at the end of a full name. */
const nameOf = (host: string): string => host.replace(/:\d*$/, "").replace(/\.$/, "")

const isSameHost = (origin: string, host: string): boolean => {
  const [, scheme, its] = /^(https?:)\/\/([^/?#]+)$/i.exec(origin) ?? []
  if (scheme === undefined || its === undefined) return false
  // The port of the scheme may be left out.
  const [ours, theirs] = [`${scheme}//${host}`, origin].map((url) => URL.parse(url)?.host)
  return ours !== undefined && ours === theirs
}

const withoutCookies = (request: Request): Request => {
  if (!request.headers.has("cookie")) return request
  const headers = new Headers(request.headers)
  headers.delete("cookie")
  return new Request(request, { headers })
}
