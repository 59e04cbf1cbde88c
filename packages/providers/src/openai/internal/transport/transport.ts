/** HTTP for one address: `node:http` with connections that are kept, or a `fetch` the user brings. */
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

/** An answer has begun. */
export interface Incoming {
  readonly status: number
  readonly headers: HeaderMap
  readonly pause: () => void
  readonly resume: () => void
}

/** Hears of one exchange. After `onEnd` or `onError` nothing comes. */
interface Listener {
  readonly onHeaders: (incoming: Incoming) => void
  readonly onData: (bytes: Uint8Array) => void
  readonly onEnd: () => void
  readonly onError: (error: Error) => void
}

/** Ends an exchange early. */
interface Handle {
  /** Breaks it off at once. */
  readonly abort: () => void
  /** Has no more use for the answer; keeps the connection if the rest comes soon. */
  readonly release: () => void
}

/** Sends a POST. */
export type Transport = (headers: Readonly<Record<string, string>>, body: string, listener: Listener) => Handle

/** The `fetch` a user may bring. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

let httpAgent: HttpAgent | undefined
let httpsAgent: HttpsAgent | undefined

/** Over `node:http` or `node:https`; connections are kept and shared by all providers of the process. */
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

/** Headers as a flat list, which `node:http` writes without looking; the list of the same headers is kept. */
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

/** How long the rest of an answer may take before its connection is given up. */
const graceMs = 1000

/** Over a `fetch`. */
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
