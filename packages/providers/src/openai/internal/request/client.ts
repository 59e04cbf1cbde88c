/**
 * Asks the `openai` client for the address and the headers of a call. The client is large, so it is loaded on first
 * use.
 */

/** The endpoint to call. */
export interface Target {
  readonly baseUrl: string
  readonly apiKey: string | (() => Promise<string>) | undefined
  readonly headers: Readonly<Record<string, string>> | undefined
}

/** Address and headers of a call. */
export interface Ready {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

/** Asks the client. Headers that describe this machine are removed. */
export const prepare = async (target: Target, path: string): Promise<Ready> => {
  const { OpenAI } = await import("openai")
  const client = new OpenAI({
    baseURL: target.baseUrl,
    apiKey: target.apiKey ?? "none",
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    maxRetries: 0,
    logLevel: "off",
    defaultHeaders: { ...(target.apiKey === undefined ? { authorization: null } : {}), ...target.headers }
  })
  const { req, url } = await client.buildRequest({ method: "post", path, body: {} })
  const headers = Object.fromEntries([...req.headers].filter(([name]) => !name.startsWith("x-stainless-")))
  return {
    url,
    headers: { ...headers, accept: "text/event-stream, application/json", "content-type": "application/json" }
  }
}
