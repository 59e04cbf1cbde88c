/** Reads what happens in one turn of a session. */
import type { AgentEvent } from "@belay/core/AgentEvent"
import type { Outcome } from "@belay/host/Outcome"
import type { Serve } from "../Serve.ts"

/** An event of the turn, or its outcome. The outcome comes once, last. */
export type Item =
  | { readonly type: "event"; readonly id: string; readonly event: AgentEvent }
  | { readonly type: "end"; readonly outcome: Outcome }

/** Which part of a session to read. */
export interface Part {
  readonly sessionId: string
  /** The key of the message or of the decisions whose outcome ends this part. */
  readonly key: string
  /** Set for decisions: the part begins when the turn is resumed after the event with this number. */
  readonly after?: number
}

/** How long to wait for the rest of the events after the outcome is known, in milliseconds. */
const restMs = 2_000

/** Yields the events of a part and its outcome. Ends without an outcome when the signal aborts. */
export async function* follow({ host }: Serve, part: Part, signal: AbortSignal): AsyncGenerator<Item, void, void> {
  const abort = new AbortController()
  let wake = (): void => {}
  const stop = () => {
    abort.abort()
    wake()
  }
  signal.addEventListener("abort", stop, { once: true })
  if (signal.aborted) stop()
  const events = host.events(part.sessionId, { signal: abort.signal })[Symbol.asyncIterator]()
  const outcome = Promise.resolve(host.result(part.sessionId, part.key, { signal: abort.signal }))
  let timer: ReturnType<typeof setTimeout> | undefined
  let hasBegun = false
  let isOver = false
  outcome.then(({ status }) => {
    const mayFollow = hasBegun || !withoutEvents.has(status)
    timer = setTimeout(() => {
      isOver = true
      wake()
    }, mayFollow ? restMs : 0)
  }, stopWaiting)
  function stopWaiting(): void {
    isOver = true
    wake()
  }
  const isMine = belongs(part)
  let next = events.next()
  try {
    while (!isOver && !abort.signal.aborted) {
      const first = await new Promise<IteratorResult<HostEvent> | undefined>((resolve, reject) => {
        wake = () => resolve(undefined)
        next.then(resolve, reject)
      })
      if (first === undefined || first.done === true) break
      next = events.next()
      if (!isMine(first.value)) continue
      hasBegun = true
      const { event, id } = first.value
      yield { type: "event", id, event }
      if (event.type === "turn-end" && event.parent === undefined) break
    }
    if (!abort.signal.aborted) yield { type: "end", outcome: await outcome }
  } catch (error) {
    if (!abort.signal.aborted) throw error
  } finally {
    clearTimeout(timer)
    signal.removeEventListener("abort", stop)
    stop()
    next.catch(() => {})
    // It may wait for the next event until it has seen the abort.
    Promise.resolve(events.return?.()).catch(() => {})
  }
}

type HostEvent = ReturnType<Serve["host"]["events"]> extends AsyncIterable<infer One> ? One : never

/** Returns a function that says whether an event is one of the part. Call it with each event, in order. */
const belongs = ({ after, key }: Part) => {
  let isResumed = false
  return ({ event, key: ofMessage }: HostEvent): boolean => {
    if (after === undefined) return ofMessage === key
    if (event.seq > after && event.type === "turn-start" && event.parent === undefined) isResumed = true
    return isResumed
  }
}

/** The outcomes of what never became a turn. */
const withoutEvents: ReadonlySet<Outcome["status"]> = new Set(["cancelled", "dead", "late", "delivered"])
