/** HTTP transport for one address: `node:http` with reused connections, or a `fetch` function of the user. */
import {
  Agent as HttpAgent,
  type ClientRequest,
  type IncomingMessage,
  request as httpRequest,
  type RequestOptions
} from "node:http"
import { Agent as HttpsAgent, request as httpsRequest } from "node:https"
import { urlToHttpOptions } from "node:url"
import type { HeaderMap } from "../request/headers.ts"

/** The start of an answer. */
export interface Incoming {
  readonly status: number
  readonly headers: HeaderMap
  readonly pause: () => void
  readonly resume: () => void
}

/** Callbacks of one exchange. `onEnd` or `onError` is the last one. */
interface Listener {
  readonly onHeaders: (incoming: Incoming) => void
  readonly onData: (bytes: Uint8Array) => void
  readonly onEnd: () => void
  readonly onError: (error: Error) => void
}

/** Ends an exchange before its answer is complete. */
interface Handle {
  /** Aborts it immediately. */
  readonly abort: () => void
  /** Ignores the rest of the answer, and keeps the connection if the rest arrives soon. */
  readonly release: () => void
}

/** Sends a POST request. */
export type Transport = (headers: Readonly<Record<string, string>>, body: string, listener: Listener) => Handle

/** A `fetch` function of the user. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

let httpAgent: HttpAgent | undefined
let httpsAgent: HttpsAgent | undefined

/** Creates a transport over `node:http` or `node:https`. All providers of the process share its connections. */
export const overNode = (address: string): Transport => {
  const url = new URL(address)
  const isSecure = url.protocol === "https:"
  const agent = isSecure
    ? httpsAgent ??= new HttpsAgent({ keepAlive: true })
    : httpAgent ??= new HttpAgent({ keepAlive: true })
  const request = isSecure ? httpsRequest : httpRequest
  const { auth, hostname, path, port } = urlToHttpOptions(url)
  const target: RequestOptions = {
    hostname,
    path,
    method: "POST",
    agent,
    ...(port === undefined ? {} : { port })
  }
  const listOf = lister({
    host: url.host,
    ...(auth === undefined || auth === null ? {} : { authorization: `Basic ${Buffer.from(auth).toString("base64")}` })
  })
  return (headers, body, listener) => {
    let incoming: IncomingMessage | undefined
    let isOver = false
    const fail = (error: Error): void => {
      if (isOver) return
      isOver = true
      listener.onError(error)
    }
    const outgoing: ClientRequest = request({
      ...target,
      headers: [...listOf(headers), "content-length", String(Buffer.byteLength(body))]
    })
    outgoing.on("error", fail)
    outgoing.on("response", (response) => {
      incoming = response
      if (isOver) return
      listener.onHeaders({
        status: response.statusCode ?? 0,
        headers: response.headers,
        pause: () => void response.pause(),
        resume: () => void response.resume()
      })
      response.on("data", (bytes: Buffer) => {
        if (!isOver) listener.onData(bytes)
      })
      response.on("end", () => {
        if (isOver) return
        isOver = true
        listener.onEnd()
      })
      response.on("error", fail)
      response.on("close", () => fail(new Error("the connection was closed before the answer ended")))
    })
    outgoing.end(body)
    return {
      abort: () => {
        isOver = true
        outgoing.destroy()
      },
      release: () => {
        isOver = true
        if (incoming === undefined || incoming.complete) return void incoming?.resume()
        const timer = setTimeout(() => outgoing.destroy(), graceMs)
        timer.unref()
        incoming.once("close", () => clearTimeout(timer))
        incoming.resume()
      }
    }
  }
}

/**
 * Converts headers to a flat list, which `node:http` writes without checks. The list is cached for the same headers
 * object.
 */
const lister = (
  defaults: Readonly<Record<string, string>>
): (headers: Readonly<Record<string, string>>) => ReadonlyArray<string> => {
  let last: Readonly<Record<string, string>> | undefined
  let list: ReadonlyArray<string> = []
  return (headers) => {
    if (headers === last) return list
    last = headers
    list = Object.entries({ ...defaults, ...headers }).flat()
    return list
  }
}

/** Milliseconds to wait for the rest of an answer before its connection is closed. */
const graceMs = 1000

/** Creates a transport over a `fetch` function. */
export const overFetch = (address: string, fetch: Fetch): Transport => (headers, body, listener) => {
  const controller = new AbortController()
  let wake: (() => void) | undefined
  let isPaused = false
  let isOver = false
  let timer: NodeJS.Timeout | undefined
  const read = async (): Promise<void> => {
    const response = await fetch(address, {
      method: "POST",
      headers,
      body,
      redirect: "manual",
      signal: controller.signal
    })
    if (isOver) return
    listener.onHeaders({
      status: response.status,
      headers: Object.fromEntries(response.headers),
      pause: () => {
        isPaused = true
      },
      resume: () => {
        isPaused = false
        wake?.()
      }
    })
    for await (const bytes of response.body ?? []) {
      if (!isOver) listener.onData(bytes)
      if (isPaused && !isOver) await new Promise<void>((resolve) => (wake = resolve))
    }
    clearTimeout(timer)
    if (isOver) return
    isOver = true
    listener.onEnd()
  }
  read().catch((error: unknown) => {
    clearTimeout(timer)
    if (isOver) return
    isOver = true
    listener.onError(error instanceof Error ? error : new Error(String(error)))
  })
  const leave = (): void => {
    isOver = true
    wake?.()
  }
  return {
    abort: () => {
      leave()
      controller.abort()
    },
    release: () => {
      leave()
      timer = setTimeout(() => controller.abort(), graceMs)
      timer.unref()
    }
  }
}
