/** Buffers events for one reader. The reader may be slower than the agent, and the agent never waits for it. */
import type { AgentEvent, EventMeta } from "../../../data/AgentEvent.ts"
import { withCallerFrames } from "../config/callerFrames.ts"

/**
 * The maximum number of buffered events. When there are more, the oldest half is dropped, and a `dropped` event tells
 * the reader how many.
 */
const capacity = 65_536

/** A queue that ends when `end` is called. */
export const eventQueue = () => {
  let events: Array<AgentEvent> = []
  let dropped = 0
  let hasEnded = false
  let wakeReader: (() => void) | undefined
  const wake = () => {
    wakeReader?.()
    wakeReader = undefined
  }
  return {
    push: (event: AgentEvent): void => {
      if (events.length >= capacity) {
        const half = events.length >> 1
        dropped += half
        events = events.slice(half)
      }
      events.push(event)
      wake()
    },
    end: (): void => {
      hasEnded = true
      wake()
    },
    /** Yields every event, then ends. Rejects if the run fails. */
    iterate: async function*(result: Promise<unknown>): AsyncGenerator<AgentEvent, void, void> {
      while (true) {
        const batch = events
        events = []
        if (dropped > 0 && batch[0] !== undefined) {
          yield { ...metaOf(batch[0]), type: "dropped", count: dropped }
          dropped = 0
        }
        yield* batch
        if (events.length > 0) continue
        if (hasEnded) break
        await new Promise<void>((resume) => wakeReader = resume)
      }
      // oxlint-disable-next-line belay/no-try -- only here the stack leads to the loop that reads the events
      try {
        await result
      } catch (error) {
        // oxlint-disable-next-line belay/no-throw -- an iterator of the promise API rejects
        throw withCallerFrames(error)
      }
    }
  }
}

/** Returns where and when an event happened. */
const metaOf = (event: AgentEvent): EventMeta => {
  const { agent, agentPath, parent, rootSessionId, seq, sessionId, stepNumber, time, turnNumber } = event
  const meta = { seq, sessionId, rootSessionId, turnNumber, stepNumber, time, agent, agentPath }
  return parent === undefined ? meta : { ...meta, parent }
}
