/** Sends requests through a client of the package `openai`. */
import type { Fetch } from "./transport.ts"

/** What is used of a client of the package `openai`: `OpenAI`, `AzureOpenAI` and classes that extend them. */
export interface Client {
  readonly baseURL: string
  post(path: string, options: object): { asResponse(): Promise<Response> }
}

/** The client's own time limit would end a stream that is still sending. */
const noLimit = 2 ** 31 - 1

/** Returns a `fetch` that leaves address, key, headers and connection to the client. It never retries. */
export const overClient = (client: Client): Fetch => {
  const base = new URL(client.baseURL).pathname.replace(/\/+$/, "")
  return (url, { body, headers, signal }) =>
    client.post(new URL(url).pathname.slice(base.length), {
      body: typeof body === "string" ? JSON.parse(body) : undefined,
      headers,
      signal,
      maxRetries: 0,
      timeout: noLimit
    }).asResponse().catch((error: unknown) => {
      if (isStatusError(error)) return responseOf(error)
      throw error instanceof Error && error.cause instanceof Error ? error.cause : error
    })
}

/** What the client throws for an answer with another status than 2xx. */
interface StatusError {
  readonly status: number
  readonly headers: Headers
  /** The field `error` of the body, or the body if it has none. */
  readonly error?: unknown
  /** The status, a blank, and the body if it is not JSON. */
  readonly message: string
}

const isStatusError = (error: unknown): error is StatusError =>
  error instanceof Error && "status" in error && typeof error.status === "number" && "headers" in error &&
  error.headers instanceof Headers

const responseOf = ({ error, headers, message, status }: StatusError): Response => {
  const rest = message.slice(`${status} `.length)
  const isBody = typeof error === "object" && error !== null && !("message" in error)
  const text = error === undefined
    ? (rest === "status code (no body)" ? "" : rest)
    : JSON.stringify(isBody ? error : { error })
  const known = new Headers(headers)
  // The client has decoded the body.
  for (const name of ["content-encoding", "content-length"]) known.delete(name)
  return new Response(text, { status, headers: known })
}
