import type { AgentEvent } from "@belay/core/AgentEvent"
import type { Agent } from "@belay/core/createAgent"
export interface HostEvent { readonly id: string; readonly event: AgentEvent; readonly key?: string }
export const memoryEvents = (agent: Agent, keyOf: (sessionId: string) => Promise<string | undefined>) => {
  const logs = new Map<string, Array<HostEvent>>()
  const wakes = new Set<() => void>()
  let chain = Promise.resolve()
  agent.on((event) => {
    chain = chain.then(async () => {
      const log = logs.get(event.rootSessionId) ?? []
      logs.set(event.rootSessionId, log)
      const key = await keyOf(event.rootSessionId)
      log.push({ id: String(event.seq), event, ...(key === undefined ? {} : { key }) })
      for (const wake of [...wakes]) wake()
    })
  })
  return async function*(sessionId: string, { after, signal }: { after?: string; signal?: AbortSignal } = {}): AsyncGenerator<HostEvent> {
    let at = 0
    while (signal?.aborted !== true) {
      const log = logs.get(sessionId) ?? []
      while (at < log.length) {
        const one = log[at++]!
        if (after === undefined || Number(one.id) > Number(after)) yield one
      }
      await new Promise<void>((resolve) => {
        const wake = () => { wakes.delete(wake); resolve() }
        wakes.add(wake)
        signal?.addEventListener("abort", wake, { once: true })
      })
    }
  }
}
