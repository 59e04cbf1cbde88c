/** Server-sent events. */

/** How often a comment is sent while nothing happens, so that proxies keep the connection, in milliseconds. */
const idleMs = 15_000

/** When the streams of responses have ended, or their readers have gone. */
const ends = new WeakMap<Response, Promise<void>>()

/** Succeeds when the stream of a response has ended. Returns nothing for a response without a stream. */
export const endOf = (response: Response): Promise<void> | undefined => ends.get(response)

/** One event of a stream. */
export interface Frame {
  readonly data: unknown
  readonly event?: string
  readonly id?: string
}

export interface SseOptions {
  readonly headers?: Readonly<Record<string, string>>
  /** Called when the reader has gone away before the end. */
  readonly onLeave: () => void
  /** The text of the last event, such as `[DONE]`. */
  readonly done?: string
}

/**
 * Returns a response that sends the frames. It takes the next one only when the reader wants more, so a slow reader
 * costs no memory here.
 */
export const sseResponse = (frames: AsyncGenerator<Frame>, { done, headers, onLeave }: SseOptions): Response => {
  const encoder = new TextEncoder()
  let next: Promise<IteratorResult<Frame>> | undefined
  let end = (): void => {}
  const ended = new Promise<void>((resolve) => end = resolve)
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    next ??= frames.next()
    const result = await orIdle(next)
    if (result === "idle") return controller.enqueue(encoder.encode(": idle\n\n"))
    next = undefined
    if (result.done !== true) return controller.enqueue(encoder.encode(textOf(result.value)))
    if (done !== undefined) controller.enqueue(encoder.encode(`data: ${done}\n\n`))
    controller.close()
    end()
  }
  const body = new ReadableStream<Uint8Array>({
    pull,
    cancel: () => {
      end()
      onLeave()
      // The generator may wait for the next event; it ends when that comes, or when `onLeave` has aborted the wait.
      frames.return(undefined).catch(() => {})
    }
  }, { highWaterMark: 0 })
  const response = new Response(body, {
    headers: {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache, no-transform",
      ...headers
    }
  })
  ends.set(response, ended)
  return response
}

const textOf = ({ data, event, id }: Frame): string =>
  `${id === undefined ? "" : `id: ${id}\n`}${event === undefined ? "" : `event: ${event}\n`}data: ${
    JSON.stringify(data)
  }\n\n`

const orIdle = async <A>(promise: Promise<A>): Promise<A | "idle"> => {
  let timer: ReturnType<typeof setTimeout> | undefined
  const idle = new Promise<"idle">((resolve) => timer = setTimeout(() => resolve("idle"), idleMs))
  try {
    return await Promise.race([promise, idle])
  } finally {
    clearTimeout(timer)
  }
}
