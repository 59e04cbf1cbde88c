/** Server-sent events. */

/** After how long a comment is sent at the latest while nothing happens, for proxies, in milliseconds. */
const idleMs = 15_000

/** When the streams of responses have ended, or their readers have gone. */
const ends = new WeakMap<Response, Promise<void>>()

/** Succeeds when the stream of a response has ended. Returns nothing for a response without a stream. */
export const endOf = (response: Response): Promise<void> | undefined => ends.get(response)

/** The same response, with a stream of others, so that `endOf` knows its end. */
export const withEnd = (response: Response): Response => {
  if (response.body === null || !response.headers.get("content-type")?.startsWith("text/event-stream")) return response
  const reader = response.body.getReader()
  let end = (): void => {}
  const ended = new Promise<void>((resolve) => end = resolve)
  const body = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const { done, value } = await reader.read()
      if (!done) return controller.enqueue(value)
      controller.close()
      end()
    },
    cancel: (reason) => {
      end()
      return reader.cancel(reason)
    }
  }, { highWaterMark: 0 })
  void reader.closed.catch(end)
  const watched = new Response(body, response)
  ends.set(watched, ended)
  return watched
}

/** One event of a stream. */
export interface Frame {
  readonly data: unknown
  readonly event?: string
  readonly id?: string
}

/** The events of a stream. */
export type Frames = Pick<AsyncGenerator<Frame, void>, "next" | "return">

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
export const sseResponse = (frames: Frames, { done, headers, onLeave }: SseOptions): Response => {
  const encoder = new TextEncoder()
  const idle = idleWatch()
  let next: Promise<IteratorResult<Frame, void>> | undefined
  let end = (): void => {}
  const ended = new Promise<void>((resolve) => end = resolve)
  const send = (controller: ReadableStreamDefaultController<Uint8Array>, result: IteratorResult<Frame, void>): void => {
    next = undefined
    if (result.done !== true) return controller.enqueue(encoder.encode(textOf(result.value)))
    if (done !== undefined) controller.enqueue(encoder.encode(`data: ${done}\n\n`))
    controller.close()
    idle.stop()
    end()
  }
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> =>
    new Promise((resolve, reject) => {
      next ??= frames.next()
      const endWait = idle.begin(() => {
        controller.enqueue(encoder.encode(": idle\n\n"))
        resolve()
      })
      next.then((result) => {
        if (endWait()) resolve(send(controller, result))
      }, (error: unknown) => {
        idle.stop()
        throw error
      }).catch(reject)
    })
  const body = new ReadableStream<Uint8Array>({
    pull,
    cancel: () => {
      idle.stop()
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

/** Notices when nothing happens for long, with one timer for all waits of a stream. */
const idleWatch = () => {
  let waiting: { readonly act: () => void } | undefined
  let seen: typeof waiting
  let timer: ReturnType<typeof setTimeout> | undefined
  const look = (): void => {
    timer = undefined
    if (waiting === undefined) return
    if (waiting !== seen) {
      seen = waiting
      timer = setTimeout(look, idleMs / 2)
      return
    }
    const { act } = waiting
    waiting = undefined
    act()
  }
  return {
    /** Begins a wait. `act` runs if it is long. The returned function ends it, and returns false if `act` has run. */
    begin: (act: () => void): () => boolean => {
      const mine = { act }
      waiting = mine
      timer ??= setTimeout(look, idleMs / 2)
      return () => {
        if (waiting !== mine) return false
        waiting = undefined
        return true
      }
    },
    stop: () => {
      waiting = undefined
      clearTimeout(timer)
      timer = undefined
    }
  }
}
