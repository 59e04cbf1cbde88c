/** What all HTTP protocols do with a request before they read it: CORS, limits, authorization, errors. */
import { whyNot } from "@belay/core/Json"
import { checkOptions } from "@belay/core/OptionCheck"
import * as Result from "effect/Result"
import type { Handler, Serve } from "../Serve.ts"
import { checkSite, isAllowed } from "./checkSite.ts"
import { invalid, Refusal, refusalOf, statusOf } from "./refusal.ts"
import { RequestBounds } from "./requestBounds.ts"
import { endOf } from "./sse.ts"

/** A request of a known principal. */
export interface Call {
  readonly request: Request
  readonly url: URL
  readonly principal: string
  /** Reads the body as JSON. Throws a `Refusal` if it is too large or not JSON. The protocol may need fewer values. */
  readonly body: (maxValues?: number) => Promise<unknown>
}

/** Writes a refusal as the protocol does. */
export type WriteError = (refusal: Refusal) => unknown

/** Throws a `ConfigError` if the first argument of a handler is something else, such as a host. */
export const checkServe = (owner: string, serve: Serve): void => {
  const isServe = ({ authorize, host }: Partial<Serve>) =>
    typeof authorize === "function" && typeof host?.send === "function"
  Result.getOrThrow(
    checkOptions(owner, ["serve", serve ?? null, (given: unknown) => isServe(Object(given)), "what Serve.make returns"])
  )
}

/** Makes the handler of a protocol. */
export const endpoint = (serve: Serve, writeError: WriteError, act: (call: Call) => Promise<Response>): Handler => {
  checkServe("handler", serve)
  const answer = async (given: Request): Promise<Response> => {
    try {
      checkHeaders(serve, given)
      const request = checkSite(serve, given)
      if (request.method === "OPTIONS" && serve.origins.length > 0) return new Response(null, { status: 204 })
      const url = new URL(request.url)
      // Some servers and proxies would read the first part of such a path as the name of a host.
      if (url.pathname.startsWith("//")) throw new Refusal("not-found", "there is nothing at this path")
      const principal = await serve.authorize(request)
      if (principal instanceof Response) return principal
      if (typeof principal !== "string" || principal === "") {
        throw new Refusal("unauthorized", "the request has no valid credentials")
      }
      const body = (maxValues = Infinity) => readBody(serve, request, Math.min(maxValues, serve.maxValues))
      const counted = serve.principals.open(principal)
      if ("why" in counted) throw new Refusal("busy", counted.why, undefined, counted.retryAfter)
      const response = await act({ request, url, principal, body }).catch((error: unknown) => {
        counted.end()
        throw error
      })
      const stream = endOf(response)
      if (stream === undefined) counted.end()
      else void stream.then(counted.end)
      return response
    } catch (error) {
      const refusal = refusalOf(serve, error)
      const { kind, retryAfter } = refusal
      return Response.json(writeError(refusal), { status: statusOf[kind], headers: retrying(retryAfter) })
    }
  }
  return async (request) => withCors(serve, request, await answer(request))
}

/** Says when to try again. The header has whole seconds, and `mayBegin` may have computed any number. */
const retrying = (seconds: number | undefined): { readonly "retry-after"?: string } =>
  seconds !== undefined && Number.isFinite(seconds) ? { "retry-after": String(Math.max(1, Math.ceil(seconds))) } : {}

const checkHeaders = ({ maxHeaderBytes }: Serve, { headers, url }: Request): void => {
  let size = url.length
  headers.forEach((value, name) => size += name.length + value.length)
  if (size > maxHeaderBytes) throw new Refusal("too-large", `the headers are larger than ${maxHeaderBytes} bytes`)
}

const readBody = async ({ maxBodyBytes }: Serve, { body, headers }: Request, maxValues: number): Promise<unknown> => {
  const tooLarge = () => new Refusal("too-large", `the body is larger than ${maxBodyBytes} bytes`)
  if (Number(headers.get("content-length")) > maxBodyBytes) throw tooLarge()
  const chunks: Array<Uint8Array> = []
  let size = 0
  const bounds = new RequestBounds(maxValues)
  // A cancelled body would end the connection before the client has read why.
  for await (const chunk of body?.values({ preventCancel: true }) ?? []) {
    size += chunk.byteLength
    if (size > maxBodyBytes) throw tooLarge()
    bounds.add(chunk)
    chunks.push(chunk)
  }
  const pause = size > largeBody ? turn : () => undefined
  await pause()
  const text = decode(chunks.splice(0), size)
  await pause()
  const value = parse(text)
  await pause()
  const why = whyNot(value)
  if (why !== undefined) throw invalid(`the body is not valid: ${why}`)
  await pause()
  return value
}

/** Decodes the bytes in one piece, because a text of many pieces would be joined when it is parsed. */
const decode = (chunks: ReadonlyArray<Uint8Array>, size: number): string => {
  const all = chunks.length === 1 ? chunks[0]! : new Uint8Array(size)
  if (chunks.length !== 1) {
    let at = 0
    for (const chunk of chunks) {
      all.set(chunk, at)
      at += chunk.byteLength
    }
  }
  return new TextDecoder().decode(all)
}

/** How many bytes are read and parsed without a turn of the event loop in between. */
const largeBody = 1_000_000

/** Lets other requests go on. */
const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve))

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    throw invalid("the body is not JSON")
  }
}

const withCors = (serve: Serve, { headers, method }: Request, response: Response): Response => {
  const origin = headers.get("origin")
  if (origin === null || !isAllowed(serve, origin)) return response
  const answer = new Response(response.body, response)
  answer.headers.set("access-control-allow-origin", origin)
  answer.headers.append("vary", "origin")
  if (method === "OPTIONS") {
    answer.headers.set("access-control-allow-methods", "GET, POST, DELETE, OPTIONS")
    answer.headers.set(
      "access-control-allow-headers",
      headers.get("access-control-request-headers") ?? "authorization, content-type"
    )
    answer.headers.set("access-control-max-age", "600")
  }
  return answer
}
