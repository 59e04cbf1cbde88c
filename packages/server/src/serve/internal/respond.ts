/** Answers a request with the events of a turn: as a stream, or as one JSON value when the turn has ended. */
import type { Serve } from "../Serve.ts"
import type { Call } from "./endpoint.ts"
import { follow, type Item, type Part } from "./follow.ts"
import { type Refusal, refusalOf } from "./refusal.ts"
import { type Frame, type Frames, type SseOptions, sseResponse } from "./sse.ts"

/** What a protocol makes of the items of a turn. */
export type Mapping = (items: AsyncIterable<Item>) => AsyncGenerator<Frame>

export interface StreamOptions extends Omit<SseOptions, "onLeave"> {
  /** The last frame of a stream that fails. */
  readonly failed: (refusal: Refusal) => Frame
}

/** Returns the stream of a turn. */
export const streamTurn = (serve: Serve, part: Part, map: Mapping, options: StreamOptions): Response => {
  const left = new AbortController()
  const frames = guarded(serve, map(follow(serve, part, left.signal)), options)
  const onLeave = () => {
    left.abort()
    if (serve.cancelOnDisconnect) cancelTurn(serve, part)
  }
  return sseResponse(frames, { ...options, onLeave })
}

/** Collects what a mapping makes of a turn. */
export const wholeTurn = async <A>(
  serve: Serve,
  { request }: Call,
  part: Part,
  collect: (items: AsyncIterable<Item>) => Promise<A>
): Promise<A> => {
  const onLeave = () => {
    if (serve.cancelOnDisconnect) cancelTurn(serve, part)
  }
  request.signal.addEventListener("abort", onLeave, { once: true })
  try {
    return await collect(follow(serve, part, request.signal))
  } finally {
    request.signal.removeEventListener("abort", onLeave)
  }
}

/** Cancels the turn of a part whose reader has gone. */
export const cancelTurn = ({ host, onError }: Serve, { after, key, sessionId }: Part): void => {
  // Decisions cannot be cancelled, only the message whose turn they continue.
  const target = after === undefined ? Promise.resolve(key) : host.conversation(sessionId).then((one) => one?.key)
  target.then((found) => found === undefined ? undefined : host.cancel(sessionId, found))
    .then(undefined, (error: unknown) => onError(error, "nothing: the client has gone"))
}

/** Ends a stream that fails with the error of its protocol. No generator, because each piece would wait for it too. */
const guarded = (serve: Serve, frames: Frames, { failed }: StreamOptions): Frames => ({
  next: () => frames.next().catch((error: unknown) => ({ done: false, value: failed(refusalOf(serve, error)) })),
  return: (value) => frames.return(value)
})
