/** One request and its answer over a connection that is open, within bounds. */
import type { HttpResponse } from "@belay/core/Http"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type ClientRequest, type IncomingMessage, request as send } from "node:http"
import type { Duplex, Transform } from "node:stream"
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib"
import type { Asked } from "./asked.ts"
import type { Target } from "./target.ts"

/** Bounds of an answer. */
export interface Bounds {
  /** In bytes: of the body as it is decoded, and about of what is sent for it. */
  readonly maxBodyBytes: number
  /** In bytes, of all headers together. */
  readonly maxHeaderBytes: number
}

/** An answer, and where it says to go on. */
export interface Answer extends Omit<HttpResponse, "url"> {
  /** Every `Location`; of more than one nobody knows which is meant. */
  readonly locations: ReadonlyArray<string>
}

export const exchange = (
  socket: Duplex,
  target: Target,
  asked: Asked,
  bounds: Bounds
): Effect.Effect<Answer, unknown> =>
  Effect.callback((resume) => {
    let decoder: Transform | undefined
    let isReceived = false
    const close = (): void => {
      outgoing?.destroy()
      socket.destroy()
      decoder?.destroy()
    }
    const end = (outcome: Effect.Effect<Answer, unknown>): void => {
      close()
      resume(outcome)
    }
    const fail = (why: unknown): void => end(Effect.fail(why))
    // A connection that ends while its last bytes are being decoded has done its work.
    const lost = (why: unknown): void => isReceived ? undefined : fail(why)
    socket.on("error", lost)
    const outgoing = begin(socket, target, asked, bounds)
    if (outgoing === undefined) return fail("a request that cannot be written")
    outgoing.on("error", lost)
    outgoing.on("close", () => lost("closed"))
    let informed = 0
    outgoing.on("information", () => ++informed > mostInformation && fail("too much to say before the answer"))
    outgoing.on("response", (incoming) => {
      const { locations, ...head } = headOf(incoming)
      const encoding = (head.headers["content-encoding"] ?? "identity").trim().toLowerCase()
      if (encoding !== "identity" && encoding !== "") {
        decoder = decoders.get(encoding)?.()
        if (decoder === undefined) return fail("an encoding that is not known")
        decoder.on("error", fail)
      }
      const parts: Array<Buffer> = []
      let kept = 0
      let received = 0
      const keep = (bytes: Buffer): void => {
        kept += bytes.length
        if (kept > bounds.maxBodyBytes) return fail("too large")
        parts.push(bytes)
      }
      const whole = (): void =>
        end(Effect.succeed({ ...head, locations, body: new TextDecoder().decode(Buffer.concat(parts)) }))
      decoder?.on("data", keep)
      decoder?.on("end", whole)
      incoming.on("data", (bytes: Buffer) => {
        received += bytes.length
        // Bytes that decode to nothing have an end too.
        if (received > bounds.maxBodyBytes + overhead) return fail("too large")
        if (decoder === undefined) keep(bytes)
        else decoder.write(bytes)
      })
      incoming.on("error", lost)
      incoming.on("end", () => {
        if (!incoming.complete) return fail("cut off")
        isReceived = true
        // What has no body is not encoded either, whatever its headers say.
        if (decoder === undefined || received === 0) whole()
        else decoder.end()
      })
    })
    outgoing.end(asked.body)
    return Effect.sync(close)
  })

/** Answers before the answer (100, 103). */
const mostInformation = 16

/** An encoded body may be a little larger than what it decodes to. */
const overhead = 65_536

const decoders: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ["gzip", createGunzip],
  ["x-gzip", createGunzip],
  ["deflate", createInflate],
  ["br", createBrotliDecompress]
])

const begin = (socket: Duplex, target: Target, asked: Asked, { maxHeaderBytes }: Bounds): ClientRequest | undefined => {
  const headers = new Map([
    ["host", target.origin.slice(target.scheme.length + 3)],
    ["connection", "close"],
    ["accept-encoding", "gzip, deflate, br"],
    ...asked.headers,
    ...(asked.body === undefined ? [] : [["content-length", String(asked.body.length)]] as const)
  ])
  return Result.getOrUndefined(Result.try(() =>
    send({
      method: asked.method,
      path: target.path,
      headers: [...headers].flat(),
      maxHeaderSize: maxHeaderBytes,
      insecureHTTPParser: false,
      createConnection: () => socket
    })
  ))
}

const headOf = ({ rawHeaders, statusCode = 0 }: IncomingMessage): Omit<Answer, "body"> => {
  const headers = new Map<string, string>()
  const locations: Array<string> = []
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!.toLowerCase()
    const value = rawHeaders[at + 1]!
    const before = headers.get(name)
    headers.set(name, before === undefined ? value : `${before}, ${value}`)
    if (name === "location") locations.push(value)
  }
  return { status: statusCode, headers: Object.fromEntries(headers), locations }
}
