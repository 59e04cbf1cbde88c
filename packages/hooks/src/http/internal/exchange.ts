/** Sends one request over an open connection and reads its answer, within limits. */
import type { HttpResponse } from "@belay/core/Http"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { ClientRequest, IncomingMessage } from "node:http"
import type { Duplex, Transform } from "node:stream"
import type { CheckedRequest } from "./requestInit.ts"
import type { Target } from "./target.ts"

/** The limits of an answer. */
export interface Bounds {
  /** The most bytes of the decoded body, and approximately of the encoded one. */
  readonly maxBodyBytes: number
  /** The most bytes of all headers together. */
  readonly maxHeaderBytes: number
}

/** An answer, with the targets of a redirect. */
export interface Answer extends Omit<HttpResponse, "url"> {
  /** All `Location` headers. If there are several, it is not clear which one is meant. */
  readonly locations: ReadonlyArray<string>
}

/** Sends a request and reads the whole answer. Closes the connection. */
export const exchange = (
  socket: Duplex,
  target: Target,
  request: CheckedRequest,
  bounds: Bounds
): Effect.Effect<Answer, unknown> =>
  Effect.callback((resume) => {
    let isReceived = false
    let reader: BodyReader | undefined
    const close = (): void => {
      outgoing?.destroy()
      socket.destroy()
      reader?.close()
    }
    const end = (outcome: Effect.Effect<Answer, unknown>): void => {
      close()
      resume(outcome)
    }
    const fail = (why: unknown): void => end(Effect.fail(why))
    // When the connection ends while the last bytes are decoded, the answer is complete.
    const onLost = (why: unknown): void => isReceived ? undefined : fail(why)
    socket.on("error", onLost)
    const outgoing = startRequest(socket, target, request, bounds)
    if (outgoing === undefined) return fail("the request cannot be written")
    outgoing.on("error", onLost)
    outgoing.on("close", () => onLost("the connection was closed"))
    let informationCount = 0
    outgoing.on("information", () => ++informationCount > maxInformation && fail("too many interim answers"))
    outgoing.on("response", (incoming) => {
      const head = headOf(incoming)
      const encoding = (head.headers["content-encoding"] ?? "identity").trim().toLowerCase()
      const decoder = decoderOf(encoding)
      if (decoder === "unknown") return fail("an unknown encoding")
      const succeed = (body: string): void => end(Effect.succeed({ ...head, body }))
      const body = new BodyReader(decoder, bounds.maxBodyBytes, succeed, fail)
      reader = body
      incoming.on("data", (bytes: Buffer) => body.receive(bytes))
      incoming.on("error", onLost)
      incoming.on("end", () => {
        if (!incoming.complete) return fail("the answer is incomplete")
        isReceived = true
        body.finish()
      })
    })
    outgoing.end(request.body)
    return Effect.sync(close)
  })

/** Collects and decodes the body of an answer. A class: it counts the bytes. */
class BodyReader {
  private readonly decoder: Transform | undefined
  private readonly maxBytes: number
  private readonly onBody: (body: string) => void
  private readonly onError: (why: unknown) => void
  private readonly parts: Array<Buffer> = []
  private decodedBytes = 0
  private receivedBytes = 0

  constructor(
    decoder: Transform | undefined,
    maxBytes: number,
    onBody: (body: string) => void,
    onError: (why: unknown) => void
  ) {
    this.decoder = decoder
    this.maxBytes = maxBytes
    this.onBody = onBody
    this.onError = onError
    decoder?.on("data", (bytes: Buffer) => this.add(bytes))
    decoder?.on("end", () => this.complete())
    decoder?.on("error", onError)
  }

  receive(bytes: Buffer): void {
    this.receivedBytes += bytes.length
    // Also limits bytes that decode to nothing.
    if (this.receivedBytes > this.maxBytes + encodingOverhead) return this.onError("too large")
    if (this.decoder === undefined) this.add(bytes)
    else this.decoder.write(bytes)
  }

  finish(): void {
    // An empty body is not encoded, whatever its headers say.
    if (this.decoder === undefined || this.receivedBytes === 0) this.complete()
    else this.decoder.end()
  }

  close(): void {
    this.decoder?.destroy()
  }

  private add(bytes: Buffer): void {
    this.decodedBytes += bytes.length
    if (this.decodedBytes > this.maxBytes) return this.onError("too large")
    this.parts.push(bytes)
  }

  private complete(): void {
    this.onBody(new TextDecoder().decode(Buffer.concat(this.parts)))
  }
}

/** The decoder of an encoding; `undefined` when the body is not encoded. */
const decoderOf = (encoding: string): Transform | undefined | "unknown" => {
  if (encoding === "identity" || encoding === "") return undefined
  return decoders.get(encoding)?.() ?? "unknown"
}

/** The most interim answers (such as 100 and 103). */
const maxInformation = 16

/** How much larger than the decoded body an encoded one may be, in bytes. */
const encodingOverhead = 65_536

const zlib = () => process.getBuiltinModule("node:zlib")

const decoders: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ["gzip", () => zlib().createGunzip()],
  ["x-gzip", () => zlib().createGunzip()],
  ["deflate", () => zlib().createInflate()],
  ["br", () => zlib().createBrotliDecompress()]
])

const startRequest = (
  socket: Duplex,
  target: Target,
  request: CheckedRequest,
  { maxHeaderBytes }: Bounds
): ClientRequest | undefined => {
  const headers = new Map([
    ["host", target.origin.slice(target.scheme.length + 3)],
    ["connection", "close"],
    ["accept-encoding", "gzip, deflate, br"],
    ...request.headers
  ])
  if (request.body !== undefined) headers.set("content-length", String(request.body.length))
  return Result.getOrUndefined(Result.try(() =>
    // An `import` would load everything that the module offers, at the start of every program.
    process.getBuiltinModule("node:http").request({
      method: request.method,
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
