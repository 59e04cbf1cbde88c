/** Buffers events for one reader. The reader may be slower than the agent, and the agent never waits for it. */
import type { AgentEvent, EventMeta } from "../../../data/AgentEvent.ts"
import { withCallerFrames } from "../config/callerFrames.ts"

/**
 * The maximum number of buffered events. When there are more, the oldest half is dropped, and a `dropped` event tells
 * the reader how many.
 */
const capacity = 65_536

type Resolve = (next: IteratorResult<AgentEvent, void> | Promise<IteratorResult<AgentEvent, void>>) => void

/** A queue that ends when `end` is called. */
export const eventQueue = () => {
  let events: Array<AgentEvent> = []
  let dropped = 0
  let hasEnded = false
  /** Continues the reader that waits. Then nothing is buffered. */
  let wakeReader: ((event?: AgentEvent) => void) | undefined
  const wake = (event?: AgentEvent) => {
    const resume = wakeReader
    wakeReader = undefined
    resume?.(event)
  }
  return {
    push: (event: AgentEvent): void => {
      if (wakeReader !== undefined) return wake(event)
      if (events.length >= capacity) {
        const half = events.length >> 1
        dropped += half
        events = events.slice(half)
      }
      events.push(event)
    },
    end: (): void => {
      hasEnded = true
      wake()
    },
    /** Returns an iterator over every event. It ends with the run, and rejects if the run fails. */
    iterate: (result: Promise<unknown>): AsyncGenerator<AgentEvent, void, void> => {
      let batch: Array<AgentEvent> = []
      let at = 0
      let isDone = false
      /** How many calls of `next` wait, and the last of them. They wait in turn, as those of a generator do. */
      let count = 0
      let last: Promise<IteratorResult<AgentEvent, void>> | undefined
      const take = (): IteratorResult<AgentEvent, void> | undefined => {
        if (isDone) return done
        if (at === batch.length) {
          if (events.length === 0) return undefined
          batch = events
          events = []
          at = 0
          if (dropped > 0) batch.unshift({ ...metaOf(batch[0]!), type: "dropped", count: dropped })
          dropped = 0
        }
        return { done: false, value: batch[at++]! }
      }
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
      const answer = (event?: AgentEvent): void => {
        const found = event === undefined ? take() : { done: false as const, value: event }
        if (found === undefined && !hasEnded) {
          wakeReader = answer
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
        wake()
      }
      const iterator: AsyncGenerator<AgentEvent, void, void> = {
        // A generator would need several promises for an event that is there already.
        next: () => {
          const found = count === 0 ? take() : undefined
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
