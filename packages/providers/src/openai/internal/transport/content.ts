/** Reads the content of an answer of `node:http`, compressed or not. */
import type { IncomingMessage } from "node:http"
import type { Transform } from "node:stream"

/** Callbacks. `onEnd` or `onError` is the last one. */
interface ContentListener {
  readonly onData: (bytes: Uint8Array) => void
  readonly onEnd: () => void
  readonly onError: (error: Error) => void
}

/** An answer that is being read. */
export interface Content {
  readonly pause: () => void
  readonly resume: () => void
  /** Reads the rest of the answer without using it. Returns false if there is no rest. */
  readonly drain: () => boolean
  /** Stops decompressing. */
  readonly stop: () => void
}

/** Reads an answer. Servers compress although nobody asked them to. */
export const readContent = (response: IncomingMessage, listener: ContentListener): Content => {
  const encoding = response.headers["content-encoding"]
  const decompress = encoding === undefined ? undefined : decompressorFor(encoding.trim().toLowerCase())
  return decompress === undefined ? readPlain(response, listener) : readCompressed(response, decompress, listener)
}

const readPlain = (response: IncomingMessage, listener: ContentListener): Content => {
  response.on("data", (bytes: Buffer) => listener.onData(bytes))
  response.on("end", () => listener.onEnd())
  response.on("error", (error) => listener.onError(error))
  response.on("close", () => {
    if (!response.complete) listener.onError(closed())
  })
  return new PlainContent(response)
}

/** A class, because most answers have one. */
class PlainContent implements Content {
  private readonly response: IncomingMessage

  constructor(response: IncomingMessage) {
    this.response = response
  }
  pause(): void {
    this.response.pause()
  }
  resume(): void {
    this.response.resume()
  }
  drain(): boolean {
    return drain(this.response)
  }
  stop(): void {}
}

type Decompress = (firstByte: number) => Transform

const readCompressed = (response: IncomingMessage, decompress: Decompress, listener: ContentListener): Content => {
  let decoder: Transform | undefined
  let isPaused = false
  let isStopped = false
  const open = (firstByte: number): Transform => {
    const opened = decompress(firstByte)
    opened.on("data", (bytes: Uint8Array) => listener.onData(bytes))
    opened.on("end", () => listener.onEnd())
    opened.on("error", (error) => listener.onError(new Error(`the answer cannot be decompressed: ${error.message}`)))
    opened.on("drain", () => void response.resume())
    if (isPaused) opened.pause()
    return opened
  }
  const stop = (): void => {
    isStopped = true
    decoder?.destroy()
  }
  response.on("data", (bytes: Buffer) => {
    if (isStopped) return
    decoder ??= open(bytes[0] ?? 0)
    if (!decoder.write(bytes)) response.pause()
  })
  response.on("end", () => decoder === undefined ? listener.onEnd() : void decoder.end())
  response.on("error", (error) => listener.onError(error))
  response.on("close", () => {
    if (!response.complete) listener.onError(closed())
  })
  return {
    pause: () => {
      isPaused = true
      decoder?.pause()
    },
    resume: () => {
      isPaused = false
      decoder?.resume()
    },
    drain: () => {
      stop()
      return drain(response)
    },
    stop
  }
}

const options = { chunkSize: 64 * 1024 }

/** Loaded when the first answer is compressed, because most are not. */
const zlib = () => process.getBuiltinModule("node:zlib")

const decompressorFor = (encoding: string): Decompress | undefined => {
  switch (encoding) {
    case "gzip":
    case "x-gzip":
      return () => zlib().createGunzip(options)
    case "br":
      return () => zlib().createBrotliDecompress(options)
    // Some servers leave the header of zlib out.
    case "deflate":
      return (firstByte) => (firstByte & 0x0f) === 8 ? zlib().createInflate(options) : zlib().createInflateRaw(options)
    // Other runtimes than Node may not have it.
    case "zstd":
      return "createZstdDecompress" in zlib() ? () => zlib().createZstdDecompress(options) : undefined
    default:
      return undefined
  }
}

const drain = (response: IncomingMessage): boolean => {
  response.resume()
  return !response.complete
}

const closed = (): Error => new Error("the connection was closed before the answer ended")
