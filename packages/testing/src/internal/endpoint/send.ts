/** Sends a reply. */
import type { ServerResponse } from "node:http"
import { type ChunkedAnswer, isChunked, isNone, isRaw, type NoAnswer, type RawAnswer } from "./script.ts"

/** Sends bytes unchanged. */
export const send = (
  response: ServerResponse,
  reply: RawAnswer | ChunkedAnswer | NoAnswer,
  headers: Readonly<Record<string, string>>
): void => {
  if (isNone(reply)) return hangUp(response, reply.connection)
  if (isRaw(reply)) {
    const isText = typeof reply.body === "string" || reply.body instanceof Uint8Array
    response.writeHead(reply.status, { "content-type": "application/json", ...headers, ...reply.headers })
    response.end(isText ? reply.body : JSON.stringify(reply.body))
    return
  }
  if (isChunked(reply)) sendChunks(response, reply, headers)
}

const sendChunks = (
  response: ServerResponse,
  reply: ChunkedAnswer,
  headers: Readonly<Record<string, string>>
): void => {
  response.writeHead(reply.status ?? 200, {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache",
    ...headers,
    ...reply.headers
  })
  response.flushHeaders()
  let index = 0
  let timer: NodeJS.Timeout | undefined
  response.once("close", () => clearTimeout(timer))
  const next = (): void => {
    if (response.destroyed) return
    const chunk = reply.chunks[index++]
    if (chunk === undefined) return finish(response, reply.end ?? "end")
    if (typeof chunk === "number") {
      timer = setTimeout(next, chunk)
    } else if (chunk.length === 0) {
      next()
    } else {
      response.write(chunk, () => setImmediate(next))
    }
  }
  next()
}

const finish = (response: ServerResponse, end: NonNullable<ChunkedAnswer["end"]>): void => {
  if (end === "end") response.end()
  else hangUp(response, end)
}

const hangUp = (response: ServerResponse, how: NoAnswer["connection"]): void => {
  if (how === "reset") response.socket?.resetAndDestroy()
  if (how === "cut") response.socket?.destroy()
}
