/** Events for one reader, who may be slower than the agent: the agent never waits for him. */
import type { AgentEvent } from "../../../data/AgentEvent.ts"

/** Events kept for a slow reader; beyond it the oldest are dropped, and he is told how many. */
const capacity = 65_536

export const eventQueue = () => {
  let events: Array<AgentEvent> = []
  let dropped = 0
  let over = false
  let wake: (() => void) | undefined
  const stir = () => {
    wake?.()
    wake = undefined
  }
  return {
    push: (event: AgentEvent): void => {
      if (events.length >= capacity) {
        const half = events.length >> 1
        dropped += half
        events = events.slice(half)
      }
      events.push(event)
      stir()
    },
    end: (): void => {
      over = true
      stir()
    },
    /** Yields every event, then ends; fails as the run failed. */
    iterate: async function*(result: Promise<unknown>): AsyncGenerator<AgentEvent, void, void> {
      while (true) {
        const batch = events
        events = []
        if (dropped > 0 && batch[0] !== undefined) {
          const { agent, seq, sessionId, stepNumber, time, turnNumber } = batch[0]
          yield { seq, sessionId, turnNumber, stepNumber, time, agent, type: "dropped", count: dropped }
          dropped = 0
        }
        yield* batch
        if (events.length > 0) continue
        if (over) break
        await new Promise<void>((resolve) => wake = resolve)
      }
      await result
    }
  }
}
