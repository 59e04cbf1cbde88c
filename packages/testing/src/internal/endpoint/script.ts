/** Requests and answers of the endpoint. */
import type { Json, JsonObject } from "@belay/core/Json"
import type { Answer } from "../../Brain.ts"

/** A request that the endpoint received. */
export interface EndpointRequest {
  readonly method: string
  /** Path and query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** The parsed body. `null` if there was none or it was not JSON. */
  readonly body: Json
  /** Counts from 1. */
  readonly ordinal: number
}

/** One answer of a script: an answer of the model, bytes, or no answer; or a function that returns one of these. */
export type ScriptEntry = Reply | ((request: EndpointRequest) => Reply)

/** A complete HTTP answer. An object is sent as JSON. */
export interface RawAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | JsonObject
}

/** A body in parts. A number waits that many milliseconds. */
export interface ChunkedAnswer {
  readonly chunks: ReadonlyArray<string | Uint8Array | number>
  /** Default 200. */
  readonly status?: number
  /** Default `content-type: text/event-stream`. */
  readonly headers?: Readonly<Record<string, string>>
  /**
   * `end` (default) closes the body, `cut` closes the socket, `reset` sends a TCP reset, `open` leaves the connection
   * open.
   */
  readonly end?: "end" | "cut" | "reset" | "open"
}

/** No HTTP answer: the socket is closed, reset, or left open. */
export interface NoAnswer {
  readonly connection: "cut" | "reset" | "open"
}

/** A reply of the endpoint. */
export type Reply = Answer | RawAnswer | ChunkedAnswer | NoAnswer

export const isRaw = (reply: Reply): reply is RawAnswer => "body" in reply
export const isChunked = (reply: Reply): reply is ChunkedAnswer => "chunks" in reply
export const isNone = (reply: Reply): reply is NoAnswer => "connection" in reply
