/** Buffers the events of a stream. Its reader may be slower than the agent, and the agent never waits for it. */
import type { AgentEvent, EventMeta } from "../../../data/AgentEvent.ts"
import { withCallerFrames } from "../platform/callerFrames.ts"

/**
 * The maximum number of buffered events. When there are more, the oldest half is dropped, and a `dropped` event tells
 * the reader how many.
 */
const capacity = 65_536

type Resolve = (next: IteratorResult<AgentEvent, void> | Promise<IteratorResult<AgentEvent, void>>) => void

type Reader = (event?: AgentEvent) => void
const noReaders: ReadonlyArray<Reader> = []

/** A queue that ends when `end` is called. Each event goes to one reader. */
export const eventQueue = () => {
  let events: Array<AgentEvent> = []
  let dropped = 0
  let hasEnded = false
  /** The events that are being read. A reader that leaves leaves the rest of them to the next one. */
  let batch: ReadonlyArray<AgentEvent> = []
  let at = 0
  /** Continues the reader that waits. While there is one, nothing is buffered. */
  let waiting: Reader | undefined
  /** More readers that wait. Most streams have one reader. */
  let others: ReadonlyArray<Reader> = noReaders
  const nextReader = (): Reader | undefined => {
    const reader = waiting
    waiting = others[0]
    if (waiting !== undefined) others = others.slice(1)
    return reader
  }
  const take = (): IteratorResult<AgentEvent, void> | undefined => {
    if (at === batch.length) {
      if (events.length === 0) return undefined
      if (dropped > 0) events.unshift({ ...metaOf(events[0]!), type: "dropped", count: dropped })
      batch = events
      events = []
      at = 0
      dropped = 0
    }
    return { done: false, value: batch[at++]! }
  }
  return {
    push: (event: AgentEvent): void => {
      if (waiting !== undefined) return nextReader()!(event)
      if (events.length >= capacity) {
        const half = events.length >> 1
        dropped += half
        events = events.slice(half)
      }
      events.push(event)
    },
    end: (): void => {
      hasEnded = true
      for (let resume = nextReader(); resume !== undefined; resume = nextReader()) resume()
    },
    /** Returns an iterator over the events that nobody has read. It ends with the run, and rejects if the run fails. */
    iterate: (result: Promise<unknown>): AsyncGenerator<AgentEvent, void, void> => {
      let isDone = false
      /** How many calls of `next` wait, and the last of them. They wait in turn, as those of a generator do. */
      let count = 0
      let last: Promise<IteratorResult<AgentEvent, void>> | undefined
      const end = async (): Promise<IteratorResult<AgentEvent, void>> => {
        isDone = true
        // oxlint-disable-next-line belay/no-try -- only here the stack leads to the loop that reads the events
        try {
          await result
        } catch (error) {
          // oxlint-disable-next-line belay/no-throw -- an iterator of the promise API rejects
          throw withCallerFrames(error)
        }
        return done
      }
      let resolveNext: Resolve = () => {}
      const keepResolve = (resolve: Resolve): void => {
        resolveNext = resolve
      }
      const takeNext = () => isDone ? done : take()
      const answer = (event?: AgentEvent): void => {
        const found = event === undefined ? takeNext() : { done: false as const, value: event }
        if (found === undefined && !hasEnded) {
          if (waiting === undefined) waiting = answer
          else others = [...others, answer]
          return
        }
        count--
        resolveNext(found ?? end())
      }
      /** Only one call waits at a time, so all of them share these functions. */
      const wait = (): Promise<IteratorResult<AgentEvent, void>> => {
        const next = new Promise<IteratorResult<AgentEvent, void>>(keepResolve)
        answer()
        return next
      }
      const stop = (): void => {
        isDone = true
        if (waiting === answer) nextReader()
        else if (others.includes(answer)) others = others.filter((reader) => reader !== answer)
        else return
        answer()
      }
      const iterator: AsyncGenerator<AgentEvent, void, void> = {
        // A generator would need several promises for an event that is there already.
        next: () => {
          const found = count === 0 ? takeNext() : undefined
          if (found !== undefined) return Promise.resolve(found)
          if (count === 0 && hasEnded) return end()
          return last = count++ === 0 || last === undefined ? wait() : last.then(wait, wait)
        },
        return: () => {
          stop()
          return Promise.resolve(done)
        },
        throw: async (error) => {
          stop()
          // oxlint-disable-next-line belay/no-throw -- an iterator of the promise API rejects
          throw error
        },
        [Symbol.asyncIterator]: () => iterator,
        [Symbol.asyncDispose]: () => {
          stop()
          return Promise.resolve()
        }
      }
      return iterator
    }
  }
}

const done: IteratorResult<AgentEvent, void> = Object.freeze({ done: true, value: undefined })

/** Returns where and when an event happened. */
const metaOf = (event: AgentEvent): EventMeta => {
  const { agent, agentPath, parent, rootSessionId, seq, sessionId, stepNumber, time, turnNumber } = event
  const meta = { seq, sessionId, rootSessionId, turnNumber, stepNumber, time, agent, agentPath }
  return parent === undefined ? meta : { ...meta, parent }
}
