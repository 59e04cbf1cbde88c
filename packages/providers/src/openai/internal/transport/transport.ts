/** HTTP transport for one address, and the one over a `fetch` function of the user. */
import type { HeaderMap } from "../request/headers.ts"

/** The start of an answer. */
export interface Incoming {
  readonly status: number
  readonly headers: HeaderMap
  readonly pause: () => void
  readonly resume: () => void
}

/** Callbacks of one exchange. `onEnd` or `onError` is the last one. */
export interface Listener {
  readonly onHeaders: (incoming: Incoming) => void
  readonly onData: (bytes: Uint8Array) => void
  readonly onEnd: () => void
  readonly onError: (error: Error) => void
}

/** Ends an exchange before its answer is complete. */
export interface Handle {
  /** Aborts it immediately. */
  readonly abort: () => void
  /** Ignores the rest of the answer, and keeps the connection if the rest arrives soon. */
  readonly release: () => void
}

/** Sends a request. */
export type Transport = (headers: Readonly<Record<string, string>>, body: string, listener: Listener) => Handle

/** The methods of requests. A `GET` request has no body. */
export type Method = "GET" | "POST"

/** A `fetch` function of the user. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** Milliseconds to wait for the rest of an answer before its connection is closed. */
export const graceMs = 1000

/** Creates a transport over a `fetch` function. */
export const overFetch =
  (address: string, fetch: Fetch, method: Method = "POST"): Transport => (headers, body, listener) => {
    const controller = new AbortController()
    let wake: (() => void) | undefined
    let isPaused = false
    let isOver = false
    let timer: ReturnType<typeof setTimeout> | undefined
    const read = async (): Promise<void> => {
      const response = await fetch(address, {
        method,
        headers,
        ...(method === "GET" ? {} : { body }),
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
      // Not every browser can iterate over a body.
      const reader = response.body?.getReader()
      for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) {
        if (!isOver) listener.onData(part.value)
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
        // In Node, a timer keeps the process alive.
        if (typeof timer === "object") timer.unref?.()
      }
    }
  }
