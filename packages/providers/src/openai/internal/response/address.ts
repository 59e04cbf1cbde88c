/** Says what was tried, and what to do, if an error looks like a wrong base URL. */

/** Advice for an error answer: a page that does not exist, or HTTP at a port for HTTPS. */
export const answerAdvice = (
  address: string | undefined,
  status: number,
  words: string,
  isAboutModel: (words: string) => boolean
): string => {
  if (/HTTP request (?:was sent )?to (?:an )?HTTPS (?:server|port)/i.test(words)) {
    return "; begin the base URL with https://"
  }
  const isMissing = status === 404 || status === 405 || /unexpected endpoint or method/i.test(words)
  return isMissing && !isAboutModel(words) ? pageAdvice(address) : ""
}

/** Advice for an answer that is not from an API. */
export const pageAdvice = (address: string | undefined): string => {
  const url = urlOf(address)
  if (url === undefined) return ""
  const advice = /\/v\d/.test(url.pathname)
    ? "check the base URL"
    : "check the base URL: most servers need /v1 at its end"
  return ` (the request went to ${url.origin}${url.pathname}; ${advice})`
}

/** Advice for a connection that failed. */
export const connectionAdvice = (address: string | undefined, words: string): string => {
  const url = urlOf(address)
  if (url === undefined) return ""
  if (url.protocol === "https:" && /wrong[ _]version|packet length|EPROTO/i.test(words)) {
    return `; the server at ${url.host} does not use TLS: begin the base URL with http://`
  }
  if (url.protocol === "http:" && /Parse Error|HPE_INVALID/.test(words)) {
    return `; the server at ${url.host} does not speak HTTP: if it uses TLS, begin the base URL with https://`
  }
  return words === "ECONNREFUSED" ? `: no server listens at ${url.host}` : ""
}

const urlOf = (address: string | undefined): URL | undefined =>
  address !== undefined && URL.canParse(address) ? new URL(address) : undefined
