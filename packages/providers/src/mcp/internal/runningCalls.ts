/** The calls that run on a connection, so that a request of the server is answered for the call that it belongs to. */
import type { ToolContext } from "@belay/core/defineTool"

/** A call that runs. What the agent offers is absent for calls of hooks. */
export interface RunningCall extends Partial<Pick<ToolContext, "sessionId" | "llm" | "sendSignal" | "signal">> {
  readonly tool: string
  /** How often the server has asked something for this call. */
  requests: number
}

/** How often a server may ask the user or the model during one call. */
const maxRequests = 10

/** A set of calls. A class, because each connection has one. */
export class RunningCalls {
  private readonly running = new Set<RunningCall>()

  enter(call: RunningCall): () => void {
    this.running.add(call)
    return () => void this.running.delete(call)
  }

  /**
   * Returns the call for which the server asks, or the reason why it is unknown. The protocol does not name the call,
   * so all calls that run must be of one session.
   */
  take(): RunningCall | string {
    const [first, ...others] = this.running
    if (first === undefined) return "a server may ask only while one of its tools runs"
    if (others.some(({ sessionId }) => sessionId !== first.sessionId)) {
      return "calls of several sessions run at this server, so it is unknown for which one it asks: repeat the call"
    }
    const call = others.at(-1) ?? first
    call.requests++
    return call.requests > maxRequests ? `a server may ask at most ${maxRequests} times during a call` : call
  }
}
