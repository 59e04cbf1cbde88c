/** What an endpoint receives and sends. */
import type { Json, JsonObject } from "@belay/core/Json"
import type { Answer } from "../../Brain.ts"

/** One request the endpoint received. */
export interface EndpointRequest {
  readonly method: string
  /** Path and query, as sent. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** The body, parsed; `null` when there was none or it was not JSON. */
  readonly body: Json
  /** Counts from 1. */
  readonly ordinal: number
}

/** One answer of a script: an answer of the model, bytes, or no answer; or a function that makes one. */
export type ScriptEntry = Reply | ((request: EndpointRequest) => Reply)

/** A whole HTTP answer, byte for byte; an object is sent as JSON. */
export interface RawAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | JsonObject
}

/** A body in pieces. A number waits that many milliseconds. */
export interface ChunkedAnswer {
  readonly chunks: ReadonlyArray<string | Uint8Array | number>
  /** Default 200. */
  readonly status?: number
  /** Default `content-type: text/event-stream`. */
  readonly headers?: Readonly<Record<string, string>>
  /**
   * `end` closes the body properly (default), `cut` closes the socket, `reset` sends a TCP reset, `open` sends nothing
   * more.
   */
  readonly end?: "end" | "cut" | "reset" | "open"
}

/** No HTTP answer at all: the socket is closed, reset, or left open in silence. */
export interface NoAnswer {
  readonly connection: "cut" | "reset" | "open"
}

/** One thing the endpoint sends. */
export type Reply = Answer | RawAnswer | ChunkedAnswer | NoAnswer

export const isRaw = (reply: Reply): reply is RawAnswer => "body" in reply
export const isChunked = (reply: Reply): reply is ChunkedAnswer => "chunks" in reply
export const isNone = (reply: Reply): reply is NoAnswer => "connection" in reply
