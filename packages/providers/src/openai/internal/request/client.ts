/**
 * Asks the `openai` client for the address and the headers of a call. The client is large, so it is loaded on first
 * use.
 */

/** The endpoint to call. */
export interface Target {
  readonly baseUrl: string
  readonly headers: Readonly<Record<string, string>> | undefined
}

/** Address and headers of a call, without the key. */
export interface Ready {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

/**
 * Asks the client. It also reads headers from the environment (`OPENAI_CUSTOM_HEADERS`) and describes this machine.
 * Nobody asked for these headers, so they are left out.
 */
export const prepare = async ({ baseUrl, headers = {} }: Target, path: string): Promise<Ready> => {
  const { OpenAI } = await import("openai")
  const client = new OpenAI({
    baseURL: baseUrl,
    apiKey: "none",
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    maxRetries: 0,
    logLevel: "off"
  })
  const { req, url } = await client.buildRequest({ method: "post", path, body: {} })
  return {
    url,
    headers: {
      "user-agent": req.headers.get("user-agent") ?? "OpenAI/JS",
      ...lowerCase(headers),
      accept: "text/event-stream, application/json",
      "content-type": "application/json"
    }
  }
}

/**
 * Returns the headers with lower-case names, so that the same name cannot occur twice. Throws for names and values that
 * are not allowed in a header, such as line ends.
 */
export const lowerCase = (headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(new Headers(headers))

/** Returns the headers with the key. A header of the user counts first. Throws like `lowerCase`. */
export const withKey = (headers: Readonly<Record<string, string>>, key: string | undefined) =>
  key === undefined || headers.authorization !== undefined
    ? headers
    : { ...headers, ...lowerCase({ authorization: `Bearer ${key}` }) }

/** Returns the reason why a text is not a base URL, or nothing if it is one. */
export const whyNotAddress = (baseUrl: string): string | undefined => {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined
  if (url?.protocol === "http:" || url?.protocol === "https:") return undefined
  return `the base URL ${JSON.stringify(baseUrl)} is not an address of the web; begin it with https:// or http://`
}

/** Removes the path of an API from a base URL, because people copy it with the rest. */
export const baseOf = (address: string): string =>
  address.replace(/\/(?:chat\/completions|responses|completions|embeddings)\/*(?=$|\?)/, "")
