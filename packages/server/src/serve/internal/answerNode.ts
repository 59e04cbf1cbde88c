/** Translates between `node:http` and web-standard requests and responses. */
import type { IncomingMessage, ServerResponse } from "node:http"
import { Readable } from "node:stream"
import type { Handler } from "../Serve.ts"
import { noteLocalAddress } from "./localAddress.ts"

/** How long the rest of a body is read after the response, so that the client gets to read it, in milliseconds. */
const lingerMs = 5_000

export const answerNode = async (
  handler: Handler,
  incoming: IncomingMessage,
  outgoing: ServerResponse
): Promise<void> => {
  const abort = new AbortController()
  outgoing.once("close", () => {
    if (!outgoing.writableFinished) abort.abort()
  })
  const request = requestOf(incoming, abort.signal)
  if (request === undefined) {
    outgoing.writeHead(400).end()
    return
  }
  const { body, headers, status } = await handler(request)
  outgoing.writeHead(status, Object.fromEntries(headers))
  if (body === null) outgoing.end()
  else {
    outgoing.flushHeaders()
    await write(body.getReader(), outgoing)
  }
  if (!incoming.complete) linger(incoming)
}

/** Reads and drops the rest of a body: a client takes a connection that is closed earlier for broken. */
const linger = (incoming: IncomingMessage): void => {
  const timer = setTimeout(() => incoming.destroy(), lingerMs)
  timer.unref()
  incoming.once("close", () => clearTimeout(timer))
  // The web stream of the body would wait until somebody reads it.
  incoming.removeAllListeners("data").resume()
}

const write = async (reader: ReadableStreamDefaultReader<Uint8Array>, outgoing: ServerResponse): Promise<void> => {
  const leave = () => void reader.cancel().catch(() => {})
  outgoing.once("close", leave)
  if (outgoing.destroyed) leave()
  for (;;) {
    const { done, value } = await reader.read()
    if (done || outgoing.destroyed) break
    if (!outgoing.write(value)) await drained(outgoing)
  }
  outgoing.off("close", leave)
  if (!outgoing.destroyed) outgoing.end()
}

const drained = (outgoing: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      outgoing.off("drain", done)
      outgoing.off("close", done)
      resolve()
    }
    outgoing.once("drain", done)
    outgoing.once("close", done)
  })

/** Returns nothing if the client has sent what is not a request. */
const requestOf = (incoming: IncomingMessage, signal: AbortSignal): Request | undefined => {
  const { headers: given, method = "GET", url = "/" } = incoming
  const headers = new Headers()
  for (const [name, value] of Object.entries(given)) {
    for (const one of [value ?? []].flat()) headers.append(name, one)
  }
  const hasBody = method !== "GET" && method !== "HEAD"
  try {
    // A target without a leading slash is a whole address, which only proxies get.
    const address = new URL(url.startsWith("/") ? `http://localhost${url}` : url)
    if (!url.startsWith("/") && address.host !== new URL(`http://${given.host}`).host) return undefined
    const request = new Request(address, {
      method,
      headers,
      signal,
      // The types of `node:stream/web` and those of `fetch` are written separately for the same streams.
      ...(hasBody ? { body: Readable.toWeb(incoming) as never, duplex: "half" } : {})
    })
    noteLocalAddress(request, incoming.socket.localAddress)
    return request
  } catch {
    return undefined
  }
}
